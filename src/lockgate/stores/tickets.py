"""Suspended calls in the state database: they wait there with their arguments, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from lockgate.calls.suspension import Settlement, Ticket, TicketGone
from lockgate.calls.unknowns import OpenUnknown
from lockgate.errors import Fate
from lockgate.stores.grants import add_grant
from lockgate.stores.intents import add_intent, finish_intent
from lockgate.stores.state import StateDatabase

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Ticket)


class SqliteTickets:
    """The `calls.suspension.TicketStore` that any process with the database can resume from."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def put(self, ticket: Ticket) -> Ticket:
        with self._state.writing() as connection:
            # Those that ran out count as answered no, and stand for no call any more.
            connection.execute(
                "UPDATE tickets SET answered = expires, approved = 0, approver = 'expired',"
                " body = '' WHERE answered IS NULL AND expires <= ?",
                (ticket.created,),
            )
            rows = connection.execute(
                "SELECT body FROM tickets WHERE answered IS NULL AND digest = ?", (ticket.digest,)
            ).fetchall()
            for equal in map(self._decoded, (row[0] for row in rows)):
                if equal.answers(ticket):
                    return equal
            connection.execute(
                "INSERT INTO tickets (id, execution, call_id, digest, expires, body)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (
                    ticket.id,
                    ticket.execution,
                    ticket.call_id,
                    ticket.digest,
                    ticket.expires,
                    _ENCODER.encode(ticket),
                ),
            )
        return ticket

    def get(self, ticket: str) -> Ticket:
        query = "SELECT body, answered, approved, approver FROM tickets WHERE id = ?"
        rows = self._state.rows(query, ticket)
        return self._decoded(_open(ticket, rows[0] if rows else None))

    def waiting(self, now: float) -> tuple[Ticket, ...]:
        """Every open ticket that has not run out by `now` (Unix time), oldest first."""
        rows = self._state.rows(
            "SELECT body FROM tickets WHERE answered IS NULL AND expires > ?", now
        )
        tickets = [self._decoded(row[0]) for row in rows]
        return tuple(sorted(tickets, key=lambda ticket: (ticket.created, ticket.id)))

    def settle(self, ticket: str, settlement: Settlement, before: Callable[[], None]) -> None:
        answer = settlement.answer
        with self._state.writing() as connection:
            row = connection.execute(
                "SELECT body, answered, approved, approver FROM tickets WHERE id = ?", (ticket,)
            ).fetchone()
            _open(ticket, row)
            # The arguments have no more business here.
            connection.execute(
                "UPDATE tickets SET answered = ?, approved = ?, approver = ?, body = ''"
                " WHERE id = ?",
                (settlement.time, answer.approved, answer.approver, ticket),
            )
            if settlement.grant is not None:
                add_grant(connection, settlement.grant)
            if settlement.intent is not None:
                add_intent(connection, settlement.intent, self._state.owner)
            before()

    def finished(self, intent: OpenUnknown, fate: Fate) -> None:
        with self._state.writing() as connection:
            finish_intent(connection, intent, fate)

    def _decoded(self, body: bytes) -> Ticket:
        try:
            return _DECODER.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._state.unreadable("a ticket", error) from error


def _open(ticket: str, row: tuple[Any, ...] | None) -> bytes:
    """The body of an open ticket. Raises `TicketGone`, saying what became of it."""
    if row is None:
        raise TicketGone(f"there is no ticket {ticket!r}")
    body, answered, approved, approver = row
    if answered is not None:
        word = "yes" if approved else "no"
        raise TicketGone(f"the ticket {ticket} was answered before: {word}, by {approver}")
    return body
