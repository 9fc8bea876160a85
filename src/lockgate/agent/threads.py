"""The bounded pool of threads of a runtime, in which tools that block are run.

Python's own pool waits at the end of the program for a thread that never returns. A thread can not
be stopped, so this one waits a while when it is closed, says what is still running, and lets go.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, TypeVar

from lockgate.errors import LocalError

_P = ParamSpec("_P")
_T = TypeVar("_T")

MOST: Final = 8
"""How many threads a pool has unless it is told otherwise."""
PATIENCE: Final = 10.0
"""Seconds that closing waits for what is running."""

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Work:
    future: Future[Any]
    run: Callable[[], Any]


class WorkerThreads(Executor):
    """At most `most` threads, made when they are needed. Work beyond that waits in order.

    `submit` raises `RuntimeError` once `close` was called, as every executor does.
    """

    def __init__(self, most: int = MOST, *, patience: float = PATIENCE) -> None:
        """Starts nothing. `patience` is the seconds that `close` waits for what is running."""
        if most < 1:
            raise LocalError("a pool needs at least one thread")
        self._most = most
        self._patience = patience
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._threads = 0
        self._busy = 0
        self._closed = False
        self._gone: Callable[[], object] | None = None

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Have `fn` run in a thread."""
        future: Future[_T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool of threads is closed")
            self._busy += 1
            self._waiting.put(_Work(future, lambda: fn(*args, **kwargs)))
            if self._busy > self._threads < self._most:
                self._threads += 1
                # A daemon: what never returns must not keep the program from ending.
                threading.Thread(
                    target=self._serve, name=f"lockgate-tool-{self._threads}", daemon=True
                ).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work; what waits is cancelled. Never waits: `close` does."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            threads = self._threads
        while True:
            try:
                work = self._waiting.get_nowait()
            except queue.Empty:
                break
            if work is not None:
                work.future.cancel()
        for _ in range(threads):
            self._waiting.put(None)

    async def close(self) -> None:
        """Shut down and wait for what is running, up to `patience`; then say what still is."""
        loop = asyncio.get_running_loop()
        gone = asyncio.Event()
        with self._lock:
            self._gone = lambda: loop.call_soon_threadsafe(gone.set)
            if not self._threads:
                gone.set()
        self.shutdown()
        try:
            async with asyncio.timeout(self._patience):
                await gone.wait()
        except TimeoutError:
            _log.warning(
                "tools that can not be stopped still run, their outcome is unknown: %d",
                self._threads,
            )
        finally:
            with self._lock:
                self._gone = None

    def _serve(self) -> None:
        while (work := self._waiting.get()) is not None:
            if work.future.set_running_or_notify_cancel():
                try:
                    value = work.run()
                except BaseException as error:  # noqa: BLE001 - it travels to whoever waits
                    work.future.set_exception(error)
                else:
                    work.future.set_result(value)
            del work  # an idle thread keeps nothing alive
            with self._lock:
                self._busy -= 1
        with self._lock:
            self._threads -= 1
            if not self._threads and self._gone is not None:
                self._gone()

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return (
            f"<WorkerThreads {state}, {self._busy} busy, {self._threads} of {self._most} threads>"
        )
