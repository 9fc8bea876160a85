"""The pool of threads for tools that block."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import CancelledError, Future
from typing import Any

import pytest

from lockgate.agent.threads import WorkerThreads
from lockgate.errors import LocalError


async def _value(future: Future[Any]) -> Any:
    async with asyncio.timeout(10):
        return await asyncio.wrap_future(future)


async def test_work_runs_in_a_thread_and_brings_its_value_back() -> None:
    """Arguments go in, the value comes out, and it was not this thread."""
    threads = WorkerThreads()
    here = threading.get_ident()

    def pair(a: int, *, b: int) -> tuple[int, int]:
        return a, b

    assert await _value(threads.submit(pair, 1, b=2)) == (1, 2)
    assert await _value(threads.submit(threading.get_ident)) != here
    await threads.close()


async def test_what_work_raises_travels() -> None:
    """Also what is no ordinary exception; the thread lives on."""
    threads = WorkerThreads(1)

    def fail() -> object:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        await _value(threads.submit(fail))
    assert await _value(threads.submit(lambda: "alive")) == "alive"
    await threads.close()


async def test_the_pool_is_bounded_and_reuses_its_threads() -> None:
    """Work beyond the bound waits; an idle thread is used again before a new one is made."""
    threads = WorkerThreads(2)
    gate = threading.Event()
    running = threading.Semaphore(0)

    def work() -> int:
        running.release()
        gate.wait(10)
        return threading.get_ident()

    futures = [threads.submit(work) for _ in range(5)]
    for _ in range(2):
        await asyncio.to_thread(running.acquire, timeout=10)
    assert not running.acquire(blocking=False)
    gate.set()
    assert len({await _value(future) for future in futures}) == 2
    await threads.close()


async def test_nothing_is_started_before_it_is_needed() -> None:
    """A runtime without such tools has no thread."""
    before = threading.active_count()
    threads = WorkerThreads()
    await threads.close()
    assert threading.active_count() == before


async def test_closing_ends_the_threads_and_cancels_what_waits() -> None:
    """What runs is waited for, what waits never begins, and new work is refused."""
    before = threading.active_count()
    threads = WorkerThreads(1)
    started, gate = threading.Event(), threading.Event()

    def work() -> str:
        started.set()
        gate.wait(10)
        return "done"

    running, waiting = threads.submit(work), threads.submit(work)
    await asyncio.to_thread(started.wait, 10)
    closing = asyncio.create_task(threads.close())
    await asyncio.sleep(0)
    gate.set()
    await closing
    assert running.result() == "done"
    with pytest.raises(CancelledError):
        waiting.result()
    with pytest.raises(RuntimeError, match="closed"):
        threads.submit(work)
    assert threading.active_count() <= before + 2  # the two of asyncio.to_thread's own pool
    await threads.close()


async def test_a_thread_that_does_not_end_is_let_go(caplog: pytest.LogCaptureFixture) -> None:
    """Closing waits a while, says what still runs, and the thread keeps no program alive."""
    threads = WorkerThreads(1, patience=0.01)
    gate = threading.Event()
    future = threads.submit(gate.wait, 10)
    with caplog.at_level(logging.WARNING):
        await threads.close()
    assert "outcome is unknown: 1" in caplog.text
    assert all(t.daemon for t in threading.enumerate() if t.name.startswith("lockgate-tool"))
    gate.set()
    await _value(future)


def test_a_pool_of_nothing_is_refused() -> None:
    """It would take work and never do it."""
    with pytest.raises(LocalError):
        WorkerThreads(0)
