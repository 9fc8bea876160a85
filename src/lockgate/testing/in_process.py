"""A scripted server in the caller's event loop, over the memory transport or any stream of frames.

What is only about bytes and processes does nothing here: pieces, line ends, standard error,
grandchildren, signals. Bytes that are not a frame are handed over line by line, as on a pipe.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol

from lockgate.errors import PeerError
from lockgate.mcp.transport.memory import MemoryTransport
from lockgate.testing.script import ScriptedServer
from lockgate.testing.scripted_server import Conversation

if TYPE_CHECKING:  # they exist for the type checker alone, see there
    from lockgate.testing.scripted_server import Effect, Strand


class Peer(Protocol):
    """A server's end of a connection, whatever carries it."""

    async def receive(self) -> bytes | None:
        """The next frame of the client; None when it has hung up."""
        ...

    async def send(self, frame: bytes) -> None:
        """Hand a frame to the client; `PeerError` or `ConnectionError` when it has hung up."""
        ...


def transport(
    server: ScriptedServer, *, peer: str | None = None, **options: Any
) -> MemoryTransport:
    """The server over memory; `options` are those of `MemoryTransport`."""
    return MemoryTransport(serving(server), peer=peer or server.name, **options)


def serving(server: ScriptedServer) -> Callable[[Peer], Awaitable[None]]:
    """What serves one connection by the script, anew for each."""

    async def serve(peer: Peer) -> None:
        conversation = Conversation(server.script())
        try:
            await _Service(conversation, peer).run()
        finally:
            conversation.ledger.close()

    return serve


class _HungUp(Exception):
    """The script ends the connection."""


class _Service:
    """Does the effects of a conversation as tasks."""

    def __init__(self, conversation: Conversation, peer: Peer) -> None:
        self._talk = conversation
        self._peer = peer
        self._replied = asyncio.Condition()
        self._writing = asyncio.Lock()
        self._unfinished = b""
        self._deaf = False
        self._rate: float = conversation.script["read_rate"]

    async def run(self) -> None:
        """Until the client hangs up, or the script does."""
        try:
            async with asyncio.TaskGroup() as strands:
                await self._advance(self._talk.opening(), strands)
                while (frame := await self._receive()) is not None:
                    strand = self._talk.received(frame)
                    if strand is not None:
                        await self._advance(strand, strands)
                    async with self._replied:
                        self._replied.notify_all()
                await self._advance(self._talk.ending(), strands)
                await asyncio.Event().wait()
        except* _HungUp:
            pass

    async def _receive(self) -> bytes | None:
        if self._deaf:
            await asyncio.Event().wait()
        frame = await self._peer.receive()
        if self._rate and frame is not None:
            await asyncio.sleep(len(frame) / self._rate)
        return frame

    async def _advance(self, strand: Strand, strands: asyncio.TaskGroup) -> None:
        """Go on with a strand; where it has to wait, it goes on beside what is read next."""
        for effect in strand:
            if effect[0] in ("sleep", "reply"):
                strands.create_task(self._resume(effect, strand, strands))
                return
            await self._perform(*effect)

    async def _resume(self, effect: Effect, strand: Strand, strands: asyncio.TaskGroup) -> None:
        kind, value = effect
        if kind == "sleep":
            await asyncio.sleep(value)
        else:
            async with self._replied:
                await self._replied.wait_for(lambda: value in self._talk.replies)
        await self._advance(strand, strands)

    async def _perform(self, kind: str, *values: Any) -> None:
        if kind == "write":
            await self._write(values[0])
        elif kind in ("exit", "kill") or (kind, *values) == ("close", 1):
            raise _HungUp
        elif kind in ("deaf", "close"):
            self._deaf = True

    async def _write(self, data: bytes) -> None:
        async with self._writing:
            *lines, self._unfinished = (self._unfinished + data).split(b"\n")
            for line in lines:
                frame = line.removesuffix(b"\r")
                if not frame.strip():
                    continue
                try:
                    await self._peer.send(frame)
                except (PeerError, ConnectionError):
                    raise _HungUp from None
