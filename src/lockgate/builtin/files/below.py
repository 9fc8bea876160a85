"""Files below a directory that is held open, by path and through no link."""

from __future__ import annotations

from types import TracebackType

from lockgate.builtin.files.directory import Directory
from lockgate.builtin.files.stamp import NotOpened, Stamp


class Below:
    """Opens them one name at a time. It keeps the directories on the way to the last one open, so
    that files which come in the order of their paths are reached in few steps.

    The directory itself stays the caller's. Close this, or use it in a `with`.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._names: list[str] = []
        self._opened: list[Directory] = []

    def stamp(self, path: str) -> Stamp | None:
        """The regular file at `path`, which has `/` between its parts; None if there is none, or a
        link is on the way."""
        try:
            directory, name = self._parent(path)
            return directory.stamp(name)
        except NotOpened:
            return None

    def read(self, path: str, *, limit: int) -> bytes | None:
        """All of the regular file at `path`; None if there is none of at most `limit` bytes, it
        can not be read, or a link is on the way."""
        try:
            directory, name = self._parent(path)
            return directory.read(name, limit=limit)[0]
        except NotOpened:
            return None

    def _parent(self, path: str) -> tuple[Directory, str]:
        *above, name = path.split("/")
        kept = 0
        while kept < min(len(above), len(self._names)) and above[kept] == self._names[kept]:
            kept += 1
        self._leave(kept)
        at = self._opened[-1] if self._opened else self._directory
        for part in above[kept:]:
            at = at.enter(part)
            self._opened.append(at)
            self._names.append(part)
        return at, name

    def _leave(self, kept: int) -> None:
        while len(self._opened) > kept:
            self._names.pop()
            self._opened.pop().close()

    def __enter__(self) -> Below:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave(0)
