"""Frames within one event loop: for servers in this program, and for tests.

The same promises as over a pipe: frames in order, bounded queues, senders that wait before their
frame is taken, the size limit, one `closed`. Only that nothing is copied.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias

from lockgate.errors import Fate, Phase
from lockgate.mcp.protocol.framing import LIMIT, LineFramer, Oversized
from lockgate.mcp.protocol.jsonrpc import Outgoing, RequestId
from lockgate.mcp.transport.base import Link, Receiver
from lockgate.mcp.transport.lane import CAPACITY, Lane, closed
from lockgate.process.outlast import outlast

BY_US = "the connection was closed"
CANCELLED = 1.0
"""Seconds that a cancelled server may take to end; one that refuses is left behind."""


class PeerLink:
    """A server's end of a memory transport."""

    def __init__(self, peer: str, capacity: int, outward: Lane) -> None:
        self._arrived = asyncio.Event()
        self._outward = outward
        self.inward = Lane(peer, capacity, self._arrived.set)
        """Where the client puts its frames."""

    async def receive(self) -> bytes | None:
        """The next frame of the client, when there is one; None when it has hung up."""
        while (frame := self.inward.pop()) is None:
            if self.inward.ended is not None:
                return None
            self._arrived.clear()
            await self._arrived.wait()
        return frame

    async def send(self, frame: bytes) -> None:
        """Hand a frame to the client; waits for room. Raises `PeerError` when it has hung up."""
        await self._outward.put(frame)


Server: TypeAlias = Callable[[PeerLink], Awaitable[None]]
"""Serves one connection, and returns when `receive` gives None."""


class MemoryTransport:
    """A server in this event loop, started anew for each connection."""

    def __init__(
        self,
        server: Server,
        *,
        peer: str,
        capacity: int = CAPACITY,
        frame_limit: int = LIMIT,
        grace: float = 2.0,
    ) -> None:
        """`peer` names the server in messages; `capacity` frames may wait in each direction.

        `grace`: seconds in which the server may return after the client has hung up; then it is
        cancelled.
        """
        self._server = server
        self._peer = peer
        self._capacity = capacity
        self._frame_limit = frame_limit
        self._grace = grace

    def open(self, receiver: Receiver) -> AbstractAsyncContextManager[Link]:
        """Start the server. See `Transport.open`."""
        return self._open(receiver)

    def describe(self) -> str:
        """Where it runs."""
        return "in this process"

    @asynccontextmanager
    async def _open(self, receiver: Receiver) -> AsyncGenerator[Link, None]:
        loop = asyncio.get_running_loop()
        delivery = _Delivery(self._peer, self._capacity, receiver, self._frame_limit)
        peer = PeerLink(self._peer, self._capacity, delivery.lane)
        serving = loop.create_task(
            self._serve(peer, delivery), name=f"lockgate serves {self._peer}"
        )
        try:
            yield _MemoryLink(peer.inward)
        finally:
            peer.inward.end(BY_US)
            delivery.hang_up()
            await outlast(loop.create_task(self._dismiss(serving)))

    async def _serve(self, peer: PeerLink, delivery: _Delivery) -> None:
        """Run the server; its end is the end of the link."""
        why = "the server ended"
        try:
            await self._server(peer)
        except Exception as error:  # noqa: BLE001 - whatever it raises, it has hung up
            why = f"the server failed: {type(error).__name__}"
            delivery.cause = error
        finally:
            peer.inward.end(why)
            delivery.lane.end(why)

    async def _dismiss(self, serving: asyncio.Task[None]) -> None:
        done, _ = await asyncio.wait((serving,), timeout=self._grace)
        if not done:
            serving.cancel()
            await asyncio.wait((serving,), timeout=CANCELLED)


@asynccontextmanager
async def memory_pair(
    left: Receiver,
    right: Receiver,
    *,
    peer: str,
    capacity: int = CAPACITY,
    frame_limit: int = LIMIT,
) -> AsyncGenerator[tuple[Link, Link], None]:
    """Two links, each of which sends to the receiver of the other side: `left` hears the second.

    Leaving the context closes both. `peer` names the other side in messages.
    """
    to_left = _Delivery(peer, capacity, left, frame_limit)
    to_right = _Delivery(peer, capacity, right, frame_limit)
    try:
        yield _MemoryLink(to_right.lane), _MemoryLink(to_left.lane)
    finally:
        to_left.hang_up()
        to_right.hang_up()


class _MemoryLink:
    """A link that puts frames into a lane."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane

    async def send(self, message: Outgoing) -> None:
        """See `Link.send`."""
        await self._lane.put(message.payload)

    @property
    def mirrors(self) -> bool:
        """False: there is nothing beside the frames."""
        return False

    def abandon(self, request: RequestId) -> bool:
        """False: there is one stream for all requests."""
        return False

    def last_words(self) -> str:
        """Nothing: all that is said is frames."""
        return ""


class _Delivery:
    """The end of a lane that hands frames to a receiver, from the loop and never from a sender."""

    def __init__(self, peer: str, capacity: int, receiver: Receiver, limit: int) -> None:
        self.lane = Lane(peer, capacity, self._schedule)
        self.cause: Exception | None = None
        """What the server raised, for the error that `closed` gets."""
        self._peer = peer
        self._receiver = receiver
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._scheduled = False
        self._closed = False

    def hang_up(self) -> None:
        """Deliver nothing more, and say so."""
        self.lane.end(BY_US)
        self._close(BY_US, Phase.CLOSE)

    def _schedule(self) -> None:
        if not self._scheduled and not self._closed:
            self._scheduled = True
            self._loop.call_soon(self._deliver)

    def _deliver(self) -> None:
        self._scheduled = False
        try:
            while not self._closed and (frame := self.lane.pop()) is not None:
                if len(frame) <= self._limit:
                    self._receiver.frame(frame)
                    continue
                for cut in LineFramer(self._limit).feed(frame + b"\n"):
                    if isinstance(cut, Oversized):
                        self._receiver.oversized(cut.head, cut.size, cut.limit)
        except BaseException:
            self.lane.end("what it sent could not be taken in")
            self._close("what it sent could not be taken in")
            raise
        if self.lane.ended is not None:
            self._close(self.lane.ended)

    def _close(self, why: str, phase: Phase = Phase.REQUEST) -> None:
        if self._closed:
            return
        self._closed = True
        error = closed(self._peer, why, Fate.UNKNOWN, phase)
        error.__cause__ = self.cause
        self._receiver.closed(error)
