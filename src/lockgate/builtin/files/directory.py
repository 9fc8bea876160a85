"""A directory held open, and what is in it, by name: never through a symbolic link.

A path can mean something else from one moment to the next; a descriptor can not. So a directory is
reached from the root one name at a time, each opened inside the one before and none followed if it
is a link, and everything in it is done relative to its descriptor.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal, Self, TypeAlias

from lockgate.builtin.files.stamp import Moved, NotOpened, Stamp

_SEARCH: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""To go through a directory, which needs no permission to list it."""
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_WRITABLE: Final = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS})
"""How a file system says that a file can not have two names."""

EntryKind: TypeAlias = Literal["file", "directory", "link", "other"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a directory."""

    name: str
    kind: EntryKind
    """What it is itself: a link is a `link`, wherever it leads."""


class Directory:
    """An open directory. It holds one descriptor: close it, or use it in a `with`.

    Its methods raise `NotOpened`, and `Moved` where a link stands in the place of what was asked
    for. Names are single ones.
    """

    def __init__(self, fd: int) -> None:
        """Takes `fd` over."""
        self._fd = fd

    @classmethod
    def at(cls, path: str, *, make: bool = False) -> Self:
        """The directory at `path`, which has to be absolute, folded and without links.

        With `make`, directories that are missing are made.
        """
        found = cls(os.open("/", _SEARCH))
        try:
            for name in path.split("/"):
                if name:
                    inner = found.enter(name, make=make)
                    found.close()
                    found = inner
        except BaseException:
            found.close()
            raise
        return found

    def enter(self, name: str, *, make: bool = False) -> Self:
        """The directory `name` in this one, which stays open."""
        _single(name)
        with _told():
            try:
                return self._enter(name)
            except FileNotFoundError:
                if not make:
                    raise
            try:
                os.mkdir(name, dir_fd=self._fd)
            except FileExistsError:  # another was quicker; if it is a link, the next line tells
                pass
            return self._enter(name)

    def entries(self, *, limit: int) -> tuple[tuple[Entry, ...], bool]:
        """What is in it, in no order, and whether there is more than `limit` entries."""
        found: list[Entry] = []
        with _told():
            fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._fd)
            try:
                with os.scandir(fd) as scan:
                    for entry in scan:
                        if len(found) == limit:
                            return tuple(found), True
                        found.append(Entry(entry.name, _kind(entry)))
            finally:
                os.close(fd)
        return tuple(found), False

    def stamp(self, name: str) -> Stamp | None:
        """The regular file `name`; None if there is nothing of that name."""
        _single(name)
        try:
            with _told():
                return Stamp.of(os.stat(name, dir_fd=self._fd, follow_symlinks=False))
        except NotOpened as refusal:
            if refusal.reason == "absent":
                return None
            raise

    @contextmanager
    def opened(self, name: str) -> Generator[tuple[int, Stamp]]:
        """The regular file `name`, open for reading: a descriptor, and what was opened."""
        fd, stamp = self._open(name, _READ)
        try:
            yield fd, stamp
        finally:
            os.close(fd)

    def read(self, name: str, *, limit: int) -> tuple[bytes, Stamp]:
        """All of the regular file `name`, and the state it was in.

        Raises `NotOpened` with `too_large` over `limit` bytes, and with `changed` if it was written
        to meanwhile.
        """
        with self.opened(name) as (fd, stamp), _told():
            if stamp.size > limit:
                raise _too_large(limit)
            chunks: list[bytes] = []
            left = limit + 1
            while left and (chunk := os.read(fd, min(left, 1 << 20))):
                chunks.append(chunk)
                left -= len(chunk)
            if not left:
                raise _too_large(limit)
            if Stamp.of(os.fstat(fd)) != stamp:
                raise NotOpened("changed", "it was written to while it was read")
        return b"".join(chunks), stamp

    def replace(
        self, name: str, data: Iterable[bytes], *, over: Stamp | None, token: Callable[[], str]
    ) -> Stamp:
        """Write the file `name` so that a reader sees the old content or the new, never a part.

        `over` is the file that is replaced: it must still be that, and its permissions are kept.
        None: there must be none, and the new one has those of the process. `token` gives a word of
        random letters. On a failure everything is as it was.
        """
        _single(name)
        if over is not None:
            self._check(name, over)
        temporary = f".lockgate-{token()}.tmp"
        with _told():
            fd = os.open(temporary, _NEW, 0o666 if over is None else 0o600, dir_fd=self._fd)
        try:
            with _told():
                try:
                    for chunk in data:
                        _write_all(fd, chunk)
                    if over is not None:
                        os.fchmod(fd, over.mode)
                    os.fsync(fd)
                    self._put(temporary, name, over)
                    written = Stamp.of(os.fstat(fd))
                finally:
                    os.close(fd)
        except BaseException:
            self._remove(temporary)
            raise
        self._sync()
        return written

    @property
    def descriptor(self) -> int:
        """The one it holds, for who starts a program in it; still its own to close."""
        return self._fd

    def close(self) -> None:
        """Close the descriptor. Idempotent."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _enter(self, name: str) -> Self:
        try:
            return type(self)(os.open(name, _SEARCH, dir_fd=self._fd))
        except NotADirectoryError:
            info = os.stat(name, dir_fd=self._fd, follow_symlinks=False)
            if stat.S_ISLNK(info.st_mode):
                raise Moved from None
            raise NotOpened("not_a_directory", "a part of the path is not a directory") from None

    def _open(self, name: str, flags: int) -> tuple[int, Stamp]:
        """Open a regular file. Anything else is refused unopened: a device acts on being opened."""
        seen = self.stamp(name)
        if seen is None:
            raise NotOpened.of(FileNotFoundError(errno.ENOENT, ""))
        with _told(moved_on=(errno.ELOOP, errno.ENXIO)):
            fd = os.open(name, flags, dir_fd=self._fd)
        try:
            with _told():
                stamp = Stamp.of(os.fstat(fd))
            if (stamp.device, stamp.inode) != (seen.device, seen.inode):
                raise Moved
        except BaseException:
            os.close(fd)
            raise
        return fd, stamp

    def _check(self, name: str, over: Stamp) -> None:
        """Raise unless `name` is the file `over`, as it was, and may be written to."""
        if not over.mode & 0o222:  # renaming over it would not ask
            raise NotOpened("read_only", "its permissions let nobody write to it")
        fd, now = self._open(name, _WRITABLE)
        os.close(fd)
        if now != over:
            raise NotOpened("changed", "it has changed since it was looked at")

    def _put(self, temporary: str, name: str, over: Stamp | None) -> None:
        """Give the written file its name."""
        if over is None:
            try:
                os.link(
                    temporary,
                    name,
                    src_dir_fd=self._fd,
                    dst_dir_fd=self._fd,
                    follow_symlinks=False,
                )
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                # Without a second name there is no way to be first but to look.
                if self.stamp(name) is not None:
                    raise FileExistsError(errno.EEXIST, "") from None
            else:
                os.unlink(temporary, dir_fd=self._fd)
                return
        elif self.stamp(name) != over:
            raise NotOpened("changed", "it has changed since it was looked at")
        os.rename(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def _remove(self, temporary: str) -> None:
        try:
            os.unlink(temporary, dir_fd=self._fd)
        except OSError:  # never made, or it has its name already
            pass

    def _sync(self) -> None:
        """Have the disk know the new name. Not every file system can."""
        try:
            fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._fd)
        except OSError:
            return
        try:
            os.fsync(fd)
        except OSError:
            pass
        finally:
            os.close(fd)


@contextmanager
def _told(moved_on: tuple[int, ...] = (errno.ELOOP,)) -> Generator[None]:
    """Turn what the operating system says into `NotOpened`; `moved_on` means a link was met."""
    try:
        yield
    except OSError as error:
        if error.errno in moved_on:
            raise Moved from None
        raise NotOpened.of(error) from None


def _single(name: str) -> None:
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise ValueError("a single name, not a path")


def _kind(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _write_all(fd: int, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(fd, view) :]


def _too_large(limit: int) -> NotOpened:
    return NotOpened("too_large", f"it is larger than {limit} bytes")
