"""The one way from a decided path to a file: what was decided about is opened, and nothing else.

`calls.paths` has resolved the path before the decision. It is not looked up again: it is gone down
name by name, and a link that stands in it by now is `Moved` (B-01). All of it blocks: call it in
the caller's pool of threads.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator
from contextlib import contextmanager

from lockgate.builtin.files.directory import Directory, Entry
from lockgate.builtin.files.stamp import NotOpened, Stamp
from lockgate.tools.subject import ResolvedPath


@contextmanager
def opened(path: ResolvedPath) -> Generator[tuple[int, Stamp]]:
    """The regular file at `path`, open for reading: a descriptor, closed at the end, and what was
    opened. Raises `NotOpened`."""
    with _parent(path) as (directory, name), directory.opened(name) as found:
        yield found


def read(path: ResolvedPath, *, limit: int) -> tuple[bytes, Stamp]:
    """All of the regular file at `path`, and its state. Raises `NotOpened`, `too_large` for one
    over `limit` bytes."""
    with _parent(path) as (directory, name):
        return directory.read(name, limit=limit)


def stamp(path: ResolvedPath) -> Stamp | None:
    """The state of the regular file at `path`; None if nothing is there. Raises `NotOpened`."""
    try:
        with _parent(path) as (directory, name):
            return directory.stamp(name)
    except NotOpened as refusal:
        if refusal.reason == "absent":
            return None
        raise


def entered(path: ResolvedPath) -> Directory:
    """The directory at `path`, to be closed by the caller. Raises `NotOpened`.

    What is found in it can be entered or opened from there, never through a link.
    """
    return Directory.at(_usable(path))


def listed(path: ResolvedPath, *, limit: int) -> tuple[tuple[Entry, ...], bool]:
    """What is in the directory at `path`, in no order, and whether there is more than `limit`.
    Raises `NotOpened`."""
    with entered(path) as directory:
        return directory.entries(limit=limit)


def write(path: ResolvedPath, data: bytes, *, over: Stamp | None, make: bool = False) -> Stamp:
    """Write the regular file at `path`, whole or not at all, and give its new state.

    `over` is the state of the file that is replaced, from `stamp`, `read` or `opened`; it must be
    in it still, else `changed`. None: there must be none, else `exists`. With `make`, missing
    directories above it are made. Permissions are kept; a file that several names share is parted
    from the others (`Stamp.links` tells beforehand). Raises `NotOpened`.
    """
    with _parent(path, make=make) as (directory, name):
        return directory.replace(name, (data,), over=over, token=lambda: secrets.token_hex(8))


@contextmanager
def _parent(path: ResolvedPath, *, make: bool = False) -> Generator[tuple[Directory, str]]:
    """The directory that holds `path`, and its name there."""
    above, _, name = _usable(path).rpartition("/")
    if not name:
        raise NotOpened("not_a_file", "it is a directory, not a file")
    with Directory.at(above, make=make) as directory:
        yield directory, name


def _usable(path: ResolvedPath) -> str:
    """The path to go down. Raises `NotOpened` for one that was never decided about."""
    if path.problem is not None or not path.real.startswith("/"):
        raise NotOpened("failed", path.problem or "it was not resolved")
    if path.barred:
        raise NotOpened("no_permission", "it lies in lockgate's own state, which no tool reaches")
    return path.real
