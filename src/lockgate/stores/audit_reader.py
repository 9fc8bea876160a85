"""Reading the audit log back: each decision with what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.errors import Fate
from lockgate.stores.audit import SUFFIX
from lockgate.tools.result import ErrorKind

_DECODER: Final = msgspec.json.Decoder(DecisionRecord | OutcomeRecord)


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


def read_calls(directory: Path) -> AuditReading:
    """Read every segment in `directory`; one that does not exist holds no calls.

    Raises OSError for what can not be opened.
    """
    calls: list[AuditedCall] = []
    faults: list[str] = []
    for segment in sorted(directory.glob(f"*{SUFFIX}")):
        calls.extend(_read_segment(segment, faults))
    calls.sort(key=lambda call: call.decision.time)
    return AuditReading(tuple(calls), tuple(faults))


def _read_segment(segment: Path, faults: list[str]) -> Iterator[AuditedCall]:
    """The calls of one segment. Ids pair within a segment: it is one process, and a call that
    goes on in another has a decision of its own there."""
    running: dict[tuple[str, str], list[DecisionRecord]] = {}
    with segment.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                record = _DECODER.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                what = "is cut short" if not line.endswith(b"\n") else "can not be read"
                faults.append(f"{segment.name}:{number} {what}")
                continue
            if isinstance(record, OutcomeRecord):
                started = running.get((record.execution, record.call))
                if not started:
                    faults.append(f"{segment.name}:{number} is an outcome without a decision")
                    continue
                yield AuditedCall(started.pop(0), record, segment)
            elif record.decision == "run":
                running.setdefault((record.execution, record.call), []).append(record)
            else:
                yield AuditedCall(record, None, segment)
    for left in running.values():
        for record in left:
            yield AuditedCall(record, None, segment)
