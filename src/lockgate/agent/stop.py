"""What may end a turn from outside the loop: the person's interrupt and the turn's wall clock."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Literal, TypeAlias

from lockgate.tools.context import InterruptToken

Cause: TypeAlias = Literal["interrupted", "seconds"]


class Stop:
    """One token for everything under way in a turn, and the cause for which it was set.

    with Stop(outer, seconds=60) as stop:
        ...                     # calls get stop.token
    if stop.cause is not None: ...
    """

    def __init__(self, outer: InterruptToken | None, seconds: float) -> None:
        """`outer` is set by whoever started the turn; `seconds` is counted from `with`."""
        self.token = InterruptToken()
        self.cause: Cause | None = None
        self._outer = outer
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Stop:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._seconds, self._stop, "seconds")
        if self._outer is not None:
            self._outer.listen(self._interrupted)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._outer is not None:
            self._outer.forget(self._interrupted)

    def _interrupted(self) -> None:
        self._stop("interrupted")

    def _stop(self, cause: Cause) -> None:
        if self.cause is None:
            self.cause = cause
            self.token.interrupt()
