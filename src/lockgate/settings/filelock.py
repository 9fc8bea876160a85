"""One change at a time to the files of a directory, among the programs that ask for the lock."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lockgate.errors import ConfigError, Problem

PATIENCE: Final = 10.0
"""Seconds to wait for another program; a change takes a few hundredths of one."""
_STEP: Final = 0.02


@contextmanager
def locked(path: Path, *, patience: float = PATIENCE) -> Generator[None]:
    """Hold the lock of the directory that the content of `path` stands in, a link followed.

    The directory itself is locked, which leaves no file behind; the system frees the lock when the
    holder ends, however it ends. The directory is made (0700) if it is missing. Raises
    `ConfigError` if it can not be opened, or another program holds the lock over `patience`.
    """
    try:
        folder = path.resolve().parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(folder, os.O_RDONLY)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(Problem(f"can not be written: {reason}", file=path)) from None
    try:
        _wait(fd, path, patience)
        yield
    finally:
        os.close(fd)


def _wait(fd: int, path: Path, patience: float) -> None:
    for _ in range(max(1, int(patience / _STEP))):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_STEP)
        except OSError:
            # A file system without locks: what else changes the file is noticed before writing.
            return
        else:
            return
    message = "is being changed by another program"
    raise ConfigError(Problem(message, file=path, hint="run the command again"))
