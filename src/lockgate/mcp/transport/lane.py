"""One direction of a link in memory: a bounded queue of frames."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.transport.sendqueue import SendQueue

CAPACITY = 64
"""Frames that wait before senders have to."""


class Lane:
    """Frames go in at one end, by any number of tasks, and come out in order at the other."""

    def __init__(self, peer: str, capacity: int, arrived: Callable[[], None]) -> None:
        """`peer` is for messages. `arrived` is called when `pop` has something new to say."""
        if capacity < 1:
            raise ValueError("the capacity must be at least 1 frame")
        self._peer = peer
        self._capacity = capacity
        self._arrived = arrived
        self._frames: deque[bytes] = deque()
        self._queue = SendQueue()
        self.ended: str | None = None
        """Why nothing goes in any more; None while it does."""

    async def put(self, frame: bytes) -> None:
        """Add a frame; waits for room before that. Raises `PeerError` (NOT_SENT) after the end."""
        if self._queue.standing and self.ended is None:
            await self._queue.wait()
        if self.ended is not None:
            raise closed(self._peer, f"nothing was sent: {self.ended}", Fate.NOT_SENT)
        self._frames.append(frame)
        if len(self._frames) >= self._capacity:
            self._queue.fill()
        self._arrived()
        self._queue.advance()

    def pop(self) -> bytes | None:
        """The next frame; None if there is none now."""
        if not self._frames:
            return None
        frame = self._frames.popleft()
        if len(self._frames) < self._capacity:
            self._queue.drain()
        return frame

    def end(self, why: str) -> None:
        """Take in nothing any more. The first reason counts; what is inside can still come out."""
        if self.ended is None:
            self.ended = why
            self._queue.dissolve()
            self._arrived()


def closed(peer: str, text: str, fate: Fate, phase: Phase = Phase.REQUEST) -> PeerError:
    """The error for a link that is gone."""
    return PeerError(text, peer=peer, phase=phase, fault=Fault.CLOSED, fate=fate)
