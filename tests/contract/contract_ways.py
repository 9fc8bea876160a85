"""Ways to a scripted server: one over each transport, the made-up one included."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias

from lockgate.mcp.protocol.framing import LIMIT
from lockgate.mcp.transport.base import Link, Receiver, Transport
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.process.child import Grace
from lockgate.testing.http_server import HttpServer
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import ScriptedServer
from lockgate.testing.sse_server import SseServer
from lockgate.testing.transports import Reach
from socket_transport import SocketTransport

SHORT = 0.1
MakeReach: TypeAlias = Callable[[], Reach]


def over_stdio() -> Reach:
    """As a child process."""

    def reach(server: ScriptedServer, *, frame_limit: int = LIMIT) -> Transport:
        return StdioTransport(
            server.endpoint(),
            peer="scripted",
            environ=os.environ,
            grace=Grace(SHORT, SHORT),
            frame_limit=frame_limit,
        )

    return reach


def over_memory() -> Reach:
    """In this loop."""

    def reach(server: ScriptedServer, *, frame_limit: int = LIMIT) -> Transport:
        return LoopServer(server).transport(grace=SHORT, frame_limit=frame_limit)

    return reach


def over_socket() -> Reach:
    """Over a Unix socket, with the length before each frame: nobody's protocol."""

    def reach(server: ScriptedServer, *, frame_limit: int = LIMIT) -> Transport:
        return SocketTransport(server, frame_limit)

    return reach


def over_http() -> Reach:
    """Over HTTP, answered with bodies."""
    return lambda server, *, frame_limit=LIMIT: HttpToOneServer(server, frame_limit, stream=False)


def over_http_streams() -> Reach:
    """Over HTTP, answered with streams."""
    return lambda server, *, frame_limit=LIMIT: HttpToOneServer(server, frame_limit, stream=True)


def over_sse() -> Reach:
    """Over HTTP with SSE, the older transport."""
    return lambda server, *, frame_limit=LIMIT: SseToOneServer(server, frame_limit)


class HttpToOneServer:
    """Streamable HTTP to a server that is started with each link, and ended with it."""

    def __init__(self, server: ScriptedServer, limit: int, *, stream: bool) -> None:
        self._server = server
        self._limit = limit
        self._stream = stream

    def open(self, receiver: Receiver) -> AbstractAsyncContextManager[Link]:
        return self._open(receiver)

    def describe(self) -> str:
        return "http"

    @asynccontextmanager
    async def _open(self, receiver: Receiver) -> AsyncGenerator[Link, None]:
        async with HttpServer(self._server, stream=self._stream) as server:
            transport = StreamableHttpTransport(
                server.endpoint(), peer="scripted", environ={}, frame_limit=self._limit
            )
            async with transport.open(receiver) as link:
                yield link


class SseToOneServer:
    """HTTP with SSE to a server that is started with each link, and ended with it."""

    def __init__(self, server: ScriptedServer, limit: int) -> None:
        self._server = server
        self._limit = limit

    def open(self, receiver: Receiver) -> AbstractAsyncContextManager[Link]:
        return self._open(receiver)

    def describe(self) -> str:
        return "sse"

    @asynccontextmanager
    async def _open(self, receiver: Receiver) -> AsyncGenerator[Link, None]:
        async with SseServer(self._server) as server:
            transport = LegacySseTransport(
                server.stream(), peer="scripted", environ={}, frame_limit=self._limit
            )
            async with transport.open(receiver) as link:
                yield link
