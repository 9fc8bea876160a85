"""Every transport is held against one contract, a made-up one that exists only here included."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.protocol.framing import LIMIT
from lockgate.mcp.protocol.jsonrpc import Outgoing, RequestId
from lockgate.mcp.transport.base import Link, Receiver, Transport
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.process.child import Grace
from lockgate.process.outlast import outlast
from lockgate.testing.http_server import HttpServer
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import ScriptedServer
from lockgate.testing.sse_server import SseServer
from lockgate.testing.transports import CONTRACT, Check, Reach, fails_to_open, hold

SHORT = 0.1
Opening: TypeAlias = asyncio.Task[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
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


EXCEPTIONS: Mapping[str, str] = {
    "frames_keep_their_order": "each message goes its own way: what has to follow waits for it",
    "waiting_senders_keep_their_order": "the same: they begin in their order",
    "the_server_may_speak_first": "it is asked first; what it says unasked has tests of its own",
    "whatever_is_no_frame_harms_nothing": "a body is one frame and nothing else",
}
"""What can not be promised over HTTP, and why."""
OF_STREAMS: Mapping[str, str] = {
    "the_bytes_are_not_touched": "a carriage return is the end of a line there",
}
"""The same, of streams of events alone."""


@pytest.mark.req("S3-16")
@pytest.mark.parametrize("make", [over_http, over_http_streams])
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
async def test_http_keeps_the_contract(check: Check, make: MakeReach, tmp_path: Path) -> None:
    """Each promise over HTTP, in both forms of answers, but for those that name why not."""
    if check.__name__ in EXCEPTIONS or (make is over_http_streams and check.__name__ in OF_STREAMS):
        return
    await hold(check, make(), tmp_path)


@pytest.mark.req("S3-16")
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
async def test_sse_keeps_the_contract(check: Check, tmp_path: Path) -> None:
    """Each promise over HTTP with SSE; there a server may speak first."""
    if check.__name__ in {*EXCEPTIONS, *OF_STREAMS} - {"the_server_may_speak_first"}:
        return
    await hold(check, over_sse(), tmp_path)


async def test_an_address_without_a_stream_fails_to_open() -> None:
    """Phase CONNECT, fate NOT_SENT, for HTTP with SSE as well."""
    async with SseServer(ScriptedServer()) as server:
        endpoint = server.stream()
    error = await fails_to_open(LegacySseTransport(endpoint, peer="x", environ={}))
    assert (error.phase, error.fault) == (Phase.CONNECT, Fault.NOT_CONNECTED)


def test_what_http_does_not_promise_is_in_the_contract() -> None:
    """No exception outlives the promise that it is from."""
    assert {*EXCEPTIONS, *OF_STREAMS} <= {check.__name__ for check in CONTRACT}


@pytest.mark.req("S3-16")
@pytest.mark.parametrize("make", [over_stdio, over_memory, over_socket])
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
async def test_every_transport_keeps_the_contract(
    check: Check, make: MakeReach, tmp_path: Path
) -> None:
    """Each promise of `mcp.transport.base`, over each transport; the check's docstring says it."""
    await hold(check, make(), tmp_path)


async def test_a_program_that_is_not_there_fails_to_open() -> None:
    """Phase SPAWN, fate NOT_SENT, nothing left, and no `closed` for what was never open."""
    endpoint = StdioEndpoint("no-such-program-anywhere")
    error = await fails_to_open(StdioTransport(endpoint, peer="x", environ=os.environ))
    assert (error.phase, error.fault) == (Phase.SPAWN, Fault.NOT_STARTED)


async def test_a_socket_without_a_server_fails_to_open() -> None:
    """The same for a transport that connects."""
    transport = SocketTransport(None, LIMIT)
    assert (await fails_to_open(transport)).phase is Phase.CONNECT


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


class SocketTransport:
    """The made-up one: it shows what a third party has to write."""

    def __init__(self, server: ScriptedServer | None, limit: int) -> None:
        """Without a server nobody is there to be reached."""
        self._server = server
        self._limit = limit

    def open(self, receiver: Receiver) -> AbstractAsyncContextManager[Link]:
        return self._open(receiver)

    def describe(self) -> str:
        return "a socket"

    @asynccontextmanager
    async def _open(self, receiver: Receiver) -> AsyncGenerator[Link, None]:
        if self._server is None:
            raise PeerError(
                "nobody is there",
                peer="socket",
                phase=Phase.CONNECT,
                fault=Fault.NOT_CONNECTED,
                fate=Fate.NOT_SENT,
            )
        ours, theirs = socket.socketpair()
        serving = asyncio.create_task(self._serve(self._server, theirs))
        opening = asyncio.create_task(asyncio.open_connection(sock=ours))
        try:
            # Waited for, not awaited: our cancellation must not cut it off half-way.
            await asyncio.wait((opening,))
            reader, writer = opening.result()
            link = SocketLink(writer, receiver)
            reading = asyncio.create_task(self._read(reader, link, receiver))
            try:
                yield link
            finally:
                link.end("the connection was closed", Phase.CLOSE)
                reading.cancel()
        finally:
            serving.cancel()
            await outlast(asyncio.create_task(self._finish(opening, serving)))

    async def _finish(self, opening: Opening, serving: asyncio.Task[None]) -> None:
        _, writer = await opening
        writer.transport.abort()
        await asyncio.wait((serving,), timeout=SHORT)

    async def _serve(self, server: ScriptedServer, sock: socket.socket) -> None:
        opening = asyncio.create_task(asyncio.open_connection(sock=sock))
        try:
            await asyncio.wait((opening,))
            await LoopServer(server).serve(SocketPeer(*opening.result()))
        finally:
            await asyncio.wait((opening,))
            opening.result()[1].close()

    async def _read(self, reader: asyncio.StreamReader, link: SocketLink, to: Receiver) -> None:
        try:
            while True:
                (size,) = struct.unpack(">Q", await reader.readexactly(8))
                frame = await reader.readexactly(size)
                if size > self._limit:
                    to.oversized(frame[:4096], size, self._limit)
                else:
                    to.frame(frame)
        except (asyncio.IncompleteReadError, OSError):
            link.end("the server hung up", Phase.REQUEST)


class SocketLink:
    """Writes the length, then the frame; a lock makes others wait, in order."""

    def __init__(self, writer: asyncio.StreamWriter, receiver: Receiver) -> None:
        self._writer = writer
        self._receiver = receiver
        self._turn = asyncio.Lock()
        self._ended: str | None = None

    async def send(self, message: Outgoing) -> None:
        async with self._turn:
            if self._ended is None:
                try:
                    await self._writer.drain()
                except OSError:
                    self.end("the server hung up", Phase.REQUEST)
            if self._ended is not None:
                raise self._error(f"nothing was sent: {self._ended}", Fate.NOT_SENT)
            self._writer.write(struct.pack(">Q", len(message.payload)) + message.payload)

    @property
    def mirrors(self) -> bool:
        return False

    def abandon(self, request: RequestId) -> bool:
        return False

    def last_words(self) -> str:
        return ""

    def end(self, why: str, phase: Phase) -> None:
        if self._ended is None:
            self._ended = why
            self._writer.transport.abort()
            self._receiver.closed(self._error(why, Fate.UNKNOWN, phase))

    def _error(self, text: str, fate: Fate, phase: Phase = Phase.REQUEST) -> PeerError:
        return PeerError(text, peer="socket", phase=phase, fault=Fault.CLOSED, fate=fate)


class SocketPeer:
    """The server's end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self) -> bytes | None:
        try:
            (size,) = struct.unpack(">Q", await self._reader.readexactly(8))
            return await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, OSError):
            return None

    async def send(self, frame: bytes) -> None:
        self._writer.write(struct.pack(">Q", len(frame)) + frame)
        await self._writer.drain()
