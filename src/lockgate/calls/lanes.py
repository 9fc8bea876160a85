"""Lanes: what may not overlap waits its turn, first come, first served."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Lanes:
    """Named queues of one runtime: a SEQUENTIAL tool holds its lane while it runs.

    A lane exists only while somebody holds it, so names may come and go without bound. It is
    handed on directly: whoever asks while others wait comes after them. All on one loop.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """By the name of a lane that is held: who waits for it, in order."""

    def take(self, name: str) -> bool:
        """Hold the lane if nobody does; whether it is held now. Never waits."""
        if name in self._waiting:
            return False
        self._waiting[name] = deque()
        return True

    async def acquire(self, name: str) -> None:
        """Wait for the lane and hold it. Cancelled, it is not held, and nobody is held up.

        The wait is as long as those before need; who must not wait for ever bounds it outside.
        """
        if self.take(name):
            return
        waiting = self._waiting[name]
        turn = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn in waiting:
                waiting.remove(turn)
            elif not turn.cancelled():
                self.release(name)  # it had just been handed over
            raise

    def release(self, name: str) -> None:
        """Hand the lane to who waits longest; with nobody waiting it is gone."""
        waiting = self._waiting[name]
        while waiting:
            turn = waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        del self._waiting[name]

    @asynccontextmanager
    async def hold(self, name: str) -> AsyncGenerator[None]:
        """`acquire` and `release` around a block."""
        await self.acquire(name)
        try:
            yield
        finally:
            self.release(name)

    def __len__(self) -> int:
        """How many lanes are held."""
        return len(self._waiting)
