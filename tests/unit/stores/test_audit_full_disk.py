"""A disk that is full, that refuses, and that comes back: no half a record, and the log goes on."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeAlias

import pytest

from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.stores.audit import AuditLog
from lockgate.stores.audit_reader import read_calls
from lockgate.stores.audit_verify import verify

MakeLog: TypeAlias = Callable[..., AuditLog]
Decided: TypeAlias = Callable[..., DecisionRecord]
Ended: TypeAlias = Callable[..., OutcomeRecord]


class Disk:
    """Stands in for `os.write`: takes `room` bytes, then says that it is full."""

    def __init__(self) -> None:
        self.room: int | None = None
        """None: as much as comes."""
        self.stuck = False
        """Whether half a line can not be taken back either."""

    def write(self, descriptor: int, data: bytes) -> int:
        if self.room is None:
            return os.write(descriptor, data)
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        part, self.room = data[: self.room], self.room - len(data[: self.room])
        written = os.write(descriptor, part)
        if self.stuck:
            # A descriptor that can only be read: truncating it fails.
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
            other = os.open(path, os.O_RDONLY)
            os.dup2(other, descriptor)
            os.close(other)
        return written


@pytest.mark.req("B-02")
@pytest.mark.parametrize("room", [0, 1, 100])
def test_a_full_disk_raises_and_recovers(
    tmp_path: Path, audit_log: MakeLog, audit_key: bytes, decided: Decided, room: int
) -> None:
    """However much of the record still fitted: it raises, and nothing of it stays. With space
    back the next record is written and the chain has no gap."""
    disk = Disk()
    log = audit_log(tmp_path, write=disk.write)
    log.decision(decided("c1"))
    disk.room = room
    for _ in range(2):
        with pytest.raises(OSError, match=r"No space left|bytes of a record"):
            log.decision(decided("c2"))
    disk.room = None
    log.decision(decided("c3"))
    log.close()
    reading = read_calls(tmp_path)
    assert [call.decision.call for call in reading.calls] == ["c1", "c3"]
    assert reading.faults == ()
    assert verify(tmp_path, audit_key).holds


@pytest.mark.req("B-02")
@pytest.mark.parametrize("room", [0, 20])
def test_a_disk_that_is_full_from_the_start(
    tmp_path: Path, audit_log: MakeLog, audit_key: bytes, decided: Decided, room: int
) -> None:
    """A segment that can not be begun leaves nothing behind, and is begun when there is space."""
    disk = Disk()
    disk.room = room
    log = audit_log(tmp_path, write=disk.write)
    for _ in range(2):
        with pytest.raises(OSError, match=r"No space left|bytes of a record"):
            log.decision(decided("c1"))
    assert list(tmp_path.glob("*.jsonl")) == []
    disk.room = None
    log.decision(decided("c2"))
    log.close()
    assert verify(tmp_path, audit_key).holds


@pytest.mark.req("B-02")
def test_half_a_line_that_stays_ends_the_segment(
    tmp_path: Path, audit_log: MakeLog, audit_key: bytes, decided: Decided, ended: Ended
) -> None:
    """If it can not be taken back, the log goes on in another segment, and only the record that
    was refused is lost."""
    disk = Disk()
    log = audit_log(tmp_path, write=disk.write)
    log.decision(decided("c1"))
    disk.room, disk.stuck = 50, True
    with pytest.raises(OSError):  # noqa: PT011 - which error depends on the file system
        log.decision(decided("c2"))
    disk.room, disk.stuck = None, False
    log.outcome(ended("c1"))
    log.close()
    reading = read_calls(tmp_path)
    assert [(call.decision.call, call.fate) for call in reading.calls] == [("c1", "answered")]
    assert [fault.split(" ", 1)[1] for fault in reading.faults] == ["is cut short"]
    assert verify(tmp_path, audit_key).holds


@pytest.mark.req("B-02")
def test_a_limit_of_the_system_raises_and_recovers(
    tmp_path: Path, audit_log: MakeLog, audit_key: bytes, decided: Decided
) -> None:
    """The real write, cut short by the real kernel (RLIMIT_FSIZE)."""
    log = audit_log(tmp_path)
    log.decision(decided("c1"))
    assert log.path is not None
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.path.stat().st_size + 10, before[1]))
    try:
        with pytest.raises(OSError, match="10 of"):
            log.decision(decided("c2"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    log.decision(decided("c3"))
    log.close()
    assert [call.decision.call for call in read_calls(tmp_path).calls] == ["c1", "c3"]
    assert verify(tmp_path, audit_key).holds


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A real file system of 64 KiB; skipped where none may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("mounting needs root")
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)],
        capture_output=True,
        timeout=10,
        check=False,
    )
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], timeout=10, check=True)


@pytest.mark.req("B-02")
def test_a_real_full_disk(
    small_disk: Path, audit_log: MakeLog, audit_key: bytes, decided: Decided
) -> None:
    """Filled to the last byte by others: refused; when they make room: written."""
    log = audit_log(small_disk / "audit")
    log.decision(decided("c1"))
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(bytes(1024 * 1024))
    refused = 0
    for number in range(20):
        try:
            log.decision(decided(f"d{number}"))
        except OSError:
            refused += 1
    assert refused
    filler.unlink()
    log.decision(decided("c3"))
    log.close()
    reading = read_calls(small_disk / "audit")
    assert reading.faults == ()
    assert len(reading.calls) == 22 - refused
    assert verify(small_disk / "audit", audit_key).holds


@pytest.mark.req("B-02")
def test_a_read_only_disk(
    small_disk: Path, audit_log: MakeLog, audit_key: bytes, decided: Decided
) -> None:
    """Mounted read-only: each record raises; mounted for writing again: it is written."""
    log = audit_log(small_disk / "audit")

    def remount(how: str) -> None:
        command = ["mount", "-o", f"remount,{how}", str(small_disk)]
        subprocess.run(command, timeout=10, check=True)

    remount("ro")
    for _ in range(2):
        with pytest.raises(OSError, match="Read-only"):
            log.decision(decided("c1"))
    remount("rw")
    log.decision(decided("c2"))
    log.close()
    assert [call.decision.call for call in read_calls(small_disk / "audit").calls] == ["c2"]
    assert verify(small_disk / "audit", audit_key).holds
