"""What the chain of the audit log shows: every change to a closed segment, and what it can not."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.stores.audit import AuditLog, Keeping
from lockgate.stores.audit_verify import SegmentState, Verification, verify
from lockgate.stores.chain import Head, parse_head

MakeLog: TypeAlias = Callable[..., AuditLog]
Decided: TypeAlias = Callable[..., DecisionRecord]
Ended: TypeAlias = Callable[..., OutcomeRecord]
Closed: TypeAlias = tuple[Path, bytes]


@pytest.fixture(scope="session")
def closed(
    tmp_path_factory: pytest.TempPathFactory, audit_log: MakeLog, decided: Decided, ended: Ended
) -> Closed:
    """A directory with one closed segment of eight records, and the segment's bytes."""
    directory = tmp_path_factory.mktemp("closed") / "audit"
    log = audit_log(directory)
    for number in range(4):
        log.decision(decided(f"c{number}"))
        log.outcome(ended(f"c{number}"))
    log.close()
    assert log.path is not None
    return log.path, log.path.read_bytes()


def verified(closed: Closed, data: bytes, key: bytes) -> Verification:
    """What is found of a copy of the directory in which the segment holds `data`."""
    path, _ = closed
    with tempfile.TemporaryDirectory() as place:
        directory = shutil.copytree(path.parent, Path(place) / "audit")
        (directory / path.name).write_bytes(data)
        return verify(directory, key)


def test_what_was_written_holds(closed: Closed, audit_key: bytes) -> None:
    """A closed segment that nobody touched is ok, with all of its lines."""
    found = verified(closed, closed[1], audit_key)
    assert found.holds
    assert [(s.state, s.lines, s.faults) for s in found.segments] == [(SegmentState.OK, 9, ())]
    assert found.head is not None
    assert parse_head(str(found.head)) == found.head


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_changed_byte_shows(closed: Closed, audit_key: bytes, data: st.DataObject) -> None:
    """Whichever byte of a closed segment is replaced by whichever other."""
    whole = closed[1]
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != whole[place]))
    changed = whole[:place] + bytes([byte]) + whole[place + 1 :]
    assert not verified(closed, changed, audit_key).holds


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_removed_lines_show(closed: Closed, audit_key: bytes, data: st.DataObject) -> None:
    """Whichever lines are taken out, the first and the last among them."""
    lines = closed[1].splitlines(keepends=True)
    gone = data.draw(st.sets(st.integers(0, len(lines) - 1), min_size=1))
    left = b"".join(line for number, line in enumerate(lines) if number not in gone)
    assert not verified(closed, left, audit_key).holds


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_other_order_shows(closed: Closed, audit_key: bytes, data: st.DataObject) -> None:
    """However the lines are moved."""
    lines = closed[1].splitlines(keepends=True)
    order = data.draw(st.permutations(lines).filter(lambda p: p != lines))
    assert not verified(closed, b"".join(order), audit_key).holds


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_cut_tail_shows(closed: Closed, audit_key: bytes, data: st.DataObject) -> None:
    """Wherever the end is cut off, in the middle of a line too."""
    size = data.draw(st.integers(0, len(closed[1]) - 1))
    assert not verified(closed, closed[1][:size], audit_key).holds


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_repeated_line_shows(closed: Closed, audit_key: bytes, data: st.DataObject) -> None:
    """A record can not be put in a second time."""
    lines = closed[1].splitlines(keepends=True)
    lines.insert(data.draw(st.integers(0, len(lines))), data.draw(st.sampled_from(lines)))
    assert not verified(closed, b"".join(lines), audit_key).holds


def test_each_fault_is_told_with_its_line(closed: Closed, audit_key: bytes) -> None:
    """Altered, missing, moved, cut off and added: in words, with the number of the line."""
    lines = closed[1].splitlines(keepends=True)
    cases = {
        "line 3 was altered": [*lines[:2], lines[2].replace(b'"isError":false', b'"isError":true '),
                               *lines[3:]],
        "before line 3 a line is missing": lines[:2] + lines[3:],
        "before line 3 2 lines are missing": lines[:2] + lines[4:],
        "line 4 is out of its order": [*lines[:2], lines[3], lines[2], *lines[4:]],
        "its end is cut off: 2 lines are missing": lines[:-2],
        "line 1, which begins a segment, is missing": lines[1:],
        "line 4 was altered: it is no record of this chain": [*lines[:3], b"{}\n", *lines[3:]],
    }  # fmt: skip
    for fault, left in cases.items():
        [segment] = verified(closed, b"".join(left), audit_key).segments
        assert fault in segment.faults


def test_an_altered_line_does_not_spoil_the_next(closed: Closed, audit_key: bytes) -> None:
    """One changed line is one fault, whether its content or its MAC was changed."""
    lines = closed[1].splitlines(keepends=True)
    mac = lines[4][-35:-3]
    for line in (lines[4].replace(mac, mac[::-1]), lines[4].replace(b'"e"', b'"u"')):
        assert line != lines[4]
        [segment] = verified(closed, b"".join([*lines[:4], line, *lines[5:]]), audit_key).segments
        assert segment.faults == ("line 5 was altered",)


def test_another_key_is_told(closed: Closed) -> None:
    """Under another key nothing is said of the lines: the key is named as unknown."""
    found = verify(closed[0].parent, bytes(32))
    assert not found.holds
    assert found.faults[0].startswith("unknown key")
    assert [s.faults[0][:11] for s in found.segments] == ["unknown key"]


def test_a_deleted_or_renamed_segment_shows(
    closed: Closed, audit_key: bytes, tmp_path: Path
) -> None:
    """The list knows which segments there are, and a segment its own name."""
    directory = shutil.copytree(closed[0].parent, tmp_path / "audit")
    path = directory / closed[0].name
    other = path.rename(path.with_name(path.name.replace("abcdefgh", "stranger")))
    found = {s.segment: s.faults for s in verify(directory, audit_key).segments}
    assert found[path.name] == ("is listed, and the file is missing",)
    assert found[other.name] == (
        "is another segment under this name",
        "is not in the list of segments",
    )


def test_a_lost_or_shortened_list_shows(closed: Closed, audit_key: bytes, tmp_path: Path) -> None:
    """Without the list nothing is vouched for; a cut end of it shows against a noted head."""
    directory = shutil.copytree(closed[0].parent, tmp_path / "audit")
    head = verify(directory, audit_key).head
    assert head is not None
    heads = directory / "heads"
    lines = heads.read_bytes().splitlines(keepends=True)
    heads.write_bytes(b"".join(lines[:-1]))
    # Without the note this is what a crash leaves.
    cut = verify(directory, audit_key)
    assert cut.holds
    assert [s.state for s in cut.segments] == [SegmentState.UNCLOSED]
    assert not verify(directory, audit_key, head).holds
    heads.write_bytes(b"".join([lines[0], *lines[2:]]))
    assert not verify(directory, audit_key).holds
    heads.unlink()
    assert "the list of them is missing" in verify(directory, audit_key).faults[0]


def test_a_noted_head_holds_while_the_list_grows(
    tmp_path: Path, audit_log: MakeLog, audit_key: bytes, decided: Decided
) -> None:
    """What was noted once stays true; another number or MAC is not."""
    first = audit_log(tmp_path)
    first.decision(decided("c"))
    first.close()
    noted = verify(tmp_path, audit_key).head
    assert noted is not None
    second = audit_log(tmp_path, "another1")
    second.decision(decided("c"))
    second.close()
    assert verify(tmp_path, audit_key, noted).holds
    assert not verify(tmp_path, audit_key, Head(noted.seq, "0" * 32)).holds
    assert not verify(tmp_path, audit_key, Head(99, noted.mac)).holds


def test_an_open_segment_is_told_from_one_that_was_left(
    tmp_path: Path, audit_log: MakeLog, audit_key: bytes, decided: Decided
) -> None:
    """While it is written it is open; when its writer is gone without a word, unclosed."""
    log = audit_log(tmp_path)
    log.decision(decided("c"))
    [segment] = verify(tmp_path, audit_key).segments
    assert segment.state is SegmentState.OPEN
    assert log.path is not None
    with log.path.open("ab") as file:
        file.write(b'{"half a rec')
    child = os.fork()
    if not child:
        # A writer that ends without closing: its locks end with it.
        other = audit_log(tmp_path, "another1")
        other.decision(decided("c"))
        os._exit(0)
    os.waitpid(child, 0)
    states = {s.segment: s.state for s in verify(tmp_path, audit_key).segments}
    assert sorted(states.values()) == [SegmentState.OPEN, SegmentState.UNCLOSED]
    log.close()
    assert verify(tmp_path, audit_key).holds


def test_the_next_segment_vouches_for_the_one_before(
    tmp_path: Path, audit_log: MakeLog, audit_key: bytes, decided: Decided
) -> None:
    """The chain goes on over a rotation: the end of a segment shows in its successor too."""
    log = audit_log(tmp_path, keeping=Keeping(max_bytes=1))
    for number in range(3):
        log.decision(decided(f"c{number}"))
    log.close()
    assert verify(tmp_path, audit_key).holds
    second = next(path for path in tmp_path.iterdir() if ".2." in path.name)
    second.write_bytes(second.read_bytes().splitlines(keepends=True)[0])
    found = {s.segment: s.faults for s in verify(tmp_path, audit_key).segments}
    assert found[second.name] == ("its end is cut off: 1 line is missing",)


def test_an_empty_directory_holds(tmp_path: Path) -> None:
    """No calls, no log, nothing broken."""
    assert verify(tmp_path / "none", bytes(32)) == Verification((), (), None)
