"""Sessions in the state database: what was said, so that a later process can go on with it.

What a session holds stands there in plain text, arguments and results included, readable by the
person alone (0600). How long, how many and how much is bounded; what goes beyond is removed when
the next session begins, the one that was longest not used first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from lockgate.showing import quoted
from lockgate.stores.session_journal import Place, SessionAbout, SessionGone, SessionJournal
from lockgate.stores.session_lock import lock_session
from lockgate.stores.state import StateDatabase, StateError

_ABOUT: Final = msgspec.json.Decoder(SessionAbout)
_UNREADABLE: Final = (msgspec.DecodeError, ValueError)

SHORTEST: Final = 6
"""Characters of the beginning of an id that may stand for it."""


class SessionKeeping(msgspec.Struct, frozen=True):
    """How much is kept of the sessions of one state directory."""

    age: float | None = 30 * 86_400.0
    """Seconds after it was last used; None: no bound."""
    count: int = 200
    size: int = 256 * 1024**2
    """Bytes of the messages of all, and so of one."""


@dataclass(frozen=True, slots=True)
class KeptSession:
    """One session, as it is listed."""

    id: str = field(repr=False)
    about: SessionAbout
    created: float
    """Unix time."""
    used: float
    """Unix time at which the last message was written."""
    size: int
    """Bytes of its messages."""
    messages: int
    first: bytes | None = field(default=None, repr=False)
    """The message it began with."""


class SqliteSessions:
    """The kept sessions of a state directory."""

    def __init__(
        self,
        state: StateDatabase,
        locks: Path,
        *,
        format: int,
        time: Callable[[], float],
        keeping: SessionKeeping | None = None,
    ) -> None:
        """`locks` is a directory for the locks of the sessions that are open; `format` the number
        of the way in which messages are written."""
        self._state = state
        self._keeping = keeping or SessionKeeping()
        self._place = Place(state, locks, format, time, self._keeping.size)
        # What is removed is overwritten in the file, too.
        state.rows("PRAGMA secure_delete = ON")

    def begin(self, session: str, about: SessionAbout) -> SessionJournal:
        """The journal of a new session, of an id that no other has or had."""
        return SessionJournal(self._place, session, about, self._make_room)

    def reopen(self, session: str, about: SessionAbout) -> SessionJournal:
        """The journal of a kept session, held until it is closed.

        Raises `SessionGone` for one that is not there, was made at another place than `about` says,
        or is open, in this process or another; `StateError` for one that can not be read.
        """
        self._at_home(session, about)
        lock = lock_session(self._place.locks, session)
        if lock is None:
            raise SessionGone(
                f"the session {session[:12]} is open elsewhere: end it there, or begin another one"
            )
        try:
            self._at_home(session, about)  # it may have been removed until now
            return SessionJournal.of_kept(self._place, session, about, lock)
        except BaseException:
            lock.free()
            raise

    def kept(self) -> tuple[KeptSession, ...]:
        """All of them, the one that was used last first. Raises `StateError` if one can not be
        read."""
        return self._kept(None)

    def _kept(self, session: str | None) -> tuple[KeptSession, ...]:
        """The one of that id; with None all."""
        rows = self._state.rows(
            "SELECT id, about, created, used, size,"
            " (SELECT count(*) FROM messages WHERE session = id),"
            " (SELECT body FROM messages WHERE session = id AND place = 0)"
            " FROM sessions WHERE ?1 IS NULL OR id = ?1 ORDER BY used DESC, created DESC, id",
            session,
        )
        return tuple(KeptSession(row[0], self._about(row[1]), *row[2:]) for row in rows)

    def last(self, about: SessionAbout) -> str | None:
        """The id of the one that was used last of those made where `about` says; None: there is
        none."""
        rows = self._state.rows(
            "SELECT id, about FROM sessions ORDER BY used DESC, created DESC, id"
        )
        here = about.place()
        return next((id for id, body in rows if self._about(body).place() == here), None)

    def ids(self) -> tuple[str, ...]:
        """The id of each, also of one that can not be read."""
        return tuple(row[0] for row in self._state.rows("SELECT id FROM sessions"))

    def find(self, beginning: str) -> KeptSession:
        """The one whose id begins so. Raises `SessionGone` if there is none, or more than one."""
        found = [id for id in self.ids() if id.startswith(beginning)]
        exact = [id for id in found if id == beginning]
        if len(beginning) < SHORTEST and not exact:
            raise SessionGone(f"give at least {SHORTEST} characters of a session's id")
        if len(exact or found) != 1:
            many = "more than one session begins" if found else "there is no session that begins"
            raise SessionGone(f"{many} with {quoted(beginning)}; see: lockgate sessions list")
        for one in self._kept((exact or found)[0]):
            return one
        raise SessionGone(f"the session {quoted(beginning)} was removed just now")

    def messages(self, session: str) -> tuple[bytes, ...]:
        """What was said in it. Raises `SessionGone`, and `StateError` for a later format."""
        self._row(session)
        rows = self._state.rows(
            "SELECT body FROM messages WHERE session = ? ORDER BY place", session
        )
        return tuple(row[0] for row in rows)

    def remove(self, sessions: Iterable[str]) -> frozenset[str]:
        """Remove what was said in them and the answers given for them; returns which were removed.

        One that is open stays. A call that waits for an answer for it alone ends as a no. Records
        of calls and open unknowns are not the session's, and stay.
        """
        removed = frozenset(one for one in sessions if self._remove(one, ends_calls=True))
        # Out of the write-ahead log as well, unless another process reads there just now.
        self._state.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed

    def unreadable(self, error: Exception) -> StateError:
        """The error for a message that is none."""
        return self._state.unreadable("a message of a session", error)

    def answered(self, ticket: str, result: bytes) -> None:
        """A call that waited under `ticket` has its result: for the sessions that wait for it."""
        with self._state.writing() as connection:
            connection.execute(
                "UPDATE waiting_calls SET result = ? WHERE ticket = ? AND result IS NULL",
                (result, ticket),
            )

    def waits_again(self, ticket: str, later: str) -> None:
        """A call that waited under `ticket` waits under another one."""
        with self._state.writing() as connection:
            connection.execute(
                "UPDATE waiting_calls SET ticket = ? WHERE ticket = ? AND result IS NULL",
                (later, ticket),
            )

    def awaited(self, ticket: str) -> bool:
        """Whether a kept session waits for the result of this ticket's call."""
        query = "SELECT 1 FROM waiting_calls WHERE ticket = ? AND result IS NULL"
        return bool(self._state.rows(query, ticket))

    def _at_home(self, session: str, about: SessionAbout) -> None:
        made = self._row(session)
        if made.place() == about.place():
            return
        if made.project != about.project:
            what = f"in {quoted(made.project)}, and this is {quoted(about.project)}"
        elif made.files != about.files:
            named = ", ".join(map(quoted, made.files)) or "no file"
            what = f"with {named} as its configuration"
        else:
            what = f"by {made.runtime}, and this is {about.runtime}"
        raise SessionGone(f"the session {session[:12]} was made {what}: go on with it there")

    def _row(self, session: str) -> SessionAbout:
        query = "SELECT about, format FROM sessions WHERE id = ?"
        rows = self._state.rows(query, session) if session.isascii() else []
        if not rows:
            raise SessionGone(
                f"there is no session {quoted(session[:40])}; see: lockgate sessions list"
            )
        about, written = rows[0]
        if written > self._place.format:
            error = ValueError(f"its messages have format {written}")
            raise self._state.unreadable("a session", error)
        return self._about(about)

    def _about(self, body: bytes) -> SessionAbout:
        try:
            return _ABOUT.decode(body)
        except _UNREADABLE as error:
            then = "; lockgate sessions remove --all removes it"
            raise self._state.unreadable("a session", error, then) from error

    def _remove(self, session: str, *, ends_calls: bool = False) -> bool:
        if not self._state.rows("SELECT 1 FROM sessions WHERE id = ?", session):
            return False
        lock = lock_session(self._place.locks, session)
        if lock is None:
            return False
        try:
            with self._state.writing() as connection:
                if ends_calls:
                    # The arguments of what waits were said in the session, too.
                    connection.execute(
                        "UPDATE tickets SET answered = ?, approved = 0,"
                        " approver = 'removal of its session', body = '' WHERE answered IS NULL"
                        " AND id IN (SELECT ticket FROM waiting_calls WHERE session = ?)"
                        " AND id NOT IN (SELECT ticket FROM waiting_calls WHERE session <> ?)",
                        (self._place.time(), session, session),
                    )
                connection.execute("DELETE FROM sessions WHERE id = ?", (session,))
                connection.execute("DELETE FROM grants WHERE session = ?", (session,))
        finally:
            lock.free()
        return True

    def _make_room(self) -> None:
        """Remove what is beyond the bounds, now that one more begins."""
        keeping, total = self._keeping, 0
        oldest = None if keeping.age is None else self._place.time() - keeping.age
        rows = self._state.rows("SELECT id, used, size FROM sessions ORDER BY used DESC, id")
        for number, (session, used, size) in enumerate(rows, 2):
            total += size
            aged = oldest is not None and used < oldest
            if aged or number > keeping.count or total > keeping.size:
                self._remove(session)
