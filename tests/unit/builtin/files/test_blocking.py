"""Work in the pool: bounded, and told to stop when nobody waits any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lockgate.builtin.files.blocking import Stop, Stopped, in_pool
from lockgate.builtin.files.problem import FileProblem
from lockgate.errors import Fate, LocalError
from lockgate.policy.ceiling import whole
from lockgate.tools.context import Environment, Execution, ToolContext
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.traits import SideEffectLevel


def context(threads: ThreadPoolExecutor | None, deadline: float | None = None) -> ToolContext:
    """A context with a pool."""
    place = Environment(Path("/"), threads=threads)
    bounds = whole(SideEffectLevel.MUTATING)
    execution = Execution("e", "test", bounds, attended=True, environment=place)
    return ToolContext(execution, "c", deadline=deadline)


class Slices:
    """Work that goes on for as long as it is not told to stop."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.stopped = threading.Event()

    def __call__(self, stop: Stop) -> ToolResult:
        """Runs in a thread."""
        try:
            for _ in iter(self.started.set, True):
                stop.check()
        except Stopped:
            self.stopped.set()
            raise
        return ToolResult.of("never")


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """One thread, and one to wait with."""
    with ThreadPoolExecutor(2) as threads:
        yield threads


async def happened(event: threading.Event, pool: ThreadPoolExecutor) -> bool:
    """Wait for what happens in a thread."""
    return await asyncio.get_running_loop().run_in_executor(pool, event.wait, 5.0)


async def test_cancelled_work_is_told_to_stop(pool: ThreadPoolExecutor) -> None:
    """The cancellation passes at once, and the thread ends at its next look."""
    work = Slices()
    task = asyncio.create_task(in_pool(work, context(pool)))
    assert await happened(work.started, pool)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await happened(work.stopped, pool)


@pytest.mark.parametrize(("writes", "fate"), [(False, Fate.ANSWERED), (True, Fate.UNKNOWN)])
async def test_late_work_is_told_to_stop(
    pool: ThreadPoolExecutor, writes: bool, fate: Fate
) -> None:
    """The deadline is told as such; what may have been written by then is not known."""
    work = Slices()
    soon = asyncio.get_running_loop().time() + 0.02
    done = await in_pool(work, context(pool, soon), writes=writes)
    assert isinstance(done, Outcome)
    assert (done.result.kind, done.fate) == (ErrorKind.TIMEOUT, fate)
    assert await happened(work.stopped, pool)


async def test_a_problem_is_a_result(pool: ThreadPoolExecutor) -> None:
    """With its words, kind and reason."""

    def work(stop: Stop) -> ToolResult:
        raise FileProblem("absent", "there is none")

    done = await in_pool(work, context(pool))
    assert isinstance(done, ToolResult)
    assert (done.kind, done.reason, done.text) == (
        ErrorKind.TOOL_ERROR,
        "absent",
        "there is none",
    )


async def test_a_timeout_of_the_system_is_no_deadline(pool: ThreadPoolExecutor) -> None:
    """A network file system that gives up raises the same class."""

    def work(stop: Stop) -> ToolResult:
        raise TimeoutError("the file server is away")

    with pytest.raises(TimeoutError, match="file server"):
        await in_pool(work, context(pool))


async def test_without_a_pool_nothing_is_done() -> None:
    """Files are never worked on in the loop's own thread."""
    with pytest.raises(LocalError, match="pool"):
        await in_pool(lambda stop: ToolResult.of("x"), context(None))
