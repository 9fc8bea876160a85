"""When a segment gives way to the next, and when it is deleted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.stores.audit import DAY, AuditLog, Keeping
from lockgate.stores.audit_reader import read_calls
from lockgate.stores.audit_verify import verify
from lockgate.testing.clock import FakeClock

MakeLog: TypeAlias = Callable[..., AuditLog]
Decided: TypeAlias = Callable[..., DecisionRecord]
Ended: TypeAlias = Callable[..., OutcomeRecord]


def names(directory: Path) -> list[str]:
    """The segments by their words: what stands after the process's number."""
    return sorted(path.name.split("-", 2)[2] for path in directory.glob("*.jsonl"))


def test_a_full_segment_gives_way(
    tmp_path: Path, audit_log: MakeLog, audit_key: bytes, decided: Decided, ended: Ended
) -> None:
    """At `max_bytes` the next record begins another segment, and a call pairs across the two."""
    log = audit_log(tmp_path, keeping=Keeping(max_bytes=600))
    log.decision(decided("c1"))
    log.decision(decided("c2"))
    log.outcome(ended("c1"))
    log.outcome(ended("c2"))
    log.close()
    assert names(tmp_path) == ["abcdefgh.2.jsonl", "abcdefgh.jsonl"]
    reading = read_calls(tmp_path)
    assert [(call.decision.call, call.fate) for call in reading.calls] == [
        ("c1", "answered"),
        ("c2", "answered"),
    ]
    assert reading.faults == ()
    assert verify(tmp_path, audit_key).holds


def test_an_old_segment_gives_way(tmp_path: Path, audit_log: MakeLog, decided: Decided) -> None:
    """A record that comes `max_age` after the first begins another segment."""
    clock = FakeClock()
    log = audit_log(tmp_path, time=clock, keeping=Keeping(max_age=60))
    log.decision(decided("c1"))
    clock.advance(59)
    log.decision(decided("c2"))
    assert len(names(tmp_path)) == 1
    clock.advance(1)
    log.decision(decided("c3"))
    assert len(names(tmp_path)) == 2
    log.close()


def test_old_segments_are_deleted_and_listed_as_that(
    tmp_path: Path, audit_log: MakeLog, audit_key: bytes, decided: Decided
) -> None:
    """What was kept long enough goes when another segment is closed, and its absence is no
    fault."""
    clock = FakeClock()
    old = audit_log(tmp_path, "theold", time=clock)
    old.decision(decided("c1"))
    old.close()
    assert old.path is not None
    os.utime(old.path, (clock(), clock()))
    clock.advance(91 * DAY)
    new = audit_log(tmp_path, "thenew", time=clock)
    new.decision(decided("c2"))
    new.close()
    assert names(tmp_path) == ["thenew.jsonl"]
    assert verify(tmp_path, audit_key).holds


def test_an_open_segment_is_never_deleted(
    tmp_path: Path, audit_log: MakeLog, decided: Decided
) -> None:
    """However old it is; and nothing is deleted where all is kept."""
    clock = FakeClock()
    opened = audit_log(tmp_path, "theold", time=clock, keeping=Keeping(keep=None))
    opened.decision(decided("c1"))
    assert opened.path is not None
    os.utime(opened.path, (clock(), clock()))
    clock.advance(1000 * DAY)
    new = audit_log(tmp_path, "thenew", time=clock)
    new.decision(decided("c2"))
    new.close()
    assert len(names(tmp_path)) == 2
    opened.close()
    os.utime(opened.path, (0, 0))
    all_kept = audit_log(tmp_path, "keeper", time=clock, keeping=Keeping(keep=None))
    all_kept.decision(decided("c3"))
    all_kept.close()
    assert len(names(tmp_path)) == 3


def test_a_rotation_that_fails_goes_on_in_the_old_segment(
    tmp_path: Path, audit_log: MakeLog, audit_key: bytes, decided: Decided
) -> None:
    """No place for another segment is no reason to lose records while this one can be written."""
    log = audit_log(tmp_path, keeping=Keeping(max_bytes=1))
    log.decision(decided("c1"))
    in_the_way = tmp_path / names_next(log)
    in_the_way.mkdir()
    log.decision(decided("c2"))
    in_the_way.rmdir()
    log.decision(decided("c3"))
    log.close()
    assert [call.decision.call for call in read_calls(tmp_path).calls] == ["c1", "c2", "c3"]
    assert len(names(tmp_path)) == 2
    assert verify(tmp_path, audit_key).holds


def names_next(log: AuditLog) -> str:
    """What the segment after this one will be called."""
    if log.path is None:
        raise LookupError("no record was written yet")
    return f"{log.path.stem}.2.jsonl"
