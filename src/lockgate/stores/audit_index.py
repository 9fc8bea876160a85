"""A copy of the audit log that can be searched: made from the segments, and made anew from them.

It lies beside them as `index.db` and may be deleted at any time. It is no evidence: `verify` looks
at the segments alone. It is not a part of the state database, which must not be lost and is not to
grow with every call.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.stores.audit_reader import AuditedCall, AuditReading, Wanted, parse_record, read_calls
from lockgate.stores.segments import SegmentName, segments_in

FILE: Final = "index.db"
FORMAT: Final = 1
"""`user_version` of the file; another number is another layout, and it is made anew."""
BUSY_SECONDS: Final = 30.0
"""How long a reader waits for another that brings the index up to date."""
FROM_BYTES: Final = 16 * 1024 * 1024
"""Of all segments: below, reading them all is as quick as looking into the index."""

_TABLES: Final = (
    "CREATE TABLE segments (name TEXT PRIMARY KEY, seen INTEGER NOT NULL)",
    """
    CREATE TABLE calls (
        id INTEGER PRIMARY KEY,
        run TEXT NOT NULL,
        execution TEXT NOT NULL,
        call_id TEXT NOT NULL,
        time REAL NOT NULL,
        tool TEXT NOT NULL,
        decision TEXT NOT NULL,
        session TEXT,
        kind TEXT,
        segment TEXT NOT NULL,
        decided BLOB NOT NULL,
        ended BLOB
    )
    """,
    "CREATE INDEX calls_by_id ON calls (call_id, execution, run)",
    "CREATE INDEX calls_by_time ON calls (time)",
    "CREATE INDEX calls_by_segment ON calls (segment)",
)
_ENCODER: Final = msgspec.json.Encoder()


def find_calls(
    directory: Path, wanted: Wanted, limit: int | None = None, *, index_from: int = FROM_BYTES
) -> AuditReading:
    """The last `limit` calls that are wanted, by time; all of them without a limit.

    A log of `index_from` bytes or more is looked up in its index, which is brought up to date
    before; one that can not be kept (a directory that is not ours to write) is done without.
    Faults are told only where all segments are read. Raises OSError.
    """
    size = sum(path.stat().st_size for _, path in segments_in(directory))
    if size >= index_from:
        try:
            return AuditReading(_Index(directory).find(wanted, limit), ())
        except (sqlite3.OperationalError, OSError):
            # Nothing that is told depends on the copy: read what it was made of.
            pass
        except sqlite3.DatabaseError:
            (directory / FILE).unlink(missing_ok=True)  # damaged: the next one makes it anew
    reading = read_calls(directory)
    found = tuple(call for call in reading.calls if wanted.takes(call))
    if limit is not None:
        found = found[len(found) - min(limit, len(found)) :]
    return AuditReading(found, reading.faults)


@dataclass(frozen=True, slots=True)
class _Index:
    """The index of one directory."""

    directory: Path

    def find(self, wanted: Wanted, limit: int | None) -> tuple[AuditedCall, ...]:
        """Bring it up to date and ask it. Raises OSError and sqlite3.Error."""
        with self._opened() as connection:
            self._update(connection)
            words, values = _where(wanted)
            query = f"SELECT decided, ended, segment FROM calls{words} ORDER BY time DESC, id DESC"  # noqa: S608 - words of ours; values are bound
            if limit is not None:
                query += f" LIMIT {int(limit)}"
            rows = connection.execute(query, values).fetchall()
        found: list[AuditedCall] = []
        for decided, ended, segment in reversed(rows):
            decision, outcome = parse_record(decided), parse_record(ended or b"")
            if isinstance(decision, DecisionRecord):
                last = outcome if isinstance(outcome, OutcomeRecord) else None
                found.append(AuditedCall(decision, last, self.directory / segment))
        return tuple(found)

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        path = self.directory / FILE
        path.touch(0o600)
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as opened:
            yield opened

    def _update(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if connection.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
                self._make(connection)
            seen: dict[str, int] = dict(connection.execute("SELECT name, seen FROM segments"))
            found = list(segments_in(self.directory))
            sizes = {name.file: path.stat().st_size for name, path in found}
            if any(sizes.get(file, size) < size for file, size in seen.items()):
                # What was read is there no more: somebody has been at the files.
                self._make(connection)
                seen = {}
            for file in seen.keys() - sizes.keys():
                connection.execute("DELETE FROM segments WHERE name = ?", (file,))
                connection.execute("DELETE FROM calls WHERE segment = ?", (file,))
            for name, path in found:
                if sizes[name.file] > seen.get(name.file, 0):
                    self._read(connection, name, path, seen.get(name.file, 0))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _make(self, connection: sqlite3.Connection) -> None:
        for table in ("segments", "calls"):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {FORMAT}")

    def _read(
        self, connection: sqlite3.Connection, name: SegmentName, path: Path, seen: int
    ) -> None:
        with path.open("rb") as file:
            file.seek(seen)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                seen += len(line)
                record = parse_record(line)
                if isinstance(record, DecisionRecord):
                    connection.execute(
                        "INSERT INTO calls (run, execution, call_id, time, tool, decision, session,"
                        " kind, segment, decided) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        (
                            name.run,
                            record.execution,
                            record.call,
                            record.time,
                            record.tool,
                            record.decision,
                            record.session,
                            record.kind,
                            name.file,
                            _ENCODER.encode(record),
                        ),
                    )
                elif isinstance(record, OutcomeRecord):
                    connection.execute(
                        "UPDATE calls SET ended = ?, kind = ? WHERE id = (SELECT id FROM calls"
                        " WHERE call_id = ? AND execution = ? AND run = ? AND decision = 'run'"
                        " AND ended IS NULL ORDER BY id LIMIT 1)",
                        (
                            _ENCODER.encode(record),
                            record.kind,
                            record.call,
                            record.execution,
                            name.run,
                        ),
                    )
        connection.execute(
            "INSERT INTO segments VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seen = ?",
            (name.file, seen, seen),
        )


def _where(wanted: Wanted) -> tuple[str, tuple[Any, ...]]:
    kind = "CASE WHEN decision = 'run' AND ended IS NULL THEN 'outcome_unknown' ELSE kind END = ?"
    conditions = [
        ("tool GLOB ?", wanted.tool),
        ("decision = ?", wanted.decision),
        (kind, wanted.kind),
        ("session = ?", wanted.session),
        ("time >= ?", wanted.since),
    ]
    words = [word for word, value in conditions if value is not None]
    values = [value for _, value in conditions if value is not None]
    if wanted.call is not None:
        words.append("substr(call_id, 1, ?) = ?")
        values += [len(wanted.call), wanted.call]
    return (f" WHERE {' AND '.join(words)}" if words else ""), tuple(values)
