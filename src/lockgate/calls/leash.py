"""A leash on the running task: a deadline and the turn's interrupt, without a task of its own."""

from __future__ import annotations

import asyncio
import enum
import math
from types import TracebackType

from lockgate.errors import LocalError
from lockgate.tools.context import InterruptToken
from lockgate.tools.deadline import Deadline


class Pulled(enum.Enum):
    """What ended the body of a `Leash` before its time."""

    DEADLINE = "deadline"
    INTERRUPT = "interrupt"


class Leash:
    """Ends the body by cancelling this task, and takes that cancellation back on the way out.

    It does what `asyncio.timeout` does, for two causes at once, and tells by `pulled` which one
    it was instead of raising. A cancellation that came from elsewhere passes through, also when
    both happen together.

        with Leash(deadline=loop.time() + 5, interrupt=token) as leash:
            outcome = await work()
        if leash.pulled is not None and outcome is None: ...
    """

    __slots__ = (
        "_before",
        "_deadline",
        "_grace",
        "_interrupt",
        "_limit",
        "_loop",
        "_soon",
        "_task",
        "_timer",
        "pulled",
    )

    def __init__(
        self,
        *,
        deadline: float | None = None,
        interrupt: InterruptToken | None = None,
        limit: Deadline | None = None,
        grace: float = 0.0,
    ) -> None:
        """`deadline` is in loop time; None is no bound. `limit` is one that can stand still, and
        counts `grace` seconds later."""
        self._deadline = deadline
        self._limit = limit
        self._grace = grace
        self._interrupt = interrupt
        self._timer: asyncio.TimerHandle | None = None
        self._soon: asyncio.Handle | None = None
        self.pulled: Pulled | None = None

    def __enter__(self) -> Leash:
        task = asyncio.current_task()
        if task is None:
            raise LocalError("a call is made inside a running task")
        self._task = task
        self._loop = task.get_loop()
        self._before = task.cancelling()
        if self._deadline is not None:
            self._timer = self._loop.call_at(self._deadline, self._pull, Pulled.DEADLINE)
        if self._limit is not None:
            self._limit.moved = self._moved
            self._moved()
        if self._interrupt is not None:
            self._interrupt.listen(self._interrupted)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if self._limit is not None:
            self._limit.moved = None
        if self._timer is not None:
            self._timer.cancel()
        if self._interrupt is not None:
            self._interrupt.forget(self._interrupted)
        if self._soon is not None:
            self._soon.cancel()
        if self.pulled is None:
            return False
        return self._task.uncancel() <= self._before and kind is asyncio.CancelledError

    def _moved(self) -> None:
        """The limit stands still, or goes on."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._limit is not None and self._limit.at < math.inf:
            due = self._limit.at + self._grace
            self._timer = self._loop.call_at(due, self._pull, Pulled.DEADLINE)

    def _interrupted(self) -> None:
        # The token may be set by the body itself. A cancellation requested while the task runs
        # is delivered at its next await, which may lie outside the leash; from a callback of the
        # loop it always finds the task suspended inside.
        self._soon = self._loop.call_soon(self._pull, Pulled.INTERRUPT)

    def _pull(self, cause: Pulled) -> None:
        if self.pulled is None:
            self.pulled = cause
            self._task.cancel()


def cancelled_from_outside() -> bool:
    """Whether this task itself is being cancelled, which passes through.

    A `CancelledError` without that is a stray: something that was awaited has been taken away.
    """
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
