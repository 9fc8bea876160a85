"""The answers of sessions in the state database, so that they hold wherever the session goes on."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass
from typing import Final

import msgspec

from lockgate.policy.grants import Grant
from lockgate.stores.state import StateDatabase

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Grant)


@dataclass(frozen=True, slots=True)
class KeptGrant:
    """One remembered answer, and the word by which it is taken back."""

    id: str
    """10 hexadecimal digits, of this grant alone: a later one never gets them."""
    grant: Grant


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

    def kept(self) -> tuple[KeptGrant, ...]:
        """Everything that is remembered, for all sessions, oldest first."""
        rows = self._state.rows("SELECT id, body FROM grants ORDER BY id")
        try:
            return tuple(KeptGrant(_handle(*row), _DECODER.decode(row[1])) for row in rows)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._state.unreadable("a grant", error) from error

    def revoke(self, ids: frozenset[str] | None) -> frozenset[str]:
        """Forget those grants, or with None all of them; returns which were there.

        Also such as can not be read. Every process with this database asks again from its next
        call on.
        """
        with self._state.writing() as connection:
            rows = connection.execute("SELECT id, body FROM grants").fetchall()
            gone = {_handle(*row): row[0] for row in rows if ids is None or _handle(*row) in ids}
            connection.executemany(
                "DELETE FROM grants WHERE id = ?", [(row,) for row in gone.values()]
            )
        return frozenset(gone)


def _handle(row: int, body: bytes | str) -> str:
    # The number of a deleted row is given to a later one; the content tells the two apart.
    content = body.encode() if isinstance(body, str) else body
    return hashlib.sha256(b"%d:%s" % (row, content)).hexdigest()[:10]


def add_grant(connection: sqlite3.Connection, grant: Grant) -> None:
    """Write a grant down inside a transaction."""
    connection.execute(
        "INSERT INTO grants (session, tool, body) VALUES (?, ?, ?)",
        (grant.session, grant.tool, _ENCODER.encode(grant)),
    )
