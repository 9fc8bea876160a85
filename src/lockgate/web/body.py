"""A body that may be withdrawn until the moment in which there is a connection for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lockgate.web.failure import HttpFailure, Stage, Trouble


class Body:
    """JSON in one piece of memory. For one request, and again for each redirect of it."""

    def __init__(self, data: bytes, begun: Callable[[], None]) -> None:
        """`begun` is called when it would be written; what it wakes up runs before that, and may
        still `withdraw` it."""
        self.data = data
        self._begun = begun
        self._withdrawn = False

    def withdraw(self) -> None:
        """Write nothing, if nothing was written yet."""
        self._withdrawn = True

    async def begin(self) -> None:
        """Called when it can be written. Raises `HttpFailure` if it was withdrawn."""
        self._begun()
        # One turn: whoever waits for this moment was called before, and is ahead of us in it.
        await asyncio.sleep(0)
        if self._withdrawn:
            raise HttpFailure(Stage.CONNECTING, Trouble.CLOSED, "was sent nothing after all")
