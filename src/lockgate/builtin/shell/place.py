"""The directory that a line runs in: the one that was decided on, and no other."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lockgate.tools.subject import ResolvedPath

_FLAGS: Final = (
    os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
    if sys.platform != "win32"
    else os.O_RDONLY
)


class PlaceChanged(Exception):
    """The directory is not what was decided on, or not to be entered. Says so, without its path."""


@contextmanager
def entered(directory: ResolvedPath) -> Generator[Path]:
    """A path to the very directory that `directory` was resolved to, good within the block.

    It is opened part by part, following no link: one that has come into the way since is an error.
    On Linux the path names the open directory itself; elsewhere it is looked at right before.
    Raises `PlaceChanged`.
    """
    try:
        descriptor = _opened(directory.real)
    except FileNotFoundError:
        raise PlaceChanged("nothing was run: the directory does not exist") from None
    except NotADirectoryError:
        changed = directory.directory
        why = "is not what it was when the call was decided" if changed else "is no directory"
        raise PlaceChanged(f"nothing was run: the directory {why}") from None
    except OSError as error:
        raise PlaceChanged(
            f"nothing was run: the directory can not be entered ({error.strerror})"
        ) from None
    try:
        yield Path(_name(descriptor, directory.real))
    finally:
        os.close(descriptor)


def _opened(real: str) -> int:
    first, *parts = Path(real).parts
    descriptor = os.open(first, _FLAGS)
    try:
        for part in parts:
            further = os.open(part, _FLAGS, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = further
        if not os.access(_name(descriptor, real), os.X_OK):
            raise PermissionError(errno.EACCES, "permission denied")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _name(descriptor: int, real: str) -> str:
    return f"/proc/self/fd/{descriptor}" if sys.platform == "linux" else real
