"""Senders that wait for room, first come first served.

They wait before their frame is begun: one that gives up, or is cancelled, has sent nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque


class SendQueue:
    """The line in front of a link that is full."""

    __slots__ = ("_full", "_waiting")

    def __init__(self) -> None:
        self._full = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def standing(self) -> bool:
        """Whether a sender that comes now has to wait."""
        return self._full or bool(self._waiting)

    async def wait(self) -> None:
        """Wait for one's turn, or for the queue to be dissolved: see then if the link is there.

        Whoever returns writes before it awaits anything, and calls `advance`.
        """
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            self._waiting.remove(turn)
            self.advance()  # it may have been our turn in the same moment
            raise
        # In the queue until here, so that nobody who comes late gets in between.
        self._waiting.remove(turn)

    def advance(self) -> None:
        """Whose turn it is may go, if there is room."""
        if self._waiting and not self._full and not self._waiting[0].done():
            self._waiting[0].set_result(None)

    def fill(self) -> None:
        """There is no room any more."""
        self._full = True

    def drain(self) -> None:
        """There is room again."""
        self._full = False
        self.advance()

    def dissolve(self) -> None:
        """Let everyone go: there is nothing to wait for."""
        for turn in self._waiting:
            if not turn.done():
                turn.set_result(None)
