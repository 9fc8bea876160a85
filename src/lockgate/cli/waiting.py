"""How what waits for a person is worded, for people and for programs."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Sequence
from typing import Any

import click

from lockgate.calls.suspension import Ticket
from lockgate.cli.options import to_type
from lockgate.cli.table import print_table
from lockgate.showing import visible
from lockgate.stores.grants import KeptGrant
from lockgate.stores.intents import Standing
from lockgate.stores.tickets import DamagedTicket

MAX_WIDTH = 100
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_LAST = 253_402_128_000.0
"""30 December 9999: a day before the last, wherever here is."""


def when(time: float) -> str:
    """A Unix time as a person here reads it."""
    return _moment(time).astimezone().strftime("%Y-%m-%d %H:%M")


def iso(time: float) -> str:
    """A Unix time for programs: ISO 8601, UTC."""
    return _moment(time).isoformat(timespec="seconds")


def _moment(time: float) -> datetime.datetime:
    """The moment, or the nearest that a date can be given to."""
    return datetime.datetime.fromtimestamp(min(max(time, 0.0), _LAST), datetime.UTC)


def span(seconds: float) -> str:
    """A stretch of time in one word: `40s`, `12m`, `5h`, `3d`."""
    seconds = max(seconds, 0.0)
    for unit, word in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if seconds >= unit:
            return f"{int(seconds // unit)}{word}"
    return f"{int(seconds)}s"


def left(seconds: float) -> str:
    """How much time is left, in one word, to the nearest: of seven days it is `7d` at first."""
    for unit, finer in ((_DAY, _HOUR), (_HOUR, _MINUTE), (_MINUTE, 1)):
        if seconds >= unit - finer / 2:
            seconds = round(seconds / unit) * unit
            break
    return span(seconds)


def screen_width() -> int:
    """Columns for a question."""
    return min(shutil.get_terminal_size((80, 24)).columns, MAX_WIDTH)


def print_waiting(tickets: Sequence[Ticket], unknowns: Sequence[Standing], now: float) -> None:
    """Both lists, and what to do next."""
    if tickets:
        head = ("TICKET", "TOOL", "DESTR", "ASKED", "LEFT")
        rows = [
            (
                ticket.id,
                ticket.tool if ticket.agent is None else f"{ticket.tool} (by {ticket.agent})",
                "yes" if ticket.destructive else "no",
                f"{span(now - ticket.created)} ago",
                left(ticket.expires - now),
            )
            for ticket in tickets
        ]
        print_table(head, rows)
        click.echo(f"To see one: {to_type('approvals show TICKET')}")
    if unknowns:
        if tickets:
            click.echo()
        click.echo("Calls that may have taken effect, and nobody knows:")
        print_table(
            ("UNKNOWN", "TOOL", "STARTED", "ENDED"),
            [
                (
                    standing.id,
                    standing.unknown.tool,
                    f"{span(now - standing.unknown.time)} ago",
                    "unknown" if standing.ended else "no word yet",
                )
                for standing in unknowns
            ],
        )
        then = to_type("approvals answer UNKNOWN settled")
        click.echo(f"Look what became of it, then: {then}")
    if not tickets and not unknowns:
        click.echo("Nothing waits for an answer.", err=True)


def ticket_data(ticket: Ticket) -> dict[str, Any]:
    """A ticket for programs, without the arguments."""
    origin = ticket.origin
    return {
        "ticket": ticket.id,
        "tool": ticket.tool,
        "server": None if origin is None else origin.server,
        "level": ticket.level,
        "destructive": ticket.destructive,
        "reasons": [
            {"code": reason.code, "text": reason.text, "source": reason.source}
            for reason in ticket.reasons
        ],
        "call": ticket.call_id,
        "execution": ticket.execution,
        "session": ticket.inviting_session or ticket.session,
        "principal": ticket.principal,
        "agent": ticket.agent,
        "entry": ticket.entry,
        "created": iso(ticket.created),
        "expires": iso(ticket.expires),
    }


def damaged_words(ticket: DamagedTicket) -> str:
    """What a person has to know of a ticket that can not be read."""
    return (
        f"The ticket {visible(ticket.id)} can not be read: it was damaged, or written by another "
        "version of lockgate.\n"
        f"It can not be answered, and counts as no after {when(ticket.expires)}. Make its call "
        f"anew; which one it is: lockgate audit show {visible(ticket.call_id)}"
    )


def damaged_data(ticket: DamagedTicket) -> dict[str, Any]:
    """A ticket that can not be read, for programs."""
    return {"ticket": ticket.id, "call": ticket.call_id, "expires": iso(ticket.expires)}


def unknown_data(standing: Standing) -> dict[str, Any]:
    """An open unknown for programs; `ended` is false while its process has not said how."""
    unknown = standing.unknown
    return {
        "unknown": standing.id,
        "tool": unknown.tool,
        "call": unknown.call_id,
        "execution": unknown.execution,
        "scope": unknown.scope,
        "started": iso(unknown.time),
        "ended": standing.ended,
    }


def grant_data(kept: KeptGrant) -> dict[str, Any]:
    """A remembered answer for programs; `exactCall` is the digest of the one call it covers."""
    grant = kept.grant
    return {
        "grant": kept.id,
        "session": grant.session,
        "tool": grant.tool,
        "answer": "yes" if grant.approved else "no",
        "exactCall": grant.digest,
        "fingerprint": grant.fingerprint,
        "approver": grant.approver,
        "given": iso(grant.time),
        "note": grant.note,
        "concerns": [{"code": code, "text": text} for code, text in sorted(grant.concerns)],
    }
