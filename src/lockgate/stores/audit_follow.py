"""Watching an audit log grow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.stores.audit_reader import AuditedCall, parse_record
from lockgate.stores.segments import SegmentName, segments_in


class Follower:
    """Tells what was written since it was asked last: each decision, then again with its outcome.

    A call that is running has no outcome yet; here that does not mean that nobody knows it.
    """

    def __init__(self, directory: Path) -> None:
        """It begins with what is written from now on."""
        self._directory = directory
        self._seen: dict[str, int] = {}
        self._running: dict[tuple[str, str, str], list[AuditedCall]] = {}
        for _ in self.news():
            pass

    def news(self) -> Iterator[AuditedCall]:
        """What is new, segment by segment. Raises OSError."""
        for name, path in segments_in(self._directory):
            seen = self._seen.get(name.file, 0)
            if path.stat().st_size <= seen:
                continue
            with path.open("rb") as file:
                file.seek(seen)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    seen += len(line)
                    call = self._call(name, path, line)
                    if call is not None:
                        yield call
            self._seen[name.file] = seen

    def _call(self, name: SegmentName, path: Path, line: bytes) -> AuditedCall | None:
        record = parse_record(line)
        if isinstance(record, DecisionRecord):
            call = AuditedCall(record, None, path)
            if record.decision == "run":
                self._runs(name, record).append(call)
            return call
        if isinstance(record, OutcomeRecord):
            key = (name.run, record.execution, record.call)
            started = self._running.get(key)
            if started:
                call = started.pop(0)
                if not started:
                    del self._running[key]
                return AuditedCall(call.decision, record, path)
        return None

    def _runs(self, name: SegmentName, record: DecisionRecord) -> list[AuditedCall]:
        return self._running.setdefault((name.run, record.execution, record.call), [])
