"""How often servers had something completed, in the state database, for all processes."""

from __future__ import annotations

from typing import Final

from lockgate.stores.state import StateDatabase

HOUR: Final = 3600.0
"""Seconds for which a request counts."""


class SqliteSamplings:
    """Counts requests for a model, by server, for all processes of a project together."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def too_often(self, server: str, most: int, now: float) -> bool:
        """Whether this server asked `most` times in the hour before `now` (Unix time); if not,
        this request counts too. Raises `StateError` if that can not be written."""
        with self._state.writing() as connection:
            # A clock that was set back leaves times of the future: they count for an hour at most.
            connection.execute(
                "DELETE FROM samplings WHERE at <= ? OR at > ?", (now - HOUR, now + HOUR)
            )
            (count,) = connection.execute(
                "SELECT COUNT(*) FROM samplings WHERE server = ?", (server,)
            ).fetchone()
            if count >= most:
                return True
            connection.execute("INSERT INTO samplings (server, at) VALUES (?, ?)", (server, now))
        return False
