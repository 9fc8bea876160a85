"""What a child started that has left its group: looked for by its mark, and ended."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from typing import Final

from lockgate.process.mark import Mark

ROUNDS: Final = 8
"""How often all processes are looked through: one round finds nothing as a rule, and more than two
are needed only by what goes on starting others while it is being ended."""
LOOKING: Final = 1.0
"""Seconds that one round may take. Usually about 12 µs for each process of the machine."""
KILLED: Final = 5.0
"""Seconds that a killed process may take to be gone; longer only if the kernel itself is stuck."""
POLL: Final = 0.01
"""Seconds between two looks at whether those that were found are gone."""


class Strays:
    """The descendants of one child that are in no group of ours."""

    __slots__ = ("_mark", "_patience")

    def __init__(self, mark: Mark, patience: float) -> None:
        """`patience` is how many seconds they have after SIGTERM."""
        self._mark = mark
        self._patience = patience

    async def end(self) -> bool:
        """End them: SIGTERM, then SIGKILL. Whether there were any. Bounded."""
        for turn in range(ROUNDS):
            found = await self._found()
            if not found:
                return turn > 0
            if turn == 0:
                found = await self._ended(found, signal.SIGTERM, self._patience)
            # What is started while others are being ended has had its time.
            await self._ended(found, signal.SIGKILL, KILLED)
        return True

    def kill(self) -> None:
        """End them at once, without another turn of the loop."""
        found: list[int] = []
        for _ in self._mark.look(found):
            pass
        for pid in found:
            self._mark.signal(pid, signal.SIGKILL)

    async def _found(self) -> list[int]:
        """All of them, every process looked at, in slices."""
        found: list[int] = []
        loop = asyncio.get_running_loop()
        latest = loop.time() + LOOKING
        for _ in self._mark.look(found):
            if loop.time() > latest:
                break
            await asyncio.sleep(0)
        return found

    async def _ended(
        self, found: Sequence[int], number: signal.Signals, seconds: float
    ) -> list[int]:
        """Signal them and wait; returns those that are still there."""
        mark, loop = self._mark, asyncio.get_running_loop()
        for pid in found:
            mark.signal(pid, number)
        pause, latest = POLL / 10, loop.time() + seconds
        while (left := [pid for pid in found if mark.carried_by(pid)]) and loop.time() < latest:
            await asyncio.sleep(pause)
            pause = min(2 * pause, 5 * POLL)
        return left
