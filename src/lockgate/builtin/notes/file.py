"""The file of notes: Markdown that a person can read, each note with its time, the newest last.

A note begins a line with `- ` and its time; its further lines are indented. So whatever a note
says, none can look like another. The file begins with `HEAD`, and a file that does not is left
alone: no name in a configuration can have lines added to a file of something else.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from lockgate.builtin.files.blocking import Stop
from lockgate.builtin.files.problem import FileProblem
from lockgate.showing import visible_lines
from lockgate.stores.state import private_directory

HEAD: Final = "# Notes, kept by lockgate\n\n"
MAX_FILE: Final = 1024 * 1024
"""Bytes of a file of notes; a full one is moved away by a person."""
LOCK_SECONDS: Final = 5.0
"""How long another process may hold the file; adding a note takes a thousandth of one."""
_STEP: Final = 0.01

_BEGINS: Final = re.compile(r"^- (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) ", re.MULTILINE)
_INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class Note:
    """One note."""

    time: str
    """When it was added, in UTC, as `2026-01-31T12:00:00Z`."""
    text: str


def harmless(text: str) -> str:
    """What is kept of a text: its lines without blank ones around them, and as escapes whatever a
    terminal hides or obeys."""
    lines = [line.rstrip() for line in visible_lines(text).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        del lines[0]
    return "\n".join(lines)


def append(
    path: Path,
    text: str,
    *,
    now: float,
    stop: Stop,
    write: Callable[[int, bytes], int] = os.write,
) -> Note:
    """Add a note to the file at `path`, which is made if it is not there, readable by its owner.

    All of it is there afterwards, or nothing. Raises `FileProblem` with the reason, such as
    `full`, `not_notes` or `busy`. `now` is in seconds since 1970.
    """
    time = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    note = Note(time, harmless(text))
    try:
        private_directory(path.parent)
        descriptor = os.open(
            path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | _NO_LINK, 0o600
        )
        try:
            with _locked(descriptor, stop):
                _append(descriptor, note, write)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _told(error) from None
    return note


def read(path: Path) -> tuple[Note, ...]:
    """All notes of the file at `path`, the oldest first; none if there is no file.

    Raises `FileProblem` for a file that can not be read or is none of notes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | _NO_LINK)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise _told(error) from None
    try:
        _check_kind(descriptor)
        data = _content(descriptor)
    except OSError as error:
        raise _told(error) from None
    finally:
        os.close(descriptor)
    if not data:
        return ()
    _check_head(data)
    return _parsed(data[len(HEAD) :].decode("utf-8", "replace"))


def shown(note: Note) -> str:
    """A note as it stands in the file: no line of it looks like the beginning of another."""
    first, *more = note.text.split("\n")
    lines = [f"- {note.time} {first}", *(f"{_INDENT}{line}".rstrip() for line in more)]
    return "\n".join(lines)


_NO_LINK: Final = os.O_NOFOLLOW | os.O_NONBLOCK
"""A link that is put in the file's place leads nowhere, and a pipe holds nobody up."""


def _append(descriptor: int, note: Note, write: Callable[[int, bytes], int]) -> None:
    _check_kind(descriptor)
    size = os.fstat(descriptor).st_size
    entry = f"{shown(note)}\n".encode()
    if size:
        _check_head(os.pread(descriptor, len(HEAD), 0))
        if os.pread(descriptor, 1, size - 1) != b"\n":  # a person's editor left it so
            entry = b"\n" + entry
    else:
        entry = HEAD.encode() + entry
    if size + len(entry) > MAX_FILE:
        raise FileProblem(
            "full",
            f"the notes are full: the file has {size:,} of {MAX_FILE:,} bytes. Nothing was added. "
            "A person has to move the file away or shorten it",
        )
    try:
        done = write(descriptor, entry)
        if done != len(entry):
            raise FileProblem("no_space", "the disk took only a part of the note. Nothing is kept")
    except BaseException:
        os.ftruncate(descriptor, size)
        raise


def _parsed(text: str) -> tuple[Note, ...]:
    begins = list(_BEGINS.finditer(text))
    ends = [*(match.start() for match in begins[1:]), len(text)]
    return tuple(
        Note(match[1], _unindented(text[match.end() : end]))
        for match, end in zip(begins, ends, strict=False)
    )


def _unindented(text: str) -> str:
    first, *more = text.rstrip("\n").split("\n")
    return visible_lines("\n".join([first, *(line.removeprefix(_INDENT) for line in more)]))


def _content(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    if size > MAX_FILE:
        raise FileProblem("full", f"the file of notes has over {MAX_FILE:,} bytes; it is not read")
    parts: list[bytes] = []
    at = 0
    while at < size and (part := os.pread(descriptor, size - at, at)):
        parts.append(part)
        at += len(part)
    return b"".join(parts)


def _check_kind(descriptor: int) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise _not_notes()


def _check_head(data: bytes) -> None:
    if not data.startswith(HEAD.encode()):
        raise _not_notes()


def _not_notes() -> FileProblem:
    return FileProblem(
        "not_notes",
        "the file that is configured for notes is not one of notes, and is left alone. A person "
        "has to name another one (the key notes)",
    )


@contextmanager
def _locked(descriptor: int, stop: Stop) -> Generator[None]:
    """Hold the file against other processes; the system frees it when the descriptor is closed."""
    for _ in range(int(LOCK_SECONDS / _STEP)):
        stop.check()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stop.wait(_STEP)
        else:
            yield
            return
    raise FileProblem("busy", "another program holds the file of notes. Nothing was added")


def _told(error: OSError) -> FileProblem:
    what = error.strerror or type(error).__name__
    return FileProblem("not_kept", f"the file of notes can not be used: {what}. Nothing was done")
