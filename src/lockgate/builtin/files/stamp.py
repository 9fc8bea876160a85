"""What tells one state of a file from another, and why a file was not opened."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Self, TypeAlias

NotOpenedReason: TypeAlias = Literal[
    "moved", "changed", "absent", "exists", "not_a_file", "not_a_directory", "too_large",
    "read_only", "no_permission", "failed",
]  # fmt: skip

_REASONS: Final[Mapping[int, tuple[NotOpenedReason, str]]] = {
    errno.ENOENT: ("absent", "there is no such file or directory"),
    errno.EEXIST: ("exists", "there is a file of that name"),
    errno.EACCES: ("no_permission", "this user has no permission for it"),
    errno.EPERM: ("no_permission", "this user has no permission for it"),
    errno.EROFS: ("read_only", "its file system can not be written to"),
}


class NotOpened(Exception):
    """A file or directory that is not opened or written. The message does not hold its path."""

    def __init__(self, reason: NotOpenedReason, message: str) -> None:
        super().__init__(message)
        self.reason: NotOpenedReason = reason
        """What to branch on."""

    @classmethod
    def of(cls, error: OSError) -> NotOpened:
        """What the operating system said, in our words."""
        known = _REASONS.get(error.errno or 0)
        if known is not None:
            return NotOpened(*known)
        return NotOpened("failed", error.strerror or type(error).__name__)


class Moved(NotOpened):
    """Since the call was decided, a link or something else has come where a directory or file was.

    Nothing was read or written by that name: what is there now was not decided about.
    """

    def __init__(self) -> None:
        super().__init__(
            "moved", "it is not what it was when the call was decided: something took its place"
        )


@dataclass(frozen=True, slots=True)
class Stamp:
    """A regular file as it was at one moment. Two that are equal are the same content."""

    device: int
    inode: int
    size: int
    """Bytes."""
    modified: int
    """Nanoseconds since 1970."""
    changed: int
    """Nanoseconds since 1970, of content or permissions; no program can set it."""
    mode: int
    """Permission bits, without those that lend the owner's rights."""
    links: int
    """Names it has. Replacing one of several leaves the others with the old content."""

    @classmethod
    def of(cls, info: os.stat_result) -> Self:
        """The stamp of what `info` describes. Raises `NotOpened` unless it is a regular file."""
        if stat.S_ISLNK(info.st_mode):
            raise Moved
        if not stat.S_ISREG(info.st_mode):
            what = "a directory" if stat.S_ISDIR(info.st_mode) else "a device, a pipe or a socket"
            raise NotOpened("not_a_file", f"it is {what}, not a file")
        return cls(
            info.st_dev,
            info.st_ino,
            info.st_size,
            info.st_mtime_ns,
            info.st_ctime_ns,
            info.st_mode & 0o777,
            info.st_nlink,
        )
