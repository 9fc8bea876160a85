"""Suspended calls in the state database: they wait there with their arguments, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from lockgate.calls.suspension import Settlement, Ticket, TicketGone
from lockgate.calls.unknowns import OpenUnknown
from lockgate.errors import Fate, Problem
from lockgate.stores.grants import add_grant
from lockgate.stores.intents import add_intent, finish_intent
from lockgate.stores.state import StateDatabase, StateError

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Ticket)


class SqliteTickets:
    """The `calls.suspension.TicketStore` that any process with the database can resume from."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def put(self, ticket: Ticket) -> Ticket:
        with self._state.writing() as connection:
            row = connection.execute(
                "SELECT body FROM tickets WHERE answered IS NULL"
                " AND execution = ? AND call_id = ? AND digest = ?",
                (ticket.execution, ticket.call_id, ticket.digest),
            ).fetchone()
            if row is not None:
                return self._decoded(row[0])
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
        with self._state.reading() as connection:
            row = connection.execute(
                "SELECT body, answered, approved, approver FROM tickets WHERE id = ?", (ticket,)
            ).fetchone()
        return self._decoded(_open(ticket, row)[0])

    def settle(self, ticket: str, settlement: Settlement, before: Callable[[], None]) -> None:
        answer = settlement.answer
        with self._state.writing() as connection:
            row = connection.execute(
                "SELECT body, answered, approved, approver FROM tickets WHERE id = ?", (ticket,)
            ).fetchone()
            _open(ticket, row)
            connection.execute(
                "UPDATE tickets SET answered = ?, approved = ?, approver = ? WHERE id = ?",
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
            raise StateError(
                Problem(
                    f"a ticket in the state database can not be read: {type(error).__name__}",
                    file=self._state.path,
                    hint="it was damaged, or written by another version; the call has to be made "
                    "again",
                )
            ) from error


def _open(ticket: str, row: tuple[bytes, float | None, int, str] | None) -> tuple[bytes, ...]:
    """The row of an open ticket. Raises `TicketGone`, saying what became of it."""
    if row is None:
        raise TicketGone(f"there is no ticket {ticket!r}")
    body, answered, approved, approver = row
    if answered is not None:
        word = "yes" if approved else "no"
        raise TicketGone(f"the ticket {ticket} was answered before: {word}, by {approver}")
    return (body,)
