"""The audit log: one line of JSON for each record, one file at a time for each process.

A record has *left the process* when `write` has returned: it is in the kernel's hands and outlives
a crash of this process, a SIGKILL included. It is not synced to the disk: a sync costs between a
tenth and ten milliseconds, many times the call it would guard, and what a power failure can take
is the end of the log, where a decision without outcome reads as outcome unknown anyway.

Each process writes segments of its own, so no two writers meet in one file, and a segment is made
with its first record, so a process that makes no call leaves none. Its lines are chained
(`stores.chain`), the segments of a directory are listed (`stores.heads`).
"""

from __future__ import annotations

import datetime
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from lockgate.calls.records import AskedRecord, DecisionRecord, OutcomeRecord
from lockgate.errors import LocalError
from lockgate.showing import visible
from lockgate.stores.chain import Chain, Sealer
from lockgate.stores.heads import Heads, Write, take_back, whole_write
from lockgate.stores.segments import (
    VERSION,
    Predecessor,
    SegmentName,
    SegmentRecord,
    hold,
    segments_in,
)
from lockgate.stores.state import private_directory

KEY_BYTES: Final = 32
DAY: Final = 86_400.0

_ENCODER: Final = msgspec.json.Encoder()
_encode_into: Final = _ENCODER.encode_into
_log: Final = logging.getLogger("lockgate.stores")


@dataclass(frozen=True, slots=True)
class Keeping:
    """When a segment gives way to the next, and how long it is kept."""

    max_bytes: int = 64 * 1024 * 1024
    """A segment of that size or more takes no further record."""
    max_age: float = DAY
    """Seconds after its first record; the next record begins another."""
    keep: float | None = 90 * DAY
    """Seconds after its last record, when it may be deleted; None: never. A process looks when it
    closes a segment, which no call waits for, and never deletes one that somebody writes."""


class AuditLog:
    """The `calls.records.Ledger` on disk. Its owner closes it.

    A segment that can not be made is tried again with the next record, so a disk that was full
    for a while does not end the log. What was written of a record that did not fit is taken back.
    """

    def __init__(
        self,
        directory: Path,
        *,
        key: bytes,
        time: Callable[[], float],
        new_id: Callable[[], str],
        keeping: Keeping | None = None,
        write: Write = os.write,
    ) -> None:
        """`directory` holds the segments; `key` (16 to 64 bytes) is that of the chain; `time` is
        Unix time; `new_id` keeps two processes with one number apart (its first 8 characters are
        used, `[A-Za-z0-9_-]`)."""
        self._directory = directory
        self._sealer = Sealer(key)
        self._heads = Heads(directory, self._sealer, time)
        self._time = time
        self._new_id = new_id
        self._keeping = keeping or Keeping()
        self._max_bytes = self._keeping.max_bytes
        self._writer = write
        self._chain = Chain(self._sealer)
        self._name: SegmentName | None = None
        self._descriptor: int | None = None
        self._line = bytearray()
        """The record that is being written: one piece of memory for all of them."""
        self._size = 0
        self._until = 0.0
        self._spoiled = False
        self._closed = False

    @property
    def path(self) -> Path | None:
        """The segment that is written; None before the first record."""
        return None if self._name is None else self._directory / self._name.file

    def close(self) -> None:
        """Close the segment, note where it ended, and delete what was kept long enough.

        Idempotent; a record afterwards is a `LocalError`. What fails is logged."""
        self._closed = True
        if self._descriptor is not None and self._name is not None:
            descriptor, self._descriptor = self._descriptor, None
            self._finish(self._name, descriptor)
            self._remove_old(self._time())

    def _append(self, record: AskedRecord | DecisionRecord | OutcomeRecord) -> None:
        """Write one record. See `calls.records.Ledger` and `calls.records.Questions`."""
        line = self._line
        try:
            _encode_into(record, line)
        except UnicodeEncodeError:
            # Text that is no Unicode (half a surrogate pair) is kept as an escape: a call that
            # could not be written down would leave no trace.
            line[:] = _ENCODER.encode(_writable(msgspec.to_builtins(record)))
        descriptor = self._descriptor
        if descriptor is None or self._spoiled:
            descriptor = self._begin()
        elif self._size >= self._max_bytes or self._time() >= self._until:
            descriptor = self._next(descriptor)
        chain = self._chain
        mac, size = chain.seal_in(line), len(line)
        try:
            written = self._writer(descriptor, line)
            if written != size:
                take_back(descriptor, written, size)
        except OSError:
            # Half a line that could not be taken back: nothing may follow it in that file.
            self._spoiled = True
            self._spoiled = os.fstat(descriptor).st_size != self._size
            raise
        chain.take(mac)
        self._size += size

    # The same for each kind: a method in between is paid twice by every call.
    decision = outcome = asked = _append

    def _next(self, descriptor: int) -> int:
        """Go on in another segment; in this one if there is no place for another."""
        try:
            return self._begin()
        except OSError as error:
            _log.warning("no new audit segment could be begun: %s", type(error).__name__)
            return descriptor

    def _begin(self) -> int:
        """Make the next segment, list it, close the one before. Raises OSError; all is then as
        it was."""
        if self._closed:
            raise LocalError("the audit log was used after it was closed")
        private_directory(self._directory)
        now = self._time()
        before, old = self._name, self._descriptor
        name = self._named(now)
        previous, chain = None, Chain(self._sealer)
        if before is not None:
            head = self._chain.head
            previous = Predecessor(before.file, head.seq, head.mac)
            chain = Chain(self._sealer, head)
        first = SegmentRecord(
            VERSION, name.file, now, os.getpid(), self._sealer.key_id, previous=previous
        )
        line, mac = chain.seal(_ENCODER.encode(first))
        descriptor = self._heads.opened(name.file, lambda: self._make(name, line))
        chain.take(mac)
        self._chain, self._name, self._descriptor = chain, name, descriptor
        self._size, self._until, self._spoiled = len(line), now + self._keeping.max_age, False
        if before is not None and old is not None and previous is not None:
            self._finish(before, old, previous)
            self._remove_old(now)
        return descriptor

    def _named(self, now: float) -> SegmentName:
        day = datetime.datetime.fromtimestamp(now, datetime.UTC).strftime("%Y%m%d")
        if self._name is None:
            return SegmentName(f"{os.getpid()}-{self._new_id()[:8]}", 1, day)
        return SegmentName(self._name.run, self._name.part + 1, day)

    def _make(self, name: SegmentName, line: bytes) -> int:
        path = self._directory / name.file
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        try:
            hold(descriptor)
            whole_write(descriptor, line, self._writer)
        except BaseException:
            os.close(descriptor)
            path.unlink()
            raise
        return descriptor

    def _finish(self, name: SegmentName, descriptor: int, at: Predecessor | None = None) -> None:
        head = self._chain.head
        seq, mac = (head.seq, head.mac) if at is None else (at.seq, at.mac)
        try:
            self._heads.closed(name.file, msgspec.structs.replace(head, seq=seq, mac=mac))
            _log.info("audit segment %s closed at %d:%s", name.file, seq, mac)
        except OSError as error:
            _log.warning("the end of an audit segment was not noted: %s", type(error).__name__)
        try:
            os.close(descriptor)
        except OSError as error:  # somebody else closed it: there is nothing left to close
            _log.warning("an audit segment was closed already: %s", type(error).__name__)

    def _remove_old(self, now: float) -> None:
        if self._keeping.keep is None:
            return
        try:
            old = expired(self._directory, now - self._keeping.keep)
            if old:
                gone = self._heads.remove(old)
                _log.info("%d audit segments were kept long enough and deleted", len(gone))
        except OSError as error:
            _log.warning("old audit segments were not deleted: %s", type(error).__name__)


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _writable(held) for key, held in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_writable(held) for held in cast("list[Any]", value)]
    return value


def expired(directory: Path, before: float) -> list[str]:
    """Segments whose last record is older than Unix time `before`."""
    day = datetime.datetime.fromtimestamp(max(0.0, before), datetime.UTC).strftime("%Y%m%d")
    return [
        path.name
        for name, path in segments_in(directory)
        if name.day <= day and path.stat().st_mtime < before
    ]


def kept_key(path: Path, new: Callable[[int], bytes]) -> bytes:
    """A key in a file of its own (0600), made if there is none: of the digests in records, of the
    chain of records.

    `new` makes that many random bytes. Raises OSError if it can not be kept, and `LocalError` for
    a file that holds no key.
    """
    private_directory(path.parent)
    if not path.exists():
        key = new(KEY_BYTES)
        fresh = path.with_name(f"{path.name}.{os.getpid()}.{new(4).hex()}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, key)
            # A link appears whole or not at all, and never replaces another process's key.
            path.hardlink_to(fresh)
        except FileExistsError:
            pass
        finally:
            os.close(descriptor)
            fresh.unlink()
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        where = visible(str(path))
        raise LocalError(f"{where} holds no key of {KEY_BYTES} bytes; remove it to get a new one")
    return key
