"""Every revision of the protocol is spoken over every transport, made-up ones included.

Neither a transport nor what is above the client knows one by its name: two that nobody has
published are used here as all others are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from contract_ways import (
    MakeReach,
    over_http,
    over_http_streams,
    over_memory,
    over_socket,
    over_sse,
    over_stdio,
)
from lockgate.content import Text
from lockgate.errors import Fault, PeerError, Phase
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.eras import REVISIONS, Era, Revision
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.base import Transport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.http_server import HttpServer
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Send

NEXT = Revision("2031-05-05", Era.MODERN, version_header=True)
BETWEEN = Revision("2026-01-01", Era.LEGACY, version_header=True)
"""Revisions that exist only here: one that comes after all, and one of the older era."""
SPOKEN = (NEXT, *REVISIONS[:1], BETWEEN, *REVISIONS[1:])

WAYS = (over_stdio, over_memory, over_socket, over_http, over_http_streams, over_sse)
SPEAKS = [
    pytest.param(make, revision, id=f"{make.__name__[5:]}-{revision.name}")
    for make in WAYS
    for revision in SPOKEN
    if make is not over_sse or revision.era is Era.LEGACY  # that transport had a handshake
]
TOOLS = tuple(tool(f"t{n}") for n in range(5))
SAID = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "busy"}}
RULES = (
    When("tools/call", Send(SAID), Answer(), tool="t1"),
    When("tools/call", Answer(result={"content": [], "isError": True}), tool="t2"),
    When("tools/call", tool="t3"),
)


@asynccontextmanager
async def speaking(
    transport: Transport, revisions: tuple[Revision, ...] = SPOKEN, **more: Any
) -> AsyncGenerator[ServerSession, None]:
    """A session, and nothing left of it."""
    before = Belongings.now()
    me = ClientIdentity("test", "1")
    session = await connect(transport, peer="s", client=me, revisions=revisions, **more)
    try:
        yield session
    finally:
        await session.close()
    assert await left_since(before) == ()


async def text(tools: ToolClient, name: str, **arguments: Any) -> str:
    """The text of a call."""
    content = (await tools.call(name, arguments)).content
    return "".join(block.text for block in content if isinstance(block, Text))


@pytest.mark.req("S3-03")
@pytest.mark.req("B-08")
@pytest.mark.parametrize(("make", "revision"), SPEAKS)
async def test_a_revision_is_spoken_over_a_transport(
    make: MakeReach, revision: Revision, tmp_path: Path
) -> None:
    """A server that knows that one alone: agreed with, listed by pages, called by many at once,
    heard, told that a call is not waited for any more, and left."""
    ledger = ServerLedger(tmp_path / "ledger")
    script = ScriptedServer(
        TOOLS, RULES, (revision.name,), page_size=2, ledger=ledger.path, instructions="be kind"
    )
    heard: list[str] = []
    told = asyncio.Event()

    def listener(server: str, method: str, params: object) -> None:
        heard.append(f"{server} {method}")
        told.set()

    async with speaking(make()(script), listeners=[listener]) as session:
        assert session.revision is revision
        assert session.profile.instructions == "be kind"
        tools = ToolClient(session)
        listed = await tools.list()
        assert [each.name for each in listed.tools] == [each["name"] for each in TOOLS]
        answers = await asyncio.gather(*(text(tools, "t0", n=n) for n in range(20)))
        assert answers == [f'{{"n": {n}}}' for n in range(20)]
        assert (await tools.call("t2", {})).is_error
        waiting = asyncio.create_task(tools.call("t3", {}))
        await ledger.wait_for("call", count=22)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        with pytest.raises(PeerError) as late:
            await tools.call("t3", {}, timeout=0.05)
        assert late.value.fault is Fault.TIMEOUT
        assert await text(tools, "t1", after="all") == '{"after": "all"}'
        if make is not over_http:  # a body is the answer and nothing else
            async with asyncio.timeout(10):
                await told.wait()
            assert heard == ["s notifications/message"]


@pytest.mark.parametrize("revision", [NEXT, BETWEEN], ids=lambda r: r.name)
async def test_a_new_revision_is_named_where_its_era_says_so(revision: Revision) -> None:
    """In headers over HTTP: the transport sends what comes with the frame, and knows no name."""
    script = ScriptedServer(TOOLS, revisions=(revision.name,))
    async with HttpServer(script, sessions=not revision.modern) as server:
        transport = StreamableHttpTransport(server.endpoint(), peer="s", environ={})
        async with speaking(transport) as session:
            assert await text(ToolClient(session), "t0", a=1) == '{"a": 1}'
        (call,) = server.told("tools/call")
    assert call.headers["mcp-protocol-version"] == revision.name
    assert ("mcp-method" in call.headers) is revision.modern
    assert ("mcp-session-id" in call.headers) is not revision.modern


@pytest.mark.parametrize("revision", [NEXT, BETWEEN], ids=lambda r: r.name)
async def test_what_is_not_spoken_is_refused_by_name(revision: Revision) -> None:
    """The same server, by a client that was not told of it: what it speaks, and what we do."""
    transport = over_memory()(ScriptedServer(revisions=(revision.name,)))
    with pytest.raises(PeerError) as refused:
        async with speaking(transport, REVISIONS):
            raise AssertionError("agreed")
    assert refused.value.phase is Phase.NEGOTIATE
    assert refused.value.fault is Fault.UNSUPPORTED
    assert revision.name in str(refused.value)


@pytest.mark.parametrize("newest", [NEXT, BETWEEN], ids=lambda r: r.name)
async def test_the_newest_that_both_speak_is_agreed_upon(newest: Revision) -> None:
    """Whatever it is offered first, a server's own list is followed, in our order."""
    names = [each.name for each in SPOKEN if each.era is newest.era]
    transport = over_memory()(ScriptedServer(revisions=tuple(reversed(names))))
    async with speaking(transport) as session:
        assert session.revision is newest


@pytest.mark.parametrize("era", Era)
async def test_a_choice_has_both_eras(era: Era) -> None:
    """A client that could speak to one era of servers alone says so before it opens anything."""
    only = tuple(revision for revision in SPOKEN if revision.era is era)
    with pytest.raises(ValueError, match="none of the"):
        async with speaking(over_memory()(ScriptedServer()), only):
            raise AssertionError("agreed")
