"""The files of an audit log: what a segment is called, what its first line says, who holds it.

A process writes a run of segments, one after the other: `DAY-PID-WORD.jsonl`, then
`DAY-PID-WORD.2.jsonl`. The writer holds a lock on the one it writes, so nobody takes an open
segment for a finished one.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from lockgate.stores.chain import Head

SUFFIX: Final = ".jsonl"
VERSION: Final = 2
"""1 was chained with HMAC-SHA256 and held what is null."""
_NAME: Final = re.compile(r"(\d{8})-(\d+-[A-Za-z0-9_-]+)(?:\.(\d+))?\.jsonl")


class Predecessor(msgspec.Struct, frozen=True, rename="camel"):
    """The segment that the same process wrote before, and where its chain had got to."""

    segment: str
    seq: int
    mac: str


class SegmentRecord(msgspec.Struct, frozen=True, rename="camel", tag_field="record", tag="segment"):
    """The first line of a segment."""

    version: int
    segment: str
    """Its own file name: a segment that was renamed or copied over another shows."""
    time: float
    pid: int
    key: str
    """`Sealer.key_id` of the key of the chain."""
    previous: Predecessor | None = None

    @property
    def start(self) -> Head | None:
        """The head that its chain goes on from."""
        return None if self.previous is None else Head(self.previous.seq, self.previous.mac)


@dataclass(frozen=True, slots=True, order=True)
class SegmentName:
    """A segment's file name, taken apart. They sort as they were written by one process."""

    run: str
    """The process: its number and a random word."""
    part: int
    day: str
    """Of its first record, `YYYYMMDD` in UTC."""

    @property
    def file(self) -> str:
        """The whole name."""
        part = "" if self.part == 1 else f".{self.part}"
        return f"{self.day}-{self.run}{part}{SUFFIX}"


def parse_name(file: str) -> SegmentName | None:
    """The parts of a segment's file name; None for another file."""
    match = _NAME.fullmatch(file)
    return SegmentName(match[2], int(match[3] or 1), match[1]) if match else None


def segments_in(directory: Path) -> Iterator[tuple[SegmentName, Path]]:
    """Every segment in `directory`, those of one process in a row; none if it is not there."""
    try:
        names = [entry for entry in os.listdir(directory) if entry.endswith(SUFFIX)]  # noqa: PTH208 - no Path for each of thousands
    except FileNotFoundError:
        return
    found = sorted(name for file in names if (name := parse_name(file)) is not None)
    for name in found:
        yield name, directory / name.file


def hold(descriptor: int) -> bool:
    """Take the writer's lock without waiting; False if somebody has it.

    A file system that has no locks gives it to everybody.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def is_written(path: Path) -> bool:
    """Whether a process has this segment open for writing now."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return not hold(descriptor)
    finally:
        os.close(descriptor)
