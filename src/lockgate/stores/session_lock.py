"""One process at a time goes on with a session: a lock that ends with whoever holds it."""

from __future__ import annotations

import fcntl
import hashlib
import os
from pathlib import Path
from typing import Final

from lockgate.errors import Problem
from lockgate.stores.state import StateError, private_directory

_TRIES: Final = 8
"""How often a file that its last holder removed meanwhile is made anew."""


class SessionLock:
    """A held lock. The system frees it when its holder ends, however that ends.

    Each session has an empty file of its own, named by a digest of the session's id. Two openings
    in one process are two holders, too.
    """

    def __init__(self, fd: int, path: Path) -> None:
        self._fd: int | None = fd
        self._path = path

    def free(self) -> None:
        """Let another have it. Idempotent."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            # Removed while it is held: whoever opened it meanwhile finds out, and makes another.
            self._path.unlink(missing_ok=True)
            os.close(fd)

    def __del__(self) -> None:
        # Of a session that nobody holds any more: its file stays, and is in nobody's way.
        if self._fd is not None:
            os.close(self._fd)


def lock_session(directory: Path, session: str) -> SessionLock | None:
    """Hold the lock of a session, without waiting; None while another holds it.

    Raises `StateError` where that can not be found out: then nobody goes on with a session.
    """
    path = directory / f"{hashlib.sha256(session.encode('utf-8', 'replace')).hexdigest()[:32]}.lock"
    try:
        private_directory(directory)
        for _ in range(_TRIES):
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_there(fd, path):
                    return SessionLock(fd, path)
            except BlockingIOError:
                os.close(fd)
                return None
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)
    except OSError as error:
        what = f"a session can not be locked: {error.strerror or type(error).__name__}"
        hint = "it needs a directory that this user may write to, on a file system with locks"
        raise StateError(Problem(what, file=path, hint=hint)) from error
    return None


def _is_there(fd: int, path: Path) -> bool:
    """Whether the file that was locked is the one that others find."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    mine = os.fstat(fd)
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)
