"""The list of an audit log's segments: which there are, and where each closed one ended.

A chain does not show that its end was cut off, nor a directory that a file is gone. So each
segment is listed here when it begins, and with its head when it is closed. The list is a chain of
its own, shared by all processes: who appends holds the lock, for two short writes in the life of
a segment. What the list can not show is its own end cut off; its head, noted elsewhere, does.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, NoReturn, TypeAlias

import msgspec

from lockgate.stores.chain import Chain, Head, Sealer, link_of
from lockgate.stores.segments import is_written

FILE: Final = "heads"
LOCK: Final = "heads.lock"
LOCK_SECONDS: Final = 2.0
"""How long an append waits for those of other processes, with the loop standing still; longer is
an OSError. They take a tenth of a millisecond."""
_LOOK: Final = 0.002
_TAIL: Final = 4096
"""Bytes that hold the last line for certain."""


class Listed(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One line of the list."""

    event: Literal["key", "opened", "closed", "removed"]
    """`key`: the first line, which says which key. `removed`: kept long enough."""
    time: float
    segment: str = ""
    at: Head | None = None
    """Of a closed segment: its last line."""
    key: str = ""


Write: TypeAlias = Callable[[int, bytes | bytearray], int]
"""`os.write`, or a stand-in that fails as a disk does."""

_DECODER: Final = msgspec.json.Decoder(Listed)
_ENCODER: Final = msgspec.json.Encoder()


class Heads:
    """The writing end of the list, shared by the processes of one directory."""

    def __init__(self, directory: Path, sealer: Sealer, time: Callable[[], float]) -> None:
        self._directory = directory
        self._sealer = sealer
        self._time = time

    def opened(self, segment: str, make: Callable[[], int]) -> int:
        """Have `make` create a segment, and list it; the descriptor that `make` returns.

        Nobody sees the one without the other. Raises OSError; there is no segment then.
        """
        with self._appending() as append:
            descriptor = make()
            try:
                append(Listed("opened", self._time(), segment))
            except BaseException:
                os.close(descriptor)
                (self._directory / segment).unlink()
                raise
            return descriptor

    def closed(self, segment: str, head: Head) -> None:
        """Note where a segment has ended. Raises OSError."""
        with self._appending() as append:
            append(Listed("closed", self._time(), segment, head))

    def remove(self, segments: Iterable[str]) -> list[str]:
        """Delete segments, each listed as removed before; returns those. One that is being
        written stays.

        Raises OSError; what was deleted until then is listed.
        """
        gone: list[str] = []
        with self._appending() as append:
            for segment in segments:
                path = self._directory / segment
                # Under the lock nobody is just beginning one, so an unlocked file has no writer.
                if path.exists() and not is_written(path):
                    append(Listed("removed", self._time(), segment))
                    path.unlink()
                    gone.append(segment)
        return gone

    @contextmanager
    def _appending(self) -> Generator[Callable[[Listed], None]]:
        """Hold the list: what the block appends follows what is there."""
        with _locked(self._directory / LOCK):
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self._directory / FILE, flags, 0o600)
            try:
                chain = Chain(self._sealer, _end_of(descriptor))

                def append(listed: Listed) -> None:
                    line, mac = chain.seal(_ENCODER.encode(listed))
                    whole_write(descriptor, line)
                    chain.take(mac)

                if not chain.head.seq:
                    append(Listed("key", self._time(), key=self._sealer.key_id))
                yield append
            finally:
                os.close(descriptor)


def whole_write(descriptor: int, data: bytes, write: Write = os.write) -> None:
    """Append all of `data`, or nothing of it and raise OSError: half a line is taken back."""
    written = write(descriptor, data)
    if written != len(data):
        take_back(descriptor, written, len(data))


def take_back(descriptor: int, written: int, size: int) -> NoReturn:
    """Take back what was `written` of a record of `size` bytes, and raise OSError."""
    os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
    raise OSError(f"only {written} of {size} bytes of a record were written")


def read_list(directory: Path, look: Callable[[], None]) -> bytes | None:
    """The list as it stands, and `look` called while nothing is being added to it or removed.

    None if there is no list. Raises OSError.
    """
    try:
        with _locked(directory / LOCK, create=False):
            look()
            return (directory / FILE).read_bytes()
    except FileNotFoundError:
        look()
        return None


def parse_listed(line: bytes) -> Listed | None:
    """What one line of the list says; None if it says nothing that can be read."""
    try:
        return _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _end_of(descriptor: int) -> Head | None:
    """Where the list has got to. What a crash left of a line is cut off."""
    size = os.fstat(descriptor).st_size
    tail = os.pread(descriptor, _TAIL, max(0, size - _TAIL))
    whole = tail.rfind(b"\n") + 1
    if whole != len(tail):
        os.ftruncate(descriptor, size - len(tail) + whole)
    if not whole:
        return None
    link = link_of(tail[:whole].splitlines()[-1])
    # A list that somebody has spoiled goes on from nothing, and does not verify.
    return None if link is None else Head(link.seq, link.mac)


@contextmanager
def _locked(path: Path, *, create: bool = True) -> Generator[None]:
    flags = os.O_RDONLY | os.O_CLOEXEC | (os.O_CREAT if create else 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        for left in reversed(range(int(LOCK_SECONDS / _LOOK))):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not left:
                    raise
                time.sleep(_LOOK)
        yield
    finally:
        os.close(descriptor)
