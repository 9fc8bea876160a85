"""When a call has to be over; it can stand still: waiting for a person is not counted (S3-21)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable


class Deadline:
    """The loop time by which a running call has to be over. Used on one loop.

    Whoever asks a person in the middle of a call holds it, and lets it go with the answer; as
    often as it is held it has to be let go.
    """

    __slots__ = ("_clock", "_held", "_left", "at", "moved")

    def __init__(self, at: float, clock: Callable[[], float]) -> None:
        """`clock` gives the time that `at` is in."""
        self.at = at
        """Infinity while it stands still."""
        self.moved: Callable[[], None] | None = None
        """Is called when `at` has changed."""
        self._clock = clock
        self._held = 0
        self._left = 0.0

    @property
    def over(self) -> bool:
        """Whether it has passed."""
        return self._clock() >= self.at

    def hold(self) -> None:
        """Stand still from now on."""
        self._held += 1
        if self._held == 1:
            self._left = self.at - self._clock()
            self._set(math.inf)

    def release(self) -> None:
        """Go on, with the time that was left."""
        self._held -= 1
        if self._held == 0:
            self._set(self._clock() + self._left)

    def _set(self, at: float) -> None:
        self.at = at
        if self.moved is not None:
            self.moved()


def deadline_in(seconds: float) -> Deadline:
    """One that is so many seconds from now, on the running loop."""
    clock = asyncio.get_running_loop().time
    return Deadline(clock() + seconds, clock)
