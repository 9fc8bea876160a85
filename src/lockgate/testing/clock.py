"""A clock that stands still until it is told to go on."""

from __future__ import annotations

import asyncio


class FakeClock:
    """Seconds that a test decides about: pass it where a `Callable[[], float]` clock is taken."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        """`now` is what it shows at first: a Unix time or any other count of seconds."""
        self._now = now

    def __call__(self) -> float:
        return self._now

    def advance(self, seconds: float) -> float:
        """Go on by `seconds`, zero or more; returns the new time. Clocks do not go back."""
        if not seconds >= 0:
            raise ValueError("a clock does not go back")
        self._now += seconds
        return self._now

    def __repr__(self) -> str:
        return f"<FakeClock {self._now:.3f}>"


async def passing(seconds: float) -> None:
    """Return when that many seconds of the loop have gone by: for somebody who takes time, where
    it matters that time passes. To wait for something is to wait for its event."""
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, over.set)
    await over.wait()
