"""The schema of the state database, as the steps that made it. A step is never edited."""

from __future__ import annotations

from typing import Final

import msgspec


class Migration(msgspec.Struct, frozen=True):
    """One step, applied once."""

    version: int
    name: str
    statements: tuple[str, ...]


MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration(
        1,
        "tickets, grants and intents",
        (
            """
            CREATE TABLE migrations (
                version INTEGER PRIMARY KEY,
                name TEXT NOT NULL,
                applied TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
            )
            """,
            # `body` is the ticket as JSON. One call, one open ticket: an equal question joins it.
            """
            CREATE TABLE tickets (
                id TEXT PRIMARY KEY,
                execution TEXT NOT NULL,
                call_id TEXT NOT NULL,
                digest TEXT NOT NULL,
                expires REAL NOT NULL,
                body BLOB NOT NULL,
                answered REAL,
                approved INTEGER,
                approver TEXT
            )
            """,
            """
            CREATE UNIQUE INDEX one_open_ticket ON tickets (execution, call_id, digest)
                WHERE answered IS NULL
            """,
            """
            CREATE TABLE grants (
                id INTEGER PRIMARY KEY,
                session TEXT NOT NULL,
                tool TEXT NOT NULL,
                body BLOB NOT NULL
            )
            """,
            "CREATE INDEX grants_of_a_tool ON grants (session, tool)",
            # A call that was about to be sent: the key is the fence. No fate means that `owner`,
            # the process that sent it, has not come back to say.
            """
            CREATE TABLE intents (
                execution TEXT NOT NULL,
                call_id TEXT NOT NULL,
                scope TEXT NOT NULL,
                tool TEXT NOT NULL,
                replayable INTEGER NOT NULL,
                started REAL NOT NULL,
                owner TEXT NOT NULL,
                fate TEXT,
                closed_by TEXT,
                PRIMARY KEY (execution, call_id)
            ) WITHOUT ROWID
            """,
            """
            CREATE INDEX open_intents ON intents (scope, tool)
                WHERE closed_by IS NULL AND NOT replayable
            """,
        ),
    ),
    Migration(
        2,
        "requests for a model",
        (
            "CREATE TABLE samplings (server TEXT NOT NULL, at REAL NOT NULL)",
            "CREATE INDEX samplings_of_a_server ON samplings (server)",
        ),
    ),
    Migration(
        3,
        "sessions",
        (
            # `about` says what a session is bound to, `seen` what its model was shown last, both as
            # JSON; `size` is that of its messages. `format` is the number of how they are written.
            """
            CREATE TABLE sessions (
                id TEXT PRIMARY KEY,
                about BLOB NOT NULL,
                format INTEGER NOT NULL,
                created REAL NOT NULL,
                used REAL NOT NULL,
                size INTEGER NOT NULL,
                seen BLOB
            )
            """,
            "CREATE INDEX sessions_by_use ON sessions (used)",
            # One row for each message, never changed; `place` counts from 0.
            """
            CREATE TABLE messages (
                session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
                place INTEGER NOT NULL,
                body BLOB NOT NULL,
                PRIMARY KEY (session, place)
            )
            """,
            # A call of a session that was put off, by the id that its model gave it. `result` is
            # what came of it once its ticket was answered; it may be that of an equal call.
            """
            CREATE TABLE waiting_calls (
                session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
                call_id TEXT NOT NULL,
                tool TEXT NOT NULL,
                ticket TEXT NOT NULL,
                result BLOB,
                PRIMARY KEY (session, call_id)
            )
            """,
            "CREATE INDEX waiting_calls_of_a_ticket ON waiting_calls (ticket)",
        ),
    ),
)
