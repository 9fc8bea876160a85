"""Searching the audit log: the index tells what reading everything tells."""

from __future__ import annotations

import itertools
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.stores.audit import AuditLog, Keeping
from lockgate.stores.audit_follow import Follower
from lockgate.stores.audit_index import FILE, find_calls
from lockgate.stores.audit_reader import AuditedCall, Wanted

MakeLog: TypeAlias = Callable[..., AuditLog]
Decided: TypeAlias = Callable[..., DecisionRecord]
Ended: TypeAlias = Callable[..., OutcomeRecord]

TOOLS = ("add_tag", "mcp__git__git_log", "mcp__git__git_reset")
WANTED = st.builds(
    Wanted,
    tool=st.sampled_from([None, *TOOLS, "mcp__git__*", "*log"]),
    decision=st.sampled_from([None, "run", "refuse", "suspend"]),
    kind=st.sampled_from([None, "denied", "outcome_unknown", "timeout"]),
    session=st.sampled_from([None, "s1", "s2"]),
    call=st.sampled_from([None, "c1", "c", "c_"]),
    since=st.sampled_from([None, 3.0, 8.0]),
)
ACTION = st.tuples(
    st.sampled_from(["run", "refuse", "suspend", "end", "fail"]),
    st.integers(0, 2),
    st.sampled_from(TOOLS),
    st.sampled_from(["s1", "s2", None]),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(ACTION, max_size=8), min_size=1, max_size=3), WANTED, st.integers(0, 9))
def test_the_index_agrees_with_the_segments(
    audit_log: MakeLog,
    decided: Decided,
    ended: Ended,
    rounds: list[list[tuple[str, int, str, str | None]]],
    wanted: Wanted,
    limit: int,
) -> None:
    """Whatever was written and whatever is asked for, between any two looks at it."""
    time = itertools.count(1.0)
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        log = audit_log(directory, keeping=Keeping(max_bytes=1500))
        for actions in rounds:
            for action, number, tool, session in actions:
                if action in ("end", "fail"):
                    log.outcome(ended(f"c{number}"))
                else:
                    log.decision(
                        decided(f"c{number}", action, time=next(time), tool=tool, session=session)
                    )
            read = find_calls(directory, wanted, limit).calls
            assert find_calls(directory, wanted, limit, index_from=0).calls == read
            every = find_calls(directory, wanted).calls
            assert find_calls(directory, wanted, index_from=0).calls == every
            assert every[len(every) - len(read) :] == read
        log.close()


def test_a_spoiled_index_is_made_anew_or_done_without(
    tmp_path: Path, audit_log: MakeLog, decided: Decided
) -> None:
    """It is a copy: what is wrong with it changes no answer."""
    log = audit_log(tmp_path)
    log.decision(decided("c1"))
    log.close()
    wanted = Wanted()
    assert len(find_calls(tmp_path, wanted, index_from=0).calls) == 1
    index = tmp_path / FILE
    assert index.stat().st_mode & 0o777 == 0o600
    index.write_bytes(b"no database at all" * 100)
    assert len(find_calls(tmp_path, wanted, index_from=0).calls) == 1
    assert not index.exists()
    with sqlite3.connect(index) as other:
        other.execute("PRAGMA user_version = 99")
    other.close()
    assert len(find_calls(tmp_path, wanted, index_from=0).calls) == 1
    index.unlink()
    index.mkdir()
    assert len(find_calls(tmp_path, wanted, index_from=0).calls) == 1


def test_what_is_gone_is_forgotten(tmp_path: Path, audit_log: MakeLog, decided: Decided) -> None:
    """A segment that was deleted or cut is no longer found in the index either."""
    paths: list[Path] = []
    for name in ("one", "two"):
        log = audit_log(tmp_path, name)
        log.decision(decided(name))
        log.decision(decided(f"{name}-2"))
        log.close()
        assert log.path is not None
        paths.append(log.path)
    assert len(find_calls(tmp_path, Wanted(), index_from=0).calls) == 4
    paths[0].unlink()
    lines = paths[1].read_bytes().splitlines(keepends=True)
    paths[1].write_bytes(b"".join(lines[:-1]))
    [left] = find_calls(tmp_path, Wanted(), index_from=0).calls
    assert left.decision.call == "two"


@pytest.mark.req("B-02")
def test_a_follower_tells_each_decision_and_each_outcome(
    tmp_path: Path, audit_log: MakeLog, decided: Decided, ended: Ended
) -> None:
    """From when it was made, over a rotation, and a call that ran already has its decision."""
    log = audit_log(tmp_path, keeping=Keeping(max_bytes=900))
    log.decision(decided("c1"))
    follower = Follower(tmp_path)
    assert list(follower.news()) == []
    log.decision(decided("c2", "refuse"))
    log.decision(decided("c3"))
    log.outcome(ended("c1"))
    log.outcome(ended("c3"))

    def told(call: AuditedCall) -> tuple[str, str, bool]:
        return call.decision.call, call.decision.decision, call.outcome is not None

    assert sorted(map(told, follower.news())) == [
        ("c1", "run", True),
        ("c2", "refuse", False),
        ("c3", "run", False),
        ("c3", "run", True),
    ]
    assert list(follower.news()) == []
    log.close()
