"""What the state database holds for a person: questions that wait, unknowns, and answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lockgate.calls.suspension import (
    Intent,
    Settlement,
    Ticket,
    TicketGone,
    TicketOrigin,
    TicketReason,
)
from lockgate.calls.unknowns import OpenUnknown
from lockgate.errors import Fate
from lockgate.policy.approval import Answer
from lockgate.policy.grants import Grant
from lockgate.stores.grants import SqliteGrants
from lockgate.stores.intents import SqliteUnknowns
from lockgate.stores.state import StateDatabase, StateError, open_state
from lockgate.stores.tickets import DamagedTicket, SqliteTickets

TICKET = Ticket(
    id="t1",
    expires=100.0,
    created=1.0,
    digest="d",
    fingerprint="f",
    reasons=(TicketReason("destructive", "it can", "somewhere"),),
    call_id="c1",
    tool="drop",
    arguments={"a": 1},
    execution="e1",
    entry="agent",
    ceiling="mutating",
    attended=False,
    destructive=True,
    cwd="/",
    session="s",
    principal="ann",
    level="mutating",
    origin=TicketOrigin("mcp", "Drop", "db", {"title": "x"}, "claim", {"level": "y"}, ("odd",)),
)
GRANT = Grant("s", "add", "f", frozenset({("a", "b")}), None, True, "queue", 1.0, "fine")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateDatabase]:
    """An empty state database."""
    with open_state(tmp_path / "state.db", "here") as opened:
        yield opened


def a_ticket(id: str, **changes: Any) -> Ticket:
    """The ticket, of another call."""
    return msgspec.structs.replace(TICKET, id=id, call_id=f"call of {id}", **changes)


def test_the_question_comes_back_whole(state: StateDatabase) -> None:
    """Tool, origin, claim, verdict, arguments and reasons are there for whoever answers."""
    SqliteTickets(state).put(TICKET)
    with open_state(state.path, "elsewhere") as other:
        question = SqliteTickets(other).get("t1").question
    origin = question.origin
    assert (question.tool, question.arguments, question.destructive) == ("drop", {"a": 1}, True)
    assert [str(reason) for reason in question.reasons] == ["it can (somewhere)"]
    assert (origin.source, origin.server, origin.original_name) == ("mcp", "db", "Drop")
    assert (origin.claim, origin.ruling, origin.remarks) == ({"title": "x"}, "claim", ("odd",))
    assert (question.session_id, question.principal) == ("s", "ann")


def test_an_old_ticket_without_its_origin_can_still_be_answered() -> None:
    """What an earlier version wrote is shown as far as it goes."""
    question = msgspec.structs.replace(TICKET, origin=None).question
    assert (question.origin.server, question.origin.original_name) == (None, "drop")


@pytest.mark.parametrize(
    ("changes", "joined"),
    [
        ({}, True),
        ({"execution": "e2"}, True),
        ({"session": "s2", "inviting_session": "s"}, True),
        ({"digest": "other"}, False),
        ({"session": "s2"}, False),
        ({"session": None}, False),
        ({"principal": "bob"}, False),
        ({"reasons": (*TICKET.reasons, TicketReason("open_unknown", "look"))}, False),
        ({"reasons": ()}, True),
    ],
)
def test_an_equal_question_of_a_session_joins(
    state: StateDatabase, changes: dict[str, Any], joined: bool
) -> None:
    """One open question for equal calls of a session, so one yes runs one of them; but not where
    it is another's, or more is asked."""
    tickets = SqliteTickets(state)
    tickets.put(TICKET)
    assert (tickets.put(a_ticket("t2", **changes)).id == "t1") is joined


def test_calls_without_a_session_do_not_join(state: StateDatabase) -> None:
    """Where no session says that two calls belong together, each is asked about."""
    tickets = SqliteTickets(state)
    tickets.put(msgspec.structs.replace(TICKET, session=None))
    assert tickets.put(a_ticket("t2", session=None)).id == "t2"


def test_after_its_answer_nothing_joins(state: StateDatabase) -> None:
    """An answer is for what was open when it was given."""
    tickets = SqliteTickets(state)
    tickets.put(TICKET)
    tickets.settle("t1", Settlement(Answer(False, "queue"), 2.0), lambda: None)
    assert tickets.put(a_ticket("t2")).id == "t2"


def test_what_waits_is_listed_in_order(state: StateDatabase) -> None:
    """Open tickets that have not run out, oldest first."""
    tickets = SqliteTickets(state)
    for id, created, expires in (("new", 5.0, 50.0), ("old", 2.0, 50.0), ("short", 3.0, 9.0)):
        tickets.put(a_ticket(id, digest=id, created=created, expires=expires))
    assert [ticket.id for ticket in tickets.waiting(8.0)] == ["old", "short", "new"]
    assert [ticket.id for ticket in tickets.waiting(9.0)] == ["old", "new"]
    tickets.settle("old", Settlement(Answer(True, "queue"), 10.0), lambda: None)
    assert [ticket.id for ticket in tickets.waiting(10.0)] == ["new"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"token": "hunter2"',
        b"\xff\xfe",
        b"[" * 100_000,
        7,
        msgspec.json.encode({"id": "bad"}),
        msgspec.json.encode(msgspec.structs.replace(TICKET, id="good")),
        msgspec.json.encode(msgspec.structs.replace(TICKET, id="bad", level="harmless")),
        msgspec.json.encode(msgspec.structs.replace(TICKET, id="bad", ceiling="")),
    ],
    ids=["none", "cut", "no text", "deep", "number", "too few", "another's", "level", "ceiling"],
)
def test_one_damaged_ticket_hides_no_other(state: StateDatabase, body: object) -> None:
    """The others are listed, and the damaged one by its id, its call and its time, not by what is
    in it. It can not be had, and an equal question does not wait behind it."""
    tickets = SqliteTickets(state)
    tickets.put(a_ticket("good", digest="other", created=2.0))
    tickets.put(a_ticket("bad"))
    with state.writing() as connection:
        connection.execute("UPDATE tickets SET body = ? WHERE id = 'bad'", (body,))
    assert [ticket.id for ticket in tickets.waiting(8.0)] == ["good"]
    assert tickets.damaged(8.0) == (DamagedTicket("bad", "call of bad", 100.0),)
    assert tickets.damaged(100.0) == ()
    with pytest.raises(
        StateError, match="the ticket bad in the state database can not be read"
    ) as caught:
        tickets.get("bad")
    assert "hunter2" not in str(caught.value)
    assert tickets.put(a_ticket("equal", execution="e2")).id == "equal"


def test_what_ran_out_keeps_no_arguments(state: StateDatabase) -> None:
    """The next question that is put clears away the arguments of all that ran out."""
    tickets = SqliteTickets(state)
    tickets.put(msgspec.structs.replace(TICKET, arguments={"token": "hunter2"}))
    tickets.put(a_ticket("t2", digest="other", created=100.0, expires=200.0))
    assert "hunter2" not in repr(state.rows("SELECT * FROM tickets"))
    with pytest.raises(TicketGone, match="no, by expired"):
        tickets.get("t1")


def test_grants_are_listed_and_taken_back(state: StateDatabase) -> None:
    """What is revoked counts no more, for every reader at once; a word is never given twice."""
    grants = SqliteGrants(state)
    grants.remember(GRANT)
    grants.remember(GRANT)
    first, second = grants.kept()
    assert first.id != second.id
    with open_state(state.path, "elsewhere") as other:
        assert SqliteGrants(other).revoke(frozenset({second.id, "nothing"})) == {second.id}
    assert grants.find("s", "add") == (GRANT,)
    grants.remember(Grant("s", "add", "g", frozenset(), "d", False, "terminal", 2.0))
    assert second.id not in {kept.id for kept in grants.kept()}
    assert grants.revoke(frozenset({second.id})) == frozenset()
    assert len(grants.revoke(None)) == 2
    assert grants.find("s", "add") == ()


def test_a_damaged_grant_can_be_taken_back(state: StateDatabase) -> None:
    """A grant that can not be read is an error to list, and goes with all the others."""
    grants = SqliteGrants(state)
    grants.remember(GRANT)
    with state.writing() as connection:
        connection.execute("UPDATE grants SET body = '{'")
    with pytest.raises(StateError, match="can not be read"):
        grants.kept()
    assert len(grants.revoke(None)) == 1
    assert grants.kept() == ()


def test_open_unknowns_are_listed_until_they_are_settled(state: StateDatabase) -> None:
    """Of all sessions, oldest first, with a word of their own that a ticket never has."""
    unknowns = SqliteUnknowns(state)
    late = OpenUnknown("e", "c2", "session:s", "add", 2.0)
    early = OpenUnknown("e", "c1", "principal:ann", "put", 1.0)
    for unknown in (late, early):
        unknowns.open(unknown)
    found = unknowns.standing()
    assert [standing.unknown for standing in found] == [early, late]
    assert all(standing.ended and len(standing.id) == 12 for standing in found)
    unknowns.close([early], "person")
    assert [standing.unknown for standing in unknowns.standing()] == [late]


def test_a_call_that_nobody_came_back_from_is_listed_elsewhere(state: StateDatabase) -> None:
    """In flight in one process it stands open in the others, and says that nobody has told yet."""
    tickets = SqliteTickets(state)
    tickets.put(TICKET)
    unknown = OpenUnknown("e1", "c1", "session:s", "drop", 5.0)
    settlement = Settlement(Answer(True, "queue"), 5.0, None, Intent(unknown, replayable=False))
    tickets.settle("t1", settlement, lambda: None)
    assert SqliteUnknowns(state).standing() == ()
    with open_state(state.path, "elsewhere") as other:
        elsewhere = SqliteUnknowns(other)
        assert [standing.ended for standing in elsewhere.standing()] == [False]
        tickets.finished(unknown, Fate.ANSWERED)
        assert elsewhere.standing() == ()
