"""One kept session in the state database, for as long as this process goes on with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from lockgate.calls.waiting import Answered, Waiting
from lockgate.errors import LocalError
from lockgate.stores.session_lock import SessionLock, lock_session
from lockgate.stores.state import StateDatabase


class SessionAbout(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Where a session was made: it goes on nowhere else."""

    runtime: str
    """The deterministic id of its runtime."""
    project: str
    """The real directory of the project."""
    files: tuple[str, ...] = ()
    """The configuration files of the project that it was made with."""
    model: str = ""
    """By name; another one may go on with it."""

    def place(self) -> tuple[str, str, tuple[str, ...]]:
        """What has to be the same for going on."""
        return self.runtime, self.project, self.files


class SessionGone(LocalError):
    """There is no such session, it belongs to another project, or another process has it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where sessions are kept, and how much of each."""

    state: StateDatabase
    locks: Path
    format: int
    """The number of the way messages are written in."""
    time: Callable[[], float]
    limit: int
    """Bytes that the messages of one session may have."""


class SessionJournal:
    """Writes a session down. A new one is in the database from its first message on."""

    def __init__(
        self, place: Place, session: str, about: SessionAbout, before: Callable[[], None]
    ) -> None:
        """`before` is called before a new session is entered."""
        self._place = place
        self._session = session
        self._about = about
        self._before = before
        self._lock: SessionLock | None = None
        self._count = 0
        self._size = 0
        self._kept = False
        self._closed = False

    @classmethod
    def of_kept(
        cls, place: Place, session: str, about: SessionAbout, lock: SessionLock
    ) -> SessionJournal:
        """The journal of a session that is in the database; takes over its lock."""
        journal = cls(place, session, about, _nothing)
        journal._lock, journal._kept = lock, True
        rows = place.state.rows(
            "SELECT (SELECT count(*) FROM messages WHERE session = id), size"
            " FROM sessions WHERE id = ?",
            session,
        )
        journal._count, journal._size = rows[0]
        return journal

    def read(self) -> tuple[bytes, ...]:
        rows = self._place.state.rows(
            "SELECT body FROM messages WHERE session = ? ORDER BY place", self._session
        )
        return tuple(row[0] for row in rows)

    def write(self, messages: Sequence[bytes]) -> None:
        self._check()
        place, now, size = self._place, self._place.time(), sum(map(len, messages))
        if self._size + size > place.limit:
            raise LocalError(
                f"the session would hold over {place.limit:,} bytes (sessions.maxBytes): begin "
                "another one, or raise the bound"
            )
        new = not self._kept
        if new:
            self._take()
        with place.state.writing(synced=False) as connection:
            if new:
                connection.execute(
                    "INSERT INTO sessions (id, about, format, created, used, size)"
                    " VALUES (?, ?, ?, ?, ?, 0)",
                    (self._session, msgspec.json.encode(self._about), place.format, now, now),
                )
            changed = connection.execute(
                "UPDATE sessions SET used = ?, size = size + ? WHERE id = ?",
                (now, size, self._session),
            )
            if not changed.rowcount:
                raise SessionGone("the session was removed: begin another one")
            connection.executemany(
                "INSERT INTO messages (session, place, body) VALUES (?, ?, ?)",
                [(self._session, at, body) for at, body in enumerate(messages, self._count)],
            )
        self._kept = True
        self._count += len(messages)
        self._size += size

    def seen(self) -> bytes | None:
        query = "SELECT seen FROM sessions WHERE id = ?"
        rows = self._place.state.rows(query, self._session)
        return rows[0][0] if rows else None

    def note_seen(self, seen: bytes) -> None:
        self._change("UPDATE sessions SET seen = ? WHERE id = ?", [(seen, self._session)])

    def note_waiting(self, calls: Sequence[Waiting]) -> None:
        self._change(
            "INSERT OR REPLACE INTO waiting_calls (session, call_id, tool, ticket, result)"
            " VALUES (?, ?, ?, ?, ?)",
            [(self._session, c.call_id, c.tool, c.ticket, c.result) for c in calls],
        )

    def waiting(self) -> tuple[Waiting, ...]:
        rows = self._place.state.rows(
            "SELECT w.call_id, w.tool, w.ticket, w.result, t.answered, t.approved, t.expires"
            " FROM waiting_calls w LEFT JOIN tickets t ON t.id = w.ticket"
            " WHERE w.session = ? ORDER BY w.rowid",
            self._session,
        )
        now = self._place.time()
        return tuple(
            Waiting(call, tool, ticket, _answered(result, answered, approved, expires, now), result)
            for call, tool, ticket, result, answered, approved, expires in rows
        )

    def forget(self, calls: Sequence[Waiting]) -> None:
        self._change(
            "DELETE FROM waiting_calls WHERE session = ? AND call_id = ?",
            [(self._session, call.call_id) for call in calls],
        )

    def close(self) -> None:
        self._closed = True
        if self._lock is not None:
            self._lock.free()

    def _change(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Nothing of it is kept of a session in which nothing was said."""
        self._check()
        if self._kept and rows:
            with self._place.state.writing(synced=False) as connection:
                connection.executemany(statement, rows)

    def _take(self) -> None:
        self._before()
        if self._lock is None:
            self._lock = lock_session(self._place.locks, self._session)
        if self._lock is None:
            raise SessionGone("another process goes on with the session")

    def _check(self) -> None:
        if self._closed:
            raise LocalError("the session is closed; nothing more of it is written down")


def _answered(
    result: bytes | None,
    answered: float | None,
    approved: int | None,
    expires: float | None,
    now: float,
) -> Answered:
    if result is not None:
        return "result"
    if expires is None or approved:
        return "unknown"
    return "open" if answered is None and now < expires else "refused"


def _nothing() -> None:
    """What is done before a session is entered that is there already."""
