"""The audit log: one line of JSON for each record, one file for each process, only ever appended.

A record has *left the process* when `write` has returned: it is in the kernel's hands and outlives
a crash of this process, a SIGKILL included. It is not synced to the disk: a sync costs between a
tenth and ten milliseconds, many times the call it would guard, and what a power failure can take
is the end of the log, where a decision without outcome reads as outcome unknown anyway.

Each process writes a segment of its own, so no two writers meet in one file, and a segment is
made with its first record, so a process that makes no call leaves none.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.errors import LocalError
from lockgate.stores.state import private_directory

SUFFIX: Final = ".jsonl"
KEY_BYTES: Final = 32

_ENCODER: Final = msgspec.json.Encoder()


class AuditLog:
    """The `calls.records.Ledger` on disk. Its owner closes it.

    A segment that can not be made is tried again with the next record, so a disk that was full
    for a while does not end the log.
    """

    def __init__(
        self, directory: Path, *, time: Callable[[], float], new_id: Callable[[], str]
    ) -> None:
        """`directory` holds the segments; `time` is Unix time; `new_id` keeps two processes with
        one number apart (its first 8 characters are used, `[A-Za-z0-9_-]`)."""
        self._directory = directory
        self._time = time
        self._new_id = new_id
        self._descriptor: int | None = None
        self._torn = False
        self._closed = False
        self.path: Path | None = None
        """The segment; None before the first record."""

    def decision(self, record: DecisionRecord) -> None:
        self._append(_encoded(record))

    def outcome(self, record: OutcomeRecord) -> None:
        self._append(_encoded(record))

    def close(self) -> None:
        """Close the segment. Idempotent; a record afterwards is a `LocalError`."""
        self._closed = True
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _append(self, line: bytes) -> None:
        if self._descriptor is None:
            self._descriptor = self._open()
        # A disk that fills up can take half a line. The next record then starts on a fresh one,
        # so that only the torn record is lost.
        data = b"\n" + line + b"\n" if self._torn else line + b"\n"
        written = os.write(self._descriptor, data)
        self._torn = written != len(data)
        if self._torn:
            raise OSError(f"only {written} of {len(data)} bytes of a record were written")

    def _open(self) -> int:
        if self._closed:
            raise LocalError("the audit log was used after it was closed")
        private_directory(self._directory)
        day = datetime.datetime.fromtimestamp(self._time(), datetime.UTC).strftime("%Y%m%d")
        path = self._directory / f"{day}-{os.getpid()}-{self._new_id()[:8]}{SUFFIX}"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        self.path = path
        return descriptor


def _encoded(record: DecisionRecord | OutcomeRecord) -> bytes:
    """One line. Text that is no Unicode (half a surrogate pair) is kept as an escape: a call that
    could not be written down would leave no trace."""
    try:
        return _ENCODER.encode(record)
    except UnicodeEncodeError:
        return _ENCODER.encode(_writable(msgspec.to_builtins(record)))


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _writable(held) for key, held in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_writable(held) for held in cast("list[Any]", value)]
    return value


def digest_key(path: Path, new: Callable[[int], bytes]) -> bytes:
    """The key of the digests in records, kept in a file of its own (0600), made if there is none.

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
        raise LocalError(f"{path} holds no key of {KEY_BYTES} bytes; remove it to get a new one")
    return key
