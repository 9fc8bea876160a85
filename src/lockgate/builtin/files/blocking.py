"""Work on files in the runtime's pool of threads: bounded in time, and told to stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, Protocol, TypeVar

from lockgate.builtin.files.problem import FileProblem
from lockgate.errors import Fate, LocalError
from lockgate.tools.context import ToolContext
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.tools.thread import in_thread

SECONDS: Final = 60.0
"""How long a tool works on files: beyond that a file system has stalled or a model asked for what
it did not mean."""


class Closeable(Protocol):
    """Something that is held open."""

    def close(self) -> None:
        """Let go of it."""
        ...


_Closed = TypeVar("_Closed", bound=Closeable)


class Stopped(Exception):
    """Nobody waits for the work any more."""


class Stop:
    """Set when nobody waits any more. Work looks at it between two slices."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Have the work end at its next look."""
        self._event.set()

    def check(self) -> None:
        """Raises `Stopped` if it is set."""
        if self._event.is_set():
            raise Stopped

    def wait(self, seconds: float) -> None:
        """Let `seconds` pass, or less if it is set meanwhile."""
        self._event.wait(seconds)

    @property
    def is_set(self) -> bool:
        """Whether nobody waits any more."""
        return self._event.is_set()


def bound(context: ToolContext, seconds: float = SECONDS) -> float:
    """The loop time by which work has to be done: the caller's deadline, if that is sooner."""
    latest = asyncio.get_running_loop().time() + seconds
    return latest if context.deadline is None else min(latest, context.deadline)


async def in_pool(
    work: Callable[[Stop], ToolResult | Outcome], context: ToolContext, *, writes: bool = False
) -> ToolResult | Outcome:
    """Run `work` in a thread; a `FileProblem` that it raises is its result.

    Late or cancelled, the thread is told to stop. What `writes` may by then have taken effect, and
    its fate is unknown. Raises `LocalError` without a pool.
    """
    threads = context.execution.environment.threads
    if threads is None:
        raise LocalError("this tool needs a pool of threads, and this execution has none")
    stop = Stop()
    limit = asyncio.timeout_at(bound(context))
    try:
        async with limit:
            return await in_thread(lambda: _settled(work, stop), threads)
    except TimeoutError:
        if not limit.expired():
            raise
        late = ToolResult.error(ErrorKind.TIMEOUT, "its time was up", reason="timeout")
        return Outcome(late, Fate.UNKNOWN if writes else Fate.ANSWERED)
    finally:
        stop.set()


def _settled(work: Callable[[Stop], ToolResult | Outcome], stop: Stop) -> ToolResult | Outcome:
    try:
        stop.check()
        return work(stop)
    except FileProblem as problem:
        return problem.result
    except Stopped:
        return ToolResult.error(ErrorKind.INTERRUPTED, "stopped", reason="stopped")


async def opened_in_pool(work: Callable[[], _Closed], context: ToolContext) -> _Closed:
    """What `work` opens, in a thread. Cancelled meanwhile, it is closed as soon as it is there.

    Raises what `work` raises, and `LocalError` without a pool.
    """
    threads = context.execution.environment.threads
    if threads is None:
        raise LocalError("file tools need a pool of threads, and this execution has none")
    future = threads.submit(work)
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        future.add_done_callback(_close)
        raise


def _close(future: Future[_Closed]) -> None:
    if not future.cancelled() and future.exception() is None:
        future.result().close()
