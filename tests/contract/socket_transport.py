"""A transport that exists only in these tests: over a Unix socket, the length before each frame."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.protocol.jsonrpc import Outgoing, RequestId
from lockgate.mcp.transport.base import Link, Receiver
from lockgate.process.outlast import outlast
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import ScriptedServer

SHORT = 0.1
Opening: TypeAlias = asyncio.Task[tuple[asyncio.StreamReader, asyncio.StreamWriter]]


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
