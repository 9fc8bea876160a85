"""The answers of sessions in the state database, so that they hold wherever the session goes on."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from lockgate.policy.grants import Grant
from lockgate.stores.state import StateDatabase

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Grant)


class SqliteGrants:
    """The `policy.grants.GrantBook` that outlives the process.

    It reads what is there now, so an answer given or taken back elsewhere counts here at once.
    A session's id must be its own for ever: who reuses one inherits its answers.
    """

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def find(self, session: str, tool: str) -> tuple[Grant, ...]:
        query = "SELECT body FROM grants WHERE session = ? AND tool = ? ORDER BY id"
        rows = self._state.rows(query, session, tool)
        try:
            return tuple(_DECODER.decode(row[0]) for row in rows)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._state.unreadable("a grant", error) from error

    def remember(self, grant: Grant) -> None:
        with self._state.writing() as connection:
            add_grant(connection, grant)


def add_grant(connection: sqlite3.Connection, grant: Grant) -> None:
    """Write a grant down inside a transaction."""
    connection.execute(
        "INSERT INTO grants (session, tool, body) VALUES (?, ?, ?)",
        (grant.session, grant.tool, _ENCODER.encode(grant)),
    )
