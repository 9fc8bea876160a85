"""What waits for a person in the state database, seen without starting anything.

Only looking, settling and taking back happen here; a call is resumed by `Gate.resume`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from lockgate.calls.suspension import Ticket
from lockgate.errors import LocalError
from lockgate.stores.grants import KeptGrant, SqliteGrants
from lockgate.stores.intents import SqliteUnknowns, Standing
from lockgate.stores.state import StateDatabase, open_state
from lockgate.stores.tickets import DamagedTicket, SqliteTickets


class Desk:
    """The open questions, open unknowns and remembered answers of one project.

    Every method raises `LockgateError` if the state database can not be read or written.
    """

    def __init__(self, state: StateDatabase, time: Callable[[], float]) -> None:
        self._tickets = SqliteTickets(state)
        self._unknowns = SqliteUnknowns(state)
        self._grants = SqliteGrants(state)
        self._time = time

    def tickets(self) -> tuple[Ticket, ...]:
        """Calls that wait for an answer and have not run out, oldest first; without `damaged`."""
        return self._tickets.waiting(self._time())

    def damaged(self) -> tuple[DamagedTicket, ...]:
        """Tickets that have not run out and can not be read; nothing of them can be run."""
        return self._tickets.damaged(self._time())

    def ticket(self, id: str) -> Ticket:
        """The open ticket of that name, run out or not. Raises `TicketGone`, which says what
        became of it."""
        return self._tickets.get(id)

    def unknowns(self) -> tuple[Standing, ...]:
        """Calls that may have taken effect, and nobody knows; oldest first."""
        return self._unknowns.standing()

    def settle(self, id: str, by: str) -> Standing:
        """Close an open unknown: somebody has looked. `by` says who. Raises `LocalError` if there
        is none of that name."""
        for standing in self._unknowns.standing():
            if standing.id == id:
                self._unknowns.close([standing.unknown], by)
                return standing
        raise LocalError(f"there is no open unknown {id!r}; it may have been settled before")

    def grants(self) -> tuple[KeptGrant, ...]:
        """Every remembered answer, oldest first."""
        return self._grants.kept()

    def revoke(self, ids: frozenset[str] | None) -> frozenset[str]:
        """Take answers back (None: all), for every process from its next call on; returns which
        were there."""
        return self._grants.revoke(ids)


@contextmanager
def open_desk(state_dir: Path, time: Callable[[], float]) -> Generator[Desk | None]:
    """The desk of the project whose state is in `state_dir`; None if it has no state yet."""
    path = state_dir / "state.db"
    if not path.exists():
        yield None
        return
    with open_state(path, secrets.token_hex(8)) as state:
        yield Desk(state, time)
