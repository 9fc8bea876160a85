"""Waits that a test ends, or that take no time, in place of `lockgate.mcp.client.pause`."""

from __future__ import annotations

import asyncio

from lockgate.testing.clock import FakeClock

PATIENCE = 5.0
"""Seconds after which a test does not wait for a wait any longer."""


class ScriptedPauses:
    """Hand it in as `pause`; what is waited for is in `seconds`, and `release` ends it.

    pauses = ScriptedPauses()
    manager = Manager(..., pause=pauses)
    ...
    await pauses.release()     # as if the next wait's time had gone by
    """

    def __init__(self, *, at_least: float = 0.0) -> None:
        """Waits of less than `at_least` seconds end at once."""
        self._at_least = at_least
        self.seconds: list[float] = []
        """What was waited for so far, waits that ended early among them."""
        self._released = 0
        self._open: list[tuple[float, asyncio.Event]] = []
        self._news = asyncio.Condition()

    async def __call__(self, seconds: float, early: asyncio.Event) -> None:
        """See `Pause`."""
        self.seconds.append(seconds)
        if early.is_set() or seconds < self._at_least:
            await asyncio.sleep(0)
            return
        over = asyncio.Event()
        entry = seconds, over
        self._open.append(entry)
        async with self._news:
            self._news.notify_all()
        ends = [asyncio.ensure_future(event.wait()) for event in (over, early)]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
            await asyncio.wait(ends)
            if entry in self._open:
                self._open.remove(entry)

    async def begins(self) -> float:
        """Wait until somebody waits; how many seconds the first one does. Raises TimeoutError."""
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: bool(self._open))
        return self._open[0][0]

    async def release(self) -> float:
        """Wait until somebody waits, and let the first of them go on; returns its seconds."""
        await self.begins()
        seconds, over = self._open.pop(0)
        over.set()
        await asyncio.sleep(0)
        return seconds

    def __repr__(self) -> str:
        return f"<ScriptedPauses {len(self._open)} open of {len(self.seconds)}>"


class SkippedPauses:
    """Waits that take no time: the clock goes on instead. Hand it in as `pause`."""

    def __init__(self, clock: FakeClock) -> None:
        """`clock` is what whoever waits looks at."""
        self.seconds: list[float] = []
        """What was waited for so far."""
        self._clock = clock

    async def __call__(self, seconds: float, early: asyncio.Event) -> None:
        """See `Pause`."""
        self.seconds.append(seconds)
        self._clock.advance(seconds)
        await asyncio.sleep(0)
