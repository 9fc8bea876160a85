"""Following a path name by name, as the kernel would that opens it.

Not `realpath`: that takes a file for a directory, follows the links of open descriptors, leaves
names in the case they were asked for by, and stops in a circle of links without a word.
"""

from __future__ import annotations

import errno
import unicodedata
from collections.abc import Mapping
from typing import Final

import msgspec

from lockgate.calls.filesystem import FileSystem, Seen

MAX_LINKS: Final = 40
"""Symbolic links in one path, as the kernel counts them."""
_MAX_STEPS: Final = 8192
"""Names gone through, those of links included."""
_MAX_NAMES: Final = 50_000
"""Names looked at in one directory to find how one is really spelled."""
_SAMPLE: Final = 32

_LOOP: Final = "leads through more than 40 symbolic links, or in a circle"
_NO_DIRECTORY: Final = "leads through something that is no directory"
_PROBLEMS: Final[Mapping[int, str]] = {
    errno.ELOOP: _LOOP,
    errno.ENOTDIR: _NO_DIRECTORY,
    errno.ENAMETOOLONG: "holds a name that is longer than the file system takes",
    errno.EACCES: "leads through a directory that this user may not look into",
    errno.EPERM: "leads through a directory that this user may not look into",
}


class Walked(msgspec.Struct, frozen=True):
    """Where a path leads."""

    names: tuple[str, ...] = ()
    """From the root, links resolved; what exists is spelled as the file system has it."""
    exists: bool = True
    directory: bool = True
    folds_case: bool = False
    """Whether any directory on the way takes `A` and `a` for the same name."""
    problem: str | None = None
    """Why it leads nowhere; the rest is then of no use."""

    @property
    def path(self) -> str:
        """The names as a path."""
        return "/" + "/".join(self.names)


def walk(path: str, files: FileSystem) -> Walked:
    """Where the absolute `path` leads now. Never raises.

    What does not exist is kept as it is written; through a link whose target does not exist, a
    write would make it there, so that is where the path leads.
    """
    try:
        return _Walk(files).go(path)
    except _NoWayError as error:
        return Walked(problem=error.problem)
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, type(error).__name__)
        known = _PROBLEMS.get(error.errno or 0, f"can not be looked up ({name})")
        return Walked(problem=known)
    except ValueError:
        return Walked(problem="can be no path")


class _NoWayError(Exception):
    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class _Walk:
    def __init__(self, files: FileSystem) -> None:
        self._files = files
        self._names: list[str] = []
        self._missing = False
        self._directory = True
        self._folds = False
        self._processes = self._device_of_processes()

    def go(self, path: str) -> Walked:
        waiting = path.split("/")[::-1]
        links = steps = 0
        while waiting:
            steps += 1
            if steps > _MAX_STEPS:
                raise _NoWayError(_LOOP)
            if not self._directory and not self._missing:
                raise _NoWayError(_NO_DIRECTORY)
            name = waiting.pop()
            if name in ("", "."):
                continue
            if name == "..":
                self._up()
            elif self._missing:
                self._names.append(name)
            elif (target := self._step(name)) is not None:
                links += 1
                if links > MAX_LINKS:
                    raise _NoWayError(_LOOP)
                if target.startswith("/"):
                    self._names.clear()
                waiting += target.split("/")[::-1]
        names = tuple(self._names)
        return Walked(names, not self._missing, self._directory, self._folds)

    def _up(self) -> None:
        if self._missing:
            raise _NoWayError("goes back with .. out of a directory that does not exist")
        if self._names:
            self._names.pop()

    def _step(self, name: str) -> str | None:
        """Go to `name`; or, if that is a link, stay and give what is written in it."""
        above = self._path()
        path = f"{above}/{name}"
        try:
            seen = self._files.look(path)
        except FileNotFoundError:
            self._folds = self._folds_at(above, self._folds)
            self._names.append(name)
            self._missing, self._directory = True, False
            return None
        if seen.device == self._processes:
            self._refuse_process(name)
        if seen.kind == "link":
            return self._files.target(path)
        self._names.append(self._spelled(above, name, seen))
        self._directory = seen.kind == "directory"
        return None

    def _path(self) -> str:
        return "/" + "/".join(self._names) if self._names else ""

    def _spelled(self, above: str, name: str, seen: Seen) -> str:
        """How the file system spells `name`, which may have been asked for in another way."""
        folds = self._is_also(above, name.swapcase(), name, seen)
        self._folds = self._folds or folds
        if not folds and not any(
            self._is_also(above, unicodedata.normalize(form, name), name, seen)
            for form in ("NFC", "NFD")
            if not name.isascii()
        ):
            return name
        wanted = _loosely(name)
        found = name
        for other, inode in self._files.names(above or "/", _MAX_NAMES):
            if other == name:
                return name
            if inode == seen.inode and _loosely(other) == wanted:
                found = other
        return found

    def _is_also(self, above: str, other: str, name: str, seen: Seen) -> bool:
        """Whether `other` is taken for `name`, and is no second name of the same file."""
        if other == name:
            return False
        try:
            same = self._files.look(f"{above}/{other}").is_same(seen)
        except OSError:
            return False
        if not same or seen.kind == "directory" or seen.links == 1:
            return same
        return all(entry != other for entry, _ in self._files.names(above or "/", _MAX_NAMES))

    def _folds_at(self, above: str, assumed: bool) -> bool:
        """Whether a directory folds case, by any name that is in it; `assumed` if none tells."""
        try:
            for name, _ in list(self._files.names(above or "/", _SAMPLE)):
                if name.swapcase() != name:
                    seen = self._files.look(f"{above}/{name}")
                    return assumed or self._is_also(above, name.swapcase(), name, seen)
        except OSError:
            pass
        return assumed

    def _device_of_processes(self) -> int | None:
        try:
            processes = self._files.look("/proc").device
            return None if processes == self._files.look("/").device else processes
        except OSError:
            return None

    def _refuse_process(self, name: str) -> None:
        """What the kernel shows of processes is no file: memory, environments, open descriptors,
        and links that lead to what has no path."""
        where = [*self._names, name]
        if where[0] != "proc" or (len(where) > 1 and where[1].isdigit()):
            raise _NoWayError("leads to a process or an open descriptor, not to a file")


def _loosely(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
