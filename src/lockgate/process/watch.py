"""Being told at once that a child has ended, whoever still holds its pipes.

asyncio's own watcher starts a thread for each child on 3.11, and changing it would change it for
the whole program. A pidfd costs one descriptor and no thread; where there is none (macOS, Windows,
Linux before 5.3, some sandboxes), a thread waits.

Neither reaps the child: until its owner does, its id can not become another's. (Where there is
no waitid, on Windows and on macOS before Python 3.13, the thread does.)
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Protocol, TypeAlias

Process: TypeAlias = subprocess.Popen[bytes]


class Watch(Protocol):
    """One child being watched. `ended` is called on the loop, until `stop`, at least once."""

    def stop(self) -> None:
        """Watch no longer. Idempotent."""
        ...


def watch(process: Process, ended: Callable[[], None]) -> Watch:
    """Call `ended` on the running loop when `process` has ended."""
    if sys.platform == "linux" and hasattr(os, "pidfd_open"):
        try:
            return PidfdWatch(process.pid, ended)
        except OSError:
            pass  # not in this kernel, not allowed in this sandbox, or no descriptor left
    return ThreadWatch(process, ended)


class PidfdWatch:
    """By a descriptor that becomes readable when the process has ended."""

    def __init__(self, pid: int, ended: Callable[[], None]) -> None:
        """Raises OSError where there is no pidfd."""
        self._loop = asyncio.get_running_loop()
        self._descriptor: int | None = os.pidfd_open(pid)
        self._loop.add_reader(self._descriptor, ended)

    def stop(self) -> None:
        """Watch no longer. Idempotent."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)


class ThreadWatch:
    """By a thread that waits for the process."""

    def __init__(self, process: Process, ended: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = False
        self._ended = ended
        self._thread = threading.Thread(
            target=self._wait, args=(process,), name=f"lockgate-wait-{process.pid}", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Watch no longer; the thread ends with the process. Idempotent."""
        self._stopped = True

    def _wait(self, process: Process) -> None:
        try:
            if sys.platform != "win32" and hasattr(os, "waitid"):
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            else:
                process.wait()
        except ChildProcessError:
            pass  # reaped by its owner in the meantime, who then knows
        try:
            self._loop.call_soon_threadsafe(self._tell)
        except RuntimeError:
            pass  # the loop was closed: nobody wants to know any more

    def _tell(self) -> None:
        if not self._stopped:
            self._ended()
