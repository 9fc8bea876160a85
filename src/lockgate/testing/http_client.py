"""A client of a scripted HTTP server, ready to be asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lockgate.content import Text
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.eras import Era
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import LEGACY, ScriptedServer

PEER = "there"
"""What the server is called in messages."""


def with_sessions(**more: Any) -> HttpServer:
    """A server of the legacy era that opens sessions; `more` are options of `HttpServer`."""
    return HttpServer(ScriptedServer(revisions=LEGACY), sessions=True, **more)


@asynccontextmanager
async def connected(
    server: HttpServer, era: Era | None = Era.LEGACY, *, timeout: float = 10, **more: Any
) -> AsyncGenerator[ServerSession, None]:
    """A session; `era` is what is remembered of the server, `more` are fields of its endpoint."""
    transport = StreamableHttpTransport(server.endpoint(**more), peer=PEER, environ={}, pause=0.01)
    session = await connect(
        transport,
        peer=PEER,
        client=ClientIdentity("test", "1"),
        request_timeout=timeout,
        eras={} if era is None else {PEER: era},
    )
    try:
        yield session
    finally:
        await session.close()


async def echo(session: ServerSession, **arguments: Any) -> str:
    """The text of a call of `echo`: its arguments, unless the script says otherwise."""
    result = await ToolClient(session).call("echo", arguments)
    return "".join(block.text for block in result.content if isinstance(block, Text))
