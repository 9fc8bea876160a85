"""The directory that a line runs in: the one that was decided on, and no other."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from lockgate.builtin.files import door
from lockgate.builtin.files.stamp import NotOpened
from lockgate.tools.subject import ResolvedPath


@contextmanager
def entered(directory: ResolvedPath) -> Generator[Path]:
    """A path to the very directory that `directory` was resolved to, good within the block.

    On Linux the path names the open directory itself, whatever comes to stand in its place;
    elsewhere it is `real`, looked at right before. Raises `NotOpened`.
    """
    with door.entered(directory) as found:
        path = directory.real
        if sys.platform == "linux":
            path = f"/proc/self/fd/{found.descriptor}"
        if not os.access(path, os.X_OK):
            raise NotOpened.of(PermissionError(errno.EACCES, ""))
        yield Path(path)
