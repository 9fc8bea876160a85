"""Ways to a scripted server: one over each transport, the made-up one included."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import TypeAlias

from msgspec import structs

from lockgate.errors import PeerError
from lockgate.mcp.protocol import outgoing
from lockgate.mcp.protocol.eras import LATEST_LEGACY
from lockgate.mcp.protocol.framing import LIMIT
from lockgate.mcp.protocol.jsonrpc import (
    Failure,
    Handling,
    Outgoing,
    RequestId,
    Response,
    decode,
)
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.base import Link, Receiver, Transport
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.process.child import Grace
from lockgate.testing.http_server import HttpServer
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import ScriptedServer, When
from lockgate.testing.sse_server import SseServer
from lockgate.testing.transports import Reach
from socket_transport import SocketTransport

SHORT = 0.1
ME = ClientIdentity("contract", "1")
HELLO = "hello"
"""The id of the handshake's request, which no check uses."""
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


def over_http_session() -> Reach:
    """Over HTTP in a session, as the older era has it, answered with bodies."""
    return lambda server, *, frame_limit=LIMIT: HttpInSession(server, frame_limit, stream=False)


def over_http_session_streams() -> Reach:
    """The same, answered with streams."""
    return lambda server, *, frame_limit=LIMIT: HttpInSession(server, frame_limit, stream=True)


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


class HttpInSession:
    """Streamable HTTP of the older era: the session is opened before whoever opens may speak."""

    def __init__(self, server: ScriptedServer, limit: int, *, stream: bool) -> None:
        # What it does before it reads anything it does when there is a session to do it in.
        then = When("notifications/initialized", *server.opening)
        self._server = replace(server, opening=(), rules=(*server.rules, then))
        self._limit = limit
        self._stream = stream

    def open(self, receiver: Receiver) -> AbstractAsyncContextManager[Link]:
        return self._open(receiver)

    def describe(self) -> str:
        return "http in a session"

    @asynccontextmanager
    async def _open(self, receiver: Receiver) -> AsyncGenerator[Link, None]:
        before = BeforeIt(receiver)
        async with HttpServer(self._server, stream=self._stream, sessions=True) as server:
            transport = StreamableHttpTransport(
                server.endpoint(), peer="scripted", environ={}, frame_limit=self._limit
            )
            async with transport.open(before) as link:
                await link.send(outgoing.initialize(HELLO, ME, LATEST_LEGACY))
                async with asyncio.timeout(10):
                    await before.welcome.wait()
                await link.send(outgoing.initialized(LATEST_LEGACY))
                yield InSession(link)


class BeforeIt:
    """Keeps the answer to the handshake from whoever receives."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self.welcome = asyncio.Event()

    def frame(self, data: bytes) -> None:
        message = decode(data)
        if isinstance(message, Response) and message.id == HELLO:
            self.welcome.set()
        else:
            self._receiver.frame(data)

    def oversized(self, head: bytes, size: int, limit: int) -> None:
        self._receiver.oversized(head, size, limit)

    def failed(self, request: RequestId, error: PeerError) -> None:
        self._receiver.failed(request, error)

    def refused(self, request: RequestId, answer: Failure) -> None:
        self._receiver.refused(request, answer)

    def noticed(self, error: PeerError) -> None:
        self._receiver.noticed(error)

    def closed(self, error: PeerError) -> None:
        self._receiver.closed(error)


class InSession:
    """A link on which everything that is sent belongs to the session."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def send(self, message: Outgoing) -> None:
        await self._link.send(structs.replace(message, handling=Handling.IN_SESSION))

    @property
    def mirrors(self) -> bool:
        return self._link.mirrors

    def abandon(self, request: RequestId) -> bool:
        return self._link.abandon(request)

    def last_words(self) -> str:
        return self._link.last_words()


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
