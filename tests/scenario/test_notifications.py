"""What servers say unasked, from every transport to everybody who listens."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.inbound import Listener
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.fleet import Fleet
from lockgate.testing.http_server import HttpServer
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When
from lockgate.testing.sse_server import SseServer
from lockgate.testing.steps import Answer, Send

NOTES: tuple[dict[str, Any], ...] = (
    {
        "method": "notifications/progress",
        "params": {"progressToken": "none of ours", "progress": 1},
    },
    {"method": "notifications/message", "params": {"level": "info", "data": {"a": 1}}},
    {"method": "notifications/tools/list_changed"},
    {"method": "notifications/resources/updated", "params": {"uri": "file:///a"}},
    {"method": "notifications/cancelled", "params": {"requestId": "none of theirs"}},
    {"method": "notifications/made/up", "params": {"deep": [[["x"]]]}},
)
SPEAKING = (
    When(
        "tools/call",
        *(Send({"jsonrpc": "2.0", **note}) for note in NOTES),
        Answer({"content": [{"type": "text", "text": "said"}]}),
    ),
)


class Ear:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, Any]] = []

    def __call__(self, server: str, method: str, params: Any) -> None:
        self.heard.append((server, method, params))

    def of(self, server: str) -> list[tuple[str, Any]]:
        """What that server said, in order."""
        return [(method, params) for name, method, params in self.heard if name == server]


def broken(server: str, method: str, params: Any) -> None:
    """A listener that fails on everything."""
    raise ValueError("no")


@pytest.mark.req("S3-14")
async def test_every_listener_hears_every_server(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Over stdio and HTTP, in both eras, and SSE: server, method and params, in order; one that
    fails takes nothing from the others, nor from the call."""
    one, other = Ear(), Ear()
    listeners: list[Listener] = [one, broken, other]
    names = ["stdio-old", "stdio-new", "http-old", "http-new", "sse-old"]
    async with AsyncExitStack() as stack:
        fleet = await stack.enter_async_context(Fleet(tmp_path))
        for name in names:
            revisions = LEGACY if name.endswith("old") else MODERN
            script = ScriptedServer(rules=SPEAKING, revisions=revisions)
            if name.startswith("stdio"):
                fleet.add(name, script)
            elif name.startswith("http"):
                server = await stack.enter_async_context(HttpServer(script, stream=True))
                fleet.add(name, server.endpoint())
            else:
                server = await stack.enter_async_context(SseServer(script))
                fleet.add(name, server.stream())
        report = await fleet.start(listeners=listeners)
        assert report.failed == ()
        for name in names:
            assert (await fleet.call(f"mcp__{name}__echo")).text == "said"
        assert fleet.manager is not None
        await fleet.manager.close()  # before its servers end
    said = [(note["method"], note.get("params")) for note in NOTES]
    for name in names:
        assert one.of(name) == other.of(name) == said
    assert caplog.text.count("a listener failed on") == len(names) * len(NOTES)


@pytest.mark.req("S3-14")
async def test_listeners_hear_what_is_said_in_memory_without_being_asked() -> None:
    """Between two calls, too."""
    ear = Ear()
    server = LoopServer(ScriptedServer())
    client = ClientIdentity("test", "1")
    session = await connect(server.transport(), peer="s", client=client, listeners=[broken, ear])
    for note in NOTES:
        await server.say({"jsonrpc": "2.0", **note})
    await session.connection.request("ping")
    await session.close()
    assert ear.of("s") == [(note["method"], note.get("params")) for note in NOTES]


@pytest.mark.req("S3-14")
async def test_listeners_hear_the_stream_that_a_legacy_http_server_speaks_on() -> None:
    """2025-11-25: what is nobody's answer comes over GET."""
    ear = Ear()
    client = ClientIdentity("test", "1")
    script = ScriptedServer(revisions=LEGACY)
    async with HttpServer(script, sessions=True, listening=True) as server:
        transport = StreamableHttpTransport(server.endpoint(), peer="s", environ={})
        session = await connect(transport, peer="s", client=client, listeners=[ear])
        await server.wait_for(lambda: server.listeners == 1)
        for note in NOTES:
            await server.say({"jsonrpc": "2.0", **note})
        async with asyncio.timeout(10):
            while len(ear.heard) < len(NOTES):  # what is asked meanwhile overtakes it
                await session.connection.request("ping")
        await session.close()
    assert ear.of("s") == [(note["method"], note.get("params")) for note in NOTES]
