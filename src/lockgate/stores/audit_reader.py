"""Reading the audit log back: each decision with what came of it."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from lockgate.calls.records import AskedRecord, DecisionRecord, OutcomeRecord
from lockgate.errors import Fate
from lockgate.stores.segments import SegmentRecord, segments_in
from lockgate.tools.result import ErrorKind

Record: TypeAlias = AskedRecord | DecisionRecord | OutcomeRecord | SegmentRecord

_DECODER: Final = msgspec.json.Decoder(Record)


@dataclass(frozen=True, slots=True)
class AuditedCall:
    """One decision and its outcome. A call that was suspended and resumed has two of them."""

    decision: DecisionRecord
    outcome: OutcomeRecord | None
    segment: Path

    @property
    def kind(self) -> str | None:
        """The error kind. A call that was to run and has no outcome is `outcome_unknown`: the
        process ended in the middle of it, or is still at it (B-02)."""
        if self.outcome is not None:
            return self.outcome.kind
        if self.decision.decision == "run":
            return ErrorKind.OUTCOME_UNKNOWN.value
        return self.decision.kind

    @property
    def fate(self) -> str:
        """What is known of what was sent; `unknown` for a run without outcome."""
        if self.outcome is not None:
            return self.outcome.fate
        return (Fate.UNKNOWN if self.decision.decision == "run" else Fate.NOT_SENT).value


@dataclass(frozen=True, slots=True)
class AuditReading:
    """What was found in a directory of segments."""

    calls: tuple[AuditedCall, ...]
    """By time of their decision."""
    faults: tuple[str, ...]
    """Lines that could not be read and outcomes without a decision, each with its place. The cut
    last line of a segment, which a crash or a full disk leaves, is among them."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which calls are looked for; each None asks nothing."""

    tool: str | None = None
    """A name, or a pattern with `*`."""
    decision: str | None = None
    kind: str | None = None
    session: str | None = None
    call: str | None = None
    """An id, or how one begins."""
    since: float | None = None
    """Unix time."""

    def takes(self, call: AuditedCall) -> bool:
        """Whether `call` is one of them."""
        decided = call.decision
        return (
            (self.tool is None or fnmatch.fnmatchcase(decided.tool, self.tool))
            and self.decision in (None, decided.decision)
            and self.kind in (None, call.kind)
            and self.session in (None, decided.session)
            and (self.call is None or decided.call.startswith(self.call))
            and (self.since is None or decided.time >= self.since)
        )


@dataclass(slots=True)
class _Run:
    """What one process wrote. Ids pair within it: a call that goes on in another process has a
    decision of its own there."""

    running: dict[tuple[str, str], list[tuple[DecisionRecord, Path]]] = field(
        default_factory=dict[tuple[str, str], list[tuple[DecisionRecord, Path]]]
    )
    headless: bool = False
    """Its first segments are gone, kept long enough: outcomes may lack their decisions."""


def read_calls(directory: Path) -> AuditReading:
    """Read every segment in `directory`; one that does not exist holds no calls.

    Raises OSError for what can not be opened.
    """
    calls: list[AuditedCall] = []
    faults: list[str] = []
    runs: dict[str, _Run] = {}
    for name, segment in segments_in(directory):
        run = runs.get(name.run)
        if run is None:
            run = runs[name.run] = _Run(headless=name.part > 1)
        calls.extend(_read_segment(segment, run, faults))
    for run in runs.values():
        for left in run.running.values():
            calls.extend(AuditedCall(decision, None, segment) for decision, segment in left)
    calls.sort(key=lambda call: call.decision.time)
    return AuditReading(tuple(calls), tuple(faults))


def asked_in(call: AuditedCall) -> tuple[AskedRecord, ...]:
    """What the server asked in a call, in order, as far as it stands in the same segment.

    Raises OSError.
    """
    with call.segment.open("rb") as lines:
        found = [parse_record(line) for line in lines if b'"asked"' in line]
    id = call.decision.call
    return tuple(
        record for record in found if isinstance(record, AskedRecord) and record.call == id
    )


def parse_record(line: bytes) -> Record | None:
    """The record of one line; None if it is none."""
    try:
        return _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _read_segment(segment: Path, run: _Run, faults: list[str]) -> Iterator[AuditedCall]:
    with segment.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            record = parse_record(line)
            if record is None:
                what = "is cut short" if not line.endswith(b"\n") else "can not be read"
                faults.append(f"{segment.name}:{number} {what}")
            elif isinstance(record, OutcomeRecord):
                started = run.running.get((record.execution, record.call))
                if started:
                    decision, place = started.pop(0)
                    yield AuditedCall(decision, record, place)
                elif not run.headless:
                    faults.append(f"{segment.name}:{number} is an outcome without a decision")
            elif isinstance(record, DecisionRecord):
                if record.decision == "run":
                    key = (record.execution, record.call)
                    run.running.setdefault(key, []).append((record, segment))
                else:
                    yield AuditedCall(record, None, segment)
