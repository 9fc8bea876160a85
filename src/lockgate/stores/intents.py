"""Intents in the state database: what was about to be sent, and what nobody came back to say.

One row for each call that is resumed from a ticket, and one for each call that ended unknown. A
row without a fate was written by a process that has not finished the call: this one, which is
then still at it, or another, whose call counts as open until that process says otherwise.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from lockgate.calls.suspension import Intent, TicketGone
from lockgate.calls.unknowns import OpenUnknown
from lockgate.errors import Fate
from lockgate.stores.state import StateDatabase


@dataclass(frozen=True, slots=True)
class Standing:
    """An open unknown, as it is listed."""

    unknown: OpenUnknown
    ended: bool
    """False: the process that made the call has not said how it ended. It was killed, or it is
    still at it."""

    @property
    def id(self) -> str:
        """The word by which a person settles it: `u-` and 10 hexadecimal digits."""
        whole = f"{self.unknown.execution}\0{self.unknown.call_id}".encode()
        return f"u-{hashlib.sha256(whole).hexdigest()[:10]}"


class SqliteUnknowns:
    """The `calls.unknowns.UnknownBook` that outlives the process. Reads what is there now, so
    what another process leaves open, or closes, counts here at once."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def find(self, scope: str, tool: str) -> tuple[OpenUnknown, ...]:
        rows = self._state.rows(
            "SELECT execution, call_id, scope, tool, started FROM intents"
            " WHERE scope = ? AND tool = ? AND closed_by IS NULL AND NOT replayable"
            " AND (fate = 'unknown' OR (fate IS NULL AND owner <> ?))"
            " ORDER BY started, call_id",
            scope,
            tool,
            self._state.owner,
        )
        return tuple(OpenUnknown(*row) for row in rows)

    def standing(self) -> tuple[Standing, ...]:
        """Every open unknown, of all sessions and principals, oldest first."""
        rows = self._state.rows(
            "SELECT execution, call_id, scope, tool, started, fate FROM intents"
            " WHERE closed_by IS NULL AND NOT replayable"
            " AND (fate = 'unknown' OR (fate IS NULL AND owner <> ?))"
            " ORDER BY started, call_id",
            self._state.owner,
        )
        return tuple(Standing(OpenUnknown(*row[:5]), row[5] is not None) for row in rows)

    def open(self, unknown: OpenUnknown) -> None:
        with self._state.writing() as connection:
            connection.execute(
                "INSERT INTO intents"
                " (execution, call_id, scope, tool, replayable, started, owner, fate)"
                " VALUES (?, ?, ?, ?, 0, ?, ?, 'unknown')"
                " ON CONFLICT (execution, call_id)"
                " DO UPDATE SET fate = 'unknown', closed_by = NULL",
                (
                    unknown.execution,
                    unknown.call_id,
                    unknown.scope,
                    unknown.tool,
                    unknown.time,
                    self._state.owner,
                ),
            )

    def close(self, unknowns: Iterable[OpenUnknown], by: str) -> None:
        with self._state.writing() as connection:
            connection.executemany(
                "UPDATE intents SET closed_by = ? WHERE execution = ? AND call_id = ?",
                [(by, unknown.execution, unknown.call_id) for unknown in unknowns],
            )


def add_intent(connection: sqlite3.Connection, intent: Intent, owner: str) -> None:
    """Write an intent down inside a transaction. Raises `TicketGone` if its call has one: the
    key is the fence that no call passes twice."""
    unknown = intent.unknown
    try:
        connection.execute(
            "INSERT INTO intents (execution, call_id, scope, tool, replayable, started, owner)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                unknown.execution,
                unknown.call_id,
                unknown.scope,
                unknown.tool,
                intent.replayable,
                unknown.time,
                owner,
            ),
        )
    except sqlite3.IntegrityError as error:
        raise TicketGone(
            f"the call {unknown.call_id} was started before, under another ticket"
        ) from error


def finish_intent(connection: sqlite3.Connection, unknown: OpenUnknown, fate: Fate) -> None:
    """Note how the call of an intent ended."""
    connection.execute(
        "UPDATE intents SET fate = ? WHERE execution = ? AND call_id = ?",
        (fate.value, unknown.execution, unknown.call_id),
    )
