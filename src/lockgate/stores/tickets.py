"""Suspended calls in the state database: they wait there with their arguments, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from lockgate.calls.suspension import Settlement, Ticket, TicketGone
from lockgate.calls.unknowns import OpenUnknown
from lockgate.errors import Fate
from lockgate.stores.grants import add_grant
from lockgate.stores.intents import add_intent, finish_intent
from lockgate.stores.state import StateDatabase
from lockgate.traits import SideEffectLevel

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Ticket)


@dataclass(frozen=True, slots=True)
class DamagedTicket:
    """An open ticket that can not be read: nothing of it runs, and its time runs out as any
    other's does."""

    id: str
    call_id: str
    expires: float
    """Unix time after which it counts as answered no."""


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
                "SELECT id, body FROM tickets WHERE answered IS NULL AND digest = ?",
                (ticket.digest,),
            ).fetchall()
            for id, body in rows:
                try:
                    equal = _decoded(id, body)
                except _UNREADABLE:
                    continue  # it can not be answered, so nothing joins it
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
        body = _open(ticket, rows[0] if rows else None)
        try:
            return _decoded(ticket, body)
        except _UNREADABLE as error:
            then = "; it can not be answered and ends as a no: make its call anew"
            raise self._state.unreadable(f"the ticket {ticket}", error, then) from error

    def waiting(self, now: float) -> tuple[Ticket, ...]:
        """Every open ticket that has not run out by `now` (Unix time), oldest first.

        Without those that can not be read: they are `damaged`.
        """
        tickets: list[Ticket] = []
        for id, _, _, body in self._waiting(now):
            with suppress(*_UNREADABLE):
                tickets.append(_decoded(id, body))
        return tuple(sorted(tickets, key=lambda ticket: (ticket.created, ticket.id)))

    def damaged(self, now: float) -> tuple[DamagedTicket, ...]:
        """The open tickets that have not run out by `now` and can not be read, by their ids."""
        found: list[DamagedTicket] = []
        for id, call_id, expires, body in self._waiting(now):
            try:
                _decoded(id, body)
            except _UNREADABLE:
                found.append(DamagedTicket(id, call_id, expires))
        return tuple(found)

    def _waiting(self, now: float) -> list[tuple[Any, ...]]:
        return self._state.rows(
            "SELECT id, call_id, expires, body FROM tickets"
            " WHERE answered IS NULL AND expires > ? ORDER BY id",
            now,
        )

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


_UNREADABLE: Final = (msgspec.DecodeError, ValueError, TypeError, RecursionError)
"""What `_decoded` raises for a body that is no ticket."""


def _decoded(id: str, body: bytes) -> Ticket:
    """The ticket in a row, fit to be used."""
    ticket = _DECODER.decode(body)
    SideEffectLevel(ticket.level)
    SideEffectLevel(ticket.ceiling)
    if ticket.id != id:
        raise ValueError("it is another ticket's")
    return ticket


def _open(ticket: str, row: tuple[Any, ...] | None) -> bytes:
    """The body of an open ticket. Raises `TicketGone`, saying what became of it."""
    if row is None:
        raise TicketGone(f"there is no ticket {ticket!r}")
    body, answered, approved, approver = row
    if answered is not None:
        word = "yes" if approved else "no"
        raise TicketGone(f"the ticket {ticket} was answered before: {word}, by {approver}")
    return body
