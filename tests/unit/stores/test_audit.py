"""The audit log: every record leaves the process whole, or the call is not made."""

from __future__ import annotations

import os
import resource
import signal
import stat
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from lockgate.calls.records import DecisionRecord, OutcomeRecord, ReasonRecord
from lockgate.errors import LocalError
from lockgate.stores.audit import KEY_BYTES, AuditLog, digest_key
from lockgate.stores.audit_reader import read_calls

NOON = 1_800_000_000.0


def a_log(directory: Path, name: str = "abcdefgh") -> AuditLog:
    """A log that writes to `directory`."""
    return AuditLog(directory, time=lambda: NOON, new_id=lambda: name)


def decided(call: str, decision: str = "run", time: float = NOON) -> DecisionRecord:
    """A decision about `call`."""
    return msgspec.convert(
        {
            "record": "decision",
            "call": call,
            "time": time,
            "entry": "test",
            "execution": "e",
            "tool": "t",
            "decision": decision,
            "reasons": [{"code": "exempt", "text": "because"}],
            "argumentsDigest": "d",
            "kind": None if decision == "run" else "denied",
        },
        DecisionRecord,
    )


def ended(call: str, fate: str = "answered") -> OutcomeRecord:
    """The outcome of `call`."""
    return OutcomeRecord(call, NOON, False, fate, 0.5, 1, execution="e")


@pytest.mark.req("B-02")
def test_each_record_is_one_line_that_is_there_at_once(tmp_path: Path) -> None:
    """When the call returns, another process can read the record: nothing is buffered here."""
    log = a_log(tmp_path / "audit")
    log.decision(decided("c1"))
    assert log.path is not None
    lines = log.path.read_bytes().splitlines()
    assert [msgspec.json.decode(line)["record"] for line in lines] == ["decision"]
    log.outcome(ended("c1"))
    assert len(log.path.read_bytes().splitlines()) == 2
    log.close()


def test_the_segment_is_private_and_its_own(tmp_path: Path) -> None:
    """0600 in a directory of 0700, named by day, process and a random word."""
    log, other = a_log(tmp_path / "audit"), a_log(tmp_path / "audit", "ijklmnop")
    for each in (log, other):
        each.decision(decided("c1"))
        each.close()
    assert log.path is not None
    assert log.path.name == f"20270115-{os.getpid()}-abcdefgh.jsonl"
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700
    assert len(list(log.path.parent.iterdir())) == 2


def test_a_process_without_calls_leaves_no_segment(tmp_path: Path) -> None:
    """The segment is made with its first record."""
    log = a_log(tmp_path / "audit")
    log.close()
    assert list(tmp_path.iterdir()) == []


def test_a_segment_is_never_written_over(tmp_path: Path) -> None:
    """A name that is taken is an error, not an overwritten file."""
    first = a_log(tmp_path)
    first.decision(decided("c1"))
    with pytest.raises(FileExistsError):
        a_log(tmp_path).decision(decided("c2"))
    first.close()


@pytest.mark.req("B-02")
def test_a_directory_that_can_not_be_made_is_tried_again(tmp_path: Path) -> None:
    """An unwritable place raises for each record; once it is mended the log goes on."""
    place = tmp_path / "audit"
    place.write_text("a file in the way")
    log = a_log(place)
    for _ in range(2):
        with pytest.raises(OSError, match=r"exists|directory"):
            log.decision(decided("c1"))
    place.unlink()
    log.decision(decided("c1"))
    log.close()
    assert len(read_calls(place).calls) == 1


@pytest.mark.req("B-02")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_directory_raises(tmp_path: Path) -> None:
    """A directory without write permission raises for the first record."""
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        a_log(tmp_path).decision(decided("c1"))


@pytest.mark.req("B-02")
def test_a_full_disk_raises(tmp_path: Path) -> None:
    """A device that takes no byte raises, and the error is the system's own."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")

    class Full(AuditLog):
        def _open(self) -> int:
            return os.open(full, os.O_WRONLY)

    log = Full(tmp_path, time=lambda: NOON, new_id=lambda: "x")
    with pytest.raises(OSError, match="No space left"):
        log.decision(decided("c1"))
    log.close()


@pytest.mark.req("B-02")
def test_a_descriptor_that_was_closed_behind_its_back_raises(tmp_path: Path) -> None:
    """If somebody else closed the file, the record did not leave, and that is said."""
    log = a_log(tmp_path)
    log.decision(decided("c1"))
    assert log.path is not None
    for link in list(Path("/proc/self/fd").iterdir()):
        if os.path.realpath(link) == str(log.path):
            os.close(int(link.name))
    with pytest.raises(OSError, match="descriptor"):
        log.outcome(ended("c1"))


def test_half_a_record_does_not_spoil_the_next(tmp_path: Path) -> None:
    """A write that was cut short raises; the next record starts on a line of its own."""
    log = a_log(tmp_path)
    log.decision(decided("c1"))
    log.outcome(ended("c1"))
    assert log.path is not None
    size = log.path.stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))
    try:
        with pytest.raises(OSError, match="10 of"):
            log.decision(decided("c2"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    log.decision(decided("c3"))
    log.close()
    reading = read_calls(tmp_path)
    assert [call.decision.call for call in reading.calls] == ["c1", "c3"]
    assert len(reading.faults) == 1


def test_using_it_after_closing_is_a_misuse(tmp_path: Path) -> None:
    """A closed log takes no record; closing twice is fine."""
    log = a_log(tmp_path)
    log.decision(decided("c1"))
    log.close()
    log.close()
    with pytest.raises(LocalError):
        log.decision(decided("c2"))


@pytest.mark.req("B-02")
def test_a_decision_without_outcome_reads_as_unknown(tmp_path: Path) -> None:
    """A run that has no outcome is outcome_unknown; a refusal needs none."""
    log = a_log(tmp_path)
    log.decision(decided("c1"))
    log.outcome(ended("c1"))
    log.decision(decided("c2"))
    log.decision(decided("c3", "refuse"))
    log.close()
    found = {call.decision.call: (call.kind, call.fate) for call in read_calls(tmp_path).calls}
    assert found == {
        "c1": (None, "answered"),
        "c2": ("outcome_unknown", "unknown"),
        "c3": ("denied", "not_sent"),
    }


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_cut_last_line_loses_that_record_alone(tmp_path: Path, cut: int) -> None:
    """A crash in the middle of a write leaves half a line: everything before it is read."""
    log = a_log(tmp_path)
    log.decision(decided("c1"))
    log.outcome(ended("c1"))
    log.decision(decided("c2"))
    log.close()
    assert log.path is not None
    log.path.write_bytes(log.path.read_bytes()[:-cut])
    reading = read_calls(tmp_path)
    assert reading.calls[0].outcome is not None
    if cut == 1:
        assert len(reading.calls) == 2
    else:
        assert len(reading.calls) == 1
        assert "cut short" in reading.faults[0]


def test_what_can_not_be_read_is_told_with_its_place(tmp_path: Path) -> None:
    """A foreign line, and an outcome nobody decided, are faults with file and line."""
    log = a_log(tmp_path)
    log.decision(decided("c1"))
    log.outcome(ended("c9"))
    log.close()
    assert log.path is not None
    with log.path.open("ab") as file:
        file.write(b'{"record": "something else"}\n\xff\xfe\n\n')
    reading = read_calls(tmp_path)
    assert len(reading.calls) == 1
    assert [fault.split(" ", 1)[0].rsplit(":", 1)[1] for fault in reading.faults] == ["2", "3", "4"]


def test_ids_pair_within_one_process_and_execution(tmp_path: Path) -> None:
    """An id that another process or execution used as well is another call."""
    one, two = a_log(tmp_path, "one"), a_log(tmp_path, "two")
    one.decision(decided("c1"))
    two.decision(decided("c1"))
    two.outcome(ended("c1"))
    one.close()
    two.close()
    fates = sorted(call.fate for call in read_calls(tmp_path).calls)
    assert fates == ["answered", "unknown"]


def test_calls_come_by_time(tmp_path: Path) -> None:
    """Segments are merged in the order in which things were decided."""
    one, two = a_log(tmp_path, "one"), a_log(tmp_path, "two")
    one.decision(decided("c1", time=3.0))
    two.decision(decided("c2", time=2.0))
    two.outcome(ended("c2"))
    one.outcome(ended("c1"))
    one.close()
    two.close()
    assert [call.decision.call for call in read_calls(tmp_path).calls] == ["c2", "c1"]


def test_no_directory_no_calls(tmp_path: Path) -> None:
    """Where nothing was ever written there is nothing to read."""
    reading = read_calls(tmp_path / "nowhere")
    assert (reading.calls, reading.faults) == ((), ())


def test_a_record_reads_back_as_it_was_written(tmp_path: Path) -> None:
    """Reasons with their sources, and every other field, survive the file."""
    record = msgspec.structs.replace(
        decided("c1", "refuse"),
        reasons=(ReasonRecord("deny_rule", "the deny rule t matches", "lockgate.yaml:3"),),
        approver="terminal",
        approved=False,
    )
    log = a_log(tmp_path)
    log.decision(record)
    log.close()
    assert read_calls(tmp_path).calls[0].decision == record


@dataclass
class Dice:
    """Random bytes that a test knows."""

    asked: int = 0

    def __call__(self, count: int) -> bytes:
        """`count` bytes, others each time."""
        self.asked += 1
        return bytes([self.asked]) * count


def test_the_key_of_digests_is_made_once(tmp_path: Path) -> None:
    """The key is random, private, and the same for every process that follows."""
    path = tmp_path / "state" / "audit.key"
    dice = Dice()
    key = digest_key(path, dice)
    assert len(key) == KEY_BYTES
    assert digest_key(path, dice) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["audit.key"]


def test_a_key_of_the_wrong_size_is_an_error(tmp_path: Path) -> None:
    """A file that holds no key is not replaced: digests of before would mean nothing."""
    path = tmp_path / "audit.key"
    path.write_bytes(b"short")
    with pytest.raises(LocalError, match="no key"):
        digest_key(path, Dice())
    assert path.read_bytes() == b"short"


@pytest.mark.req("B-02")
def test_text_that_is_no_unicode_is_kept_as_an_escape(tmp_path: Path) -> None:
    """Half a surrogate pair, wherever it stands, keeps no record from being written."""
    log = a_log(tmp_path / "audit")
    odd = "a\udcff"
    plain = decided("c1")
    log.decision(
        msgspec.structs.replace(
            plain, tool=odd, approver=odd, reasons=(ReasonRecord(odd, odd, source=odd),)
        )
    )
    log.outcome(msgspec.structs.replace(ended("c1"), reason=odd))
    log.close()
    assert log.path is not None
    first, second = map(msgspec.json.decode, log.path.read_bytes().splitlines())
    assert first["record"] == "decision"
    assert first["tool"] == first["approver"] == first["reasons"][0]["text"] == "a\\udcff"
    assert second["reason"] == "a\\udcff"
    assert len(read_calls(tmp_path / "audit").calls) == 1
