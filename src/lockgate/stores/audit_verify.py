"""Whether an audit log is as it was written: each segment, and the list of them.

What it finds without the key's help: nothing. With it: a line that was changed, added, moved or
taken out; the end of a closed segment cut off; a segment that was deleted, renamed or swapped.
What it can not find: what somebody did who has the key; the end cut off a segment that was never
closed, where a crash leaves the same; the end cut off the list together with what it lists, unless
a head of the list was noted elsewhere.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from lockgate.stores.chain import Head, Sealer, link_of, parse_head
from lockgate.stores.heads import parse_listed, read_list
from lockgate.stores.segments import SegmentRecord, is_written, segments_in

MAX_FAULTS: Final = 20
"""Faults that are told of one file; one is as good as a thousand."""

MAX_FIRST: Final = 4096
"""Bytes that the first line of a segment never reaches."""

_FIRST: Final = msgspec.json.Decoder(SegmentRecord)


class SegmentState(enum.StrEnum):
    """What is known of a segment."""

    OK = "ok"
    """Every line is as it was written, up to the end that was noted."""
    OPEN = "open"
    """As it was written so far; a process writes it now."""
    UNCLOSED = "unclosed"
    """As it was written, and its writer ended without closing it: nothing says where it ended."""
    BROKEN = "broken"
    """Something is not as it was written."""


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """What was found of one segment."""

    segment: str
    state: SegmentState
    lines: int
    """Lines that hold, its first line among them."""
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found of a directory."""

    segments: tuple[SegmentReport, ...]
    faults: tuple[str, ...]
    """Of the list of segments."""
    head: Head | None
    """Of the list, for noting elsewhere; None without a list that holds."""

    @property
    def holds(self) -> bool:
        """Whether nothing is broken."""
        whole = all(report.state is not SegmentState.BROKEN for report in self.segments)
        return whole and not self.faults


@dataclass(slots=True)
class _Checked:
    """A file's lines against its chain."""

    head: Head | None
    lines: int
    faults: list[str]
    known: dict[int, str]
    """Number to MAC of those lines that were asked for, if they hold."""

    def fault(self, text: str) -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(text)


def verify(directory: Path, key: bytes, noted: Head | None = None) -> Verification:
    """Check every segment in `directory` under `key`; a directory that is not there is empty.

    `noted` is a head of the list that was written down elsewhere: the list must still hold it.
    Raises OSError for what can not be read.
    """
    sealer = Sealer(key)
    found: list[tuple[str, Path, bool]] = []

    def look() -> None:
        for name, path in segments_in(directory):
            found.append((name.file, path, is_written(path)))

    data = read_list(directory, look)
    listed = _List(sealer, data, noted)
    firsts = {name: _first(path) for name, path, _ in found}
    for first in firsts.values():
        if first is not None and first.previous is not None and first.key == sealer.key_id:
            before = first.previous
            listed.ends.setdefault(before.segment, Head(before.seq, before.mac))
    done = [
        _report(name, _segment(sealer, name, path, firsts[name], listed), written, listed)
        for name, path, written in found
    ]
    gone = sorted(listed.opened - listed.removed - set(firsts))
    done += [
        SegmentReport(name, SegmentState.BROKEN, 0, ("is listed, and the file is missing",))
        for name in gone
    ]
    if data is None and found:
        listed.checked.fault("there are segments, and the list of them is missing")
    faults = tuple(listed.checked.faults)
    return Verification(tuple(done), faults, None if faults else listed.checked.head)


class _List:
    """The list of segments, checked, and what it says."""

    def __init__(self, sealer: Sealer, data: bytes | None, noted: Head | None) -> None:
        self.opened: set[str] = set()
        self.removed: set[str] = set()
        self.ends: dict[str, Head] = {}
        lines = (data or b"").split(b"\n")[:-1]
        first = parse_listed(lines[0]) if lines else None
        if first is not None and first.event == "key" and first.key != sealer.key_id:
            self.checked = _Checked(None, 0, [_other_key(first.key, sealer)], {})
        else:
            wanted = frozenset[int]() if noted is None else frozenset({noted.seq})
            self.checked = _check(lines, sealer, None, wanted)
        for line in lines:
            entry = parse_listed(line)
            if entry is None:
                continue
            if entry.event == "opened":
                self.opened.add(entry.segment)
            elif entry.event == "removed":
                self.removed.add(entry.segment)
            elif entry.event == "closed" and entry.at is not None:
                self.ends[entry.segment] = entry.at
        if noted is not None and self.checked.known.get(noted.seq) != noted.mac:
            self.checked.fault(
                f"the head that was noted is not in it: line {noted.seq} was cut off or replaced"
            )


def _segment(
    sealer: Sealer, name: str, path: Path, first: SegmentRecord | None, listed: _List
) -> _Checked:
    """One segment by itself."""
    if first is None:
        return _Checked(None, 0, ["line 1, which begins a segment, is missing"], {})
    if first.key != sealer.key_id:
        return _Checked(None, 0, [_other_key(first.key, sealer)], {})
    end = listed.ends.get(name)
    wanted = frozenset[int]() if end is None else frozenset({end.seq})
    checked = _check(path.read_bytes().split(b"\n")[:-1], sealer, first.start, wanted)
    if first.segment != name:
        checked.fault("is another segment under this name")
    return checked


def _report(name: str, checked: _Checked, written: bool, listed: _List) -> SegmentReport:
    """What is known of a segment, with what is noted of its end elsewhere."""
    if name not in listed.opened:
        checked.fault("is not in the list of segments")
    end = listed.ends.get(name)
    if end is not None and checked.head is not None:
        if checked.head.seq < end.seq:
            count = end.seq - checked.head.seq
            what = "1 line is" if count == 1 else f"{count} lines are"
            checked.fault(f"its end is cut off: {what} missing")
        elif checked.known.get(end.seq) != end.mac:
            checked.fault("its last line is not the one that was noted")
        elif checked.head.seq > end.seq:
            checked.fault("it goes on after the end that was noted")
    if checked.faults:
        state = SegmentState.BROKEN
    elif end is not None:
        state = SegmentState.OK
    else:
        state = SegmentState.OPEN if written else SegmentState.UNCLOSED
    return SegmentReport(name, state, checked.lines, tuple(checked.faults))


def _check(
    lines: list[bytes], sealer: Sealer, start: Head | None, wanted: frozenset[int]
) -> _Checked:
    """Every line against the one before it; the MACs of the `wanted` numbers are kept.

    After a fault it goes on from what the line itself says, so that each fault is told by itself.
    """
    seq = 0 if start is None else start.seq
    before = {b"" if start is None else bytes.fromhex(start.mac)}
    checked = _Checked(start, 0, [], {})
    for number, line in enumerate(lines, 1):
        link = link_of(line)
        if link is None:
            checked.fault(f"line {number} was altered: it is no record of this chain")
            seq += 1
            before = set[bytes]()
            continue
        macs = {sealer.mac(mac, link.covered) for mac in before}
        said = bytes.fromhex(link.mac)
        fits = said in macs or not before
        if link.seq == seq + 1 and fits:
            checked.lines += 1
            if link.seq in wanted:
                checked.known[link.seq] = link.mac
        elif link.seq > seq + 1:
            missing = link.seq - seq - 1
            what = "a line is" if missing == 1 else f"{missing} lines are"
            checked.fault(f"before line {number} {what} missing")
        elif link.seq <= seq:
            checked.fault(f"line {number} is out of its order")
        else:
            checked.fault(f"line {number} was altered")
        seq = link.seq
        # An altered line's own MAC may be the altered part: the next line fits one of the two.
        before = {said} | macs
        checked.head = Head(link.seq, link.mac)
    return checked


def _first(path: Path) -> SegmentRecord | None:
    """The first line of a segment; None if it is none."""
    with path.open("rb") as file:
        line = file.readline(MAX_FIRST)
    try:
        record = _FIRST.decode(line) if line.endswith(b"\n") else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if record is None or record.start is None:
        return record
    return record if parse_head(str(record.start)) is not None else None


def _other_key(key: str, sealer: Sealer) -> str:
    return f"unknown key: it was written under {key[:16]!r}, this one is {sealer.key_id}"
