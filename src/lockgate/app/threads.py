"""The runtime's own threads, for tools that block."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

_log = logging.getLogger("lockgate.app")

THREADS = 16
"""How many functions that block may run at once in one runtime; more wait their turn."""

PATIENCE = 5.0
"""Seconds that closing waits for functions that are still running."""


class Threads:
    """A bounded pool with an end: closing waits, and then says what it left behind."""

    def __init__(self, size: int = THREADS, patience: float = PATIENCE) -> None:
        self.pool = ThreadPoolExecutor(size, thread_name_prefix="lockgate-tool")
        self._patience = patience

    async def close(self) -> None:
        """Refuse new work, drop what has not begun, and wait for what runs, bounded.

        A thread can not be stopped: one that outlasts the patience is left to end by itself, and
        the log says so; the fate of its call was told as unknown already.
        """
        loop = asyncio.get_running_loop()
        over = asyncio.Event()

        def tell() -> None:
            try:
                loop.call_soon_threadsafe(over.set)
            except RuntimeError:  # the loop is gone: nobody waits any more
                return

        # A plain daemon thread: waiting in a pool could itself outlast the program.
        threading.Thread(target=_joined, args=(self.pool, tell), daemon=True).start()
        try:
            async with asyncio.timeout(self._patience):
                await over.wait()
        except TimeoutError:
            _log.warning(
                "a tool that blocks is still running after %g s and is left behind", self._patience
            )


def _joined(pool: ThreadPoolExecutor, tell: Callable[[], None]) -> None:
    pool.shutdown(wait=True, cancel_futures=True)
    tell()
