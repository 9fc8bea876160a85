"""A file system in memory that takes names as some do: whatever their case, in any Unicode form."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import count, islice

from lockgate.calls.filesystem import Seen


class ScriptedFileSystem:
    """Directories, files and links, as `calls.walk` looks at them. No file system that folds case
    has to be at hand."""

    def __init__(self, *, folds_case: bool = False, folds_form: bool = False) -> None:
        self._folds_case = folds_case
        self._folds_form = folds_form
        self._inodes = count(2)
        self._found: dict[str, tuple[str, Seen, str]] = {"/": ("/", Seen("directory", 1, 1), "")}
        self.looks = 0
        """How often something was looked at."""

    def add(self, path: str, *, link: str | None = None) -> None:
        """Have a file at `path`, or a link with `link` written in it; a directory if `path` ends in
        a slash. What is above comes into being too."""
        names = [name for name in path.split("/") if name]
        for at in range(1, len(names) + 1):
            whole = "/" + "/".join(names[:at])
            last = at == len(names)
            if self._key(whole) in self._found:
                continue
            kind = "directory" if not last or path.endswith("/") else "other"
            if last and link is not None:
                kind = "link"
            self._found[self._key(whole)] = (whole, Seen(kind, 1, next(self._inodes)), link or "")

    def look(self, path: str) -> Seen:
        """As `calls.filesystem.FileSystem.look`."""
        self.looks += 1
        return self._at(path)[1]

    def target(self, path: str) -> str:
        """As `calls.filesystem.FileSystem.target`."""
        return self._at(path)[2]

    def names(self, path: str, limit: int) -> Iterator[tuple[str, int]]:
        """As `calls.filesystem.FileSystem.names`."""
        above = self._key(path).rstrip("/")
        inside = [
            (whole.rpartition("/")[2], seen.inode)
            for key, (whole, seen, _) in self._found.items()
            if key != "/" and key.rpartition("/")[0] == above
        ]
        return islice(iter(inside), limit)

    def _at(self, path: str) -> tuple[str, Seen, str]:
        try:
            return self._found[self._key(path)]
        except KeyError:
            raise FileNotFoundError(2, "no such file") from None

    def _key(self, path: str) -> str:
        if self._folds_form:
            path = unicodedata.normalize("NFD", path)
        return path.casefold() if self._folds_case else path
