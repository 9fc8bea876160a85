"""Arguments that a server wants mirrored into headers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.making import Unwritable
from lockgate.mcp.client.mirroring import headers_of
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.base import Transport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.http_server import HttpServer
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer, tool

GOOD = tool(
    "good",
    inputSchema={
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "size": {"type": "integer", "x-mcp-header": "Size"},
        },
    },
)
BROKEN = tool(
    "broken",
    inputSchema={"type": "object", "properties": {"a": {"type": "array", "x-mcp-header": "A"}}},
)
SCRIPT = ScriptedServer(tools=(GOOD, BROKEN))


@asynccontextmanager
async def connected(transport: Transport) -> AsyncGenerator[ServerSession, None]:
    """A session over it."""
    session = await connect(transport, peer="x", client=ClientIdentity("t", "1"))
    try:
        yield session
    finally:
        await session.close()


def over_http(server: HttpServer) -> StreamableHttpTransport:
    """How a client reaches it."""
    return StreamableHttpTransport(server.endpoint(), peer="x", environ={})


async def test_over_http_arguments_go_into_headers_and_broken_tools_are_left_out() -> None:
    """By name and with the reason; what is absent has no header, what has no form is not sent."""
    async with HttpServer(SCRIPT) as server, connected(over_http(server)) as session:
        client = ToolClient(session)
        listed = await client.list()
        assert [each.name for each in listed.tools] == ["good"]
        (out,) = listed.left_out
        assert out.tool == "broken"
        assert "x-mcp-header" in out.reason
        headers = headers_of(session, listed.tools[0])
        await client.call("good", {"region": "서울", "size": 3}, headers=headers)
        await client.call("good", {"region": None}, headers=headers)
        first, second = server.told("tools/call")
        assert first.headers["mcp-param-region"] == "=?base64?7ISc7Jq4?="
        assert first.headers["mcp-param-size"] == "3"
        assert not [name for name in second.headers if name.startswith("mcp-param")]
        with pytest.raises(Unwritable, match="size"):
            await client.call("good", {"size": 1.5}, headers=headers)
        assert len(server.told("tools/call")) == 2


@pytest.mark.parametrize("legacy", [True, False])
async def test_elsewhere_nobody_looks_at_the_annotations(legacy: bool) -> None:
    """Without headers, or in a revision that does not know them, every tool is usable as it is."""
    if legacy:
        script = ScriptedServer(tools=(GOOD, BROKEN), revisions=LEGACY)
        async with HttpServer(script) as server, connected(over_http(server)) as session:
            await _plain(session)
        return
    async with connected(LoopServer(SCRIPT).transport()) as session:
        await _plain(session)


async def _plain(session: ServerSession) -> None:
    listed = await ToolClient(session).list()
    assert [each.name for each in listed.tools] == ["good", "broken"]
    assert headers_of(session, listed.tools[1]).sources == ()
