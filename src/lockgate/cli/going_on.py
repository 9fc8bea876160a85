"""What is still under way after a while, so that nobody takes silence for an end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

AFTER: Final = (1.0, 10.0, 60.0)
"""Seconds after which it is told; from then on every five minutes."""
_THEN: Final = 300.0


class GoingOn:
    """Tells of each thing that has begun and not ended, less and less often. On one loop."""

    def __init__(self, tell: Callable[[str, float], None]) -> None:
        """`tell` is given the key of a thing and for how many seconds it goes on."""
        self._tell = tell
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def begin(self, key: str) -> None:
        """It begins now, also if it had begun before."""
        self.end(key)
        loop = asyncio.get_running_loop()
        self._wait(loop, key, loop.time(), 0)

    def end(self, key: str) -> None:
        """It is over; what never began is over too."""
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    def close(self) -> None:
        """Nothing is told any more."""
        for key in tuple(self._timers):
            self.end(key)

    def _wait(self, loop: asyncio.AbstractEventLoop, key: str, began: float, told: int) -> None:
        further = told - len(AFTER) + 1
        due = AFTER[told] if further <= 0 else AFTER[-1] + further * _THEN

        def tell() -> None:
            self._wait(loop, key, began, told + 1)
            self._tell(key, due)

        self._timers[key] = loop.call_at(began + due, tell)
