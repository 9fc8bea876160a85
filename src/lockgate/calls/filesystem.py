"""What resolving a path asks of a file system: a protocol, so that one can be scripted."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from itertools import islice
from typing import Literal, Protocol

import msgspec


class Seen(msgspec.Struct, frozen=True):
    """What stands at a path, links not followed."""

    kind: Literal["directory", "link", "other"]
    device: int
    inode: int
    links: int = 1
    """Names it has."""

    def is_same(self, other: Seen) -> bool:
        """Whether both are one and the same thing."""
        return self.device == other.device and self.inode == other.inode


class FileSystem(Protocol):
    """Its methods raise `OSError`, and `ValueError` for what can be no path."""

    def look(self, path: str) -> Seen:
        """What stands at `path`; a link itself, not what it leads to."""
        ...

    def target(self, path: str) -> str:
        """What is written in the link at `path`."""
        ...

    def names(self, path: str, limit: int) -> Iterator[tuple[str, int]]:
        """Names in the directory at `path` and their inodes, in no order, at most `limit`."""
        ...


class RealFileSystem:
    """That of the operating system."""

    def look(self, path: str) -> Seen:
        """As `FileSystem.look`."""
        info = os.lstat(path)
        mode = info.st_mode
        kind = "directory" if stat.S_ISDIR(mode) else "link" if stat.S_ISLNK(mode) else "other"
        return Seen(kind, info.st_dev, info.st_ino, info.st_nlink)

    def target(self, path: str) -> str:
        """As `FileSystem.target`."""
        return os.readlink(path)  # noqa: PTH115 - a Path would fold what is written in it

    def names(self, path: str, limit: int) -> Iterator[tuple[str, int]]:
        """As `FileSystem.names`."""
        with os.scandir(path) as entries:
            for entry in islice(entries, limit):
                yield entry.name, entry.inode()


class RememberedFileSystem:
    """One that is asked about each path once: for looking several paths up at one moment.

    Not to be kept: what it says is from when it was first asked.
    """

    def __init__(self, files: FileSystem) -> None:
        """`files` is asked."""
        self._files = files
        self._seen: dict[str, Seen | None] = {}
        """What stands at a path; None if nothing does."""

    def look(self, path: str) -> Seen:
        """As `FileSystem.look`."""
        if path not in self._seen:
            try:
                self._seen[path] = self._files.look(path)
            except FileNotFoundError:
                self._seen[path] = None
        seen = self._seen[path]
        if seen is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return seen

    def target(self, path: str) -> str:
        """As `FileSystem.target`."""
        return self._files.target(path)

    def names(self, path: str, limit: int) -> Iterator[tuple[str, int]]:
        """As `FileSystem.names`."""
        return self._files.names(path, limit)
