"""Tickets, grants and intents in the state database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockgate.calls.suspension import Intent, Settlement, Ticket, TicketGone, TicketReason
from lockgate.calls.unknowns import OpenUnknown
from lockgate.errors import Fate
from lockgate.policy.approval import Answer, Scope
from lockgate.policy.grants import Grant
from lockgate.stores.grants import SqliteGrants
from lockgate.stores.intents import SqliteUnknowns
from lockgate.stores.state import StateDatabase, StateError, open_state
from lockgate.stores.tickets import SqliteTickets

YES = Answer(True, "queue", Scope.SESSION)
GRANT = Grant("s", "add", "f", frozenset({("a", "b")}), None, True, "queue", 1.0, "fine")
INTENT = Intent(OpenUnknown("e", "c", "session:s", "add", 1.0), replayable=False)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateDatabase]:
    """An empty state database."""
    with open_state(tmp_path / "state.db", "here") as opened:
        yield opened


def a_ticket(id: str = "t1", **changes: Any) -> Ticket:
    """A suspended call."""
    ticket = Ticket(
        id=id,
        expires=100.0,
        created=1.0,
        digest="d",
        fingerprint="f",
        reasons=(TicketReason("destructive", "it can", "somewhere"),),
        call_id="c",
        tool="add",
        arguments={"a": 1},
        execution="e",
        entry="agent",
        ceiling="mutating",
        attended=True,
        destructive=True,
        cwd="/",
    )
    return msgspec.structs.replace(ticket, **changes)


def nothing() -> None:
    """Nothing has to be written first."""


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), JSON))
def test_arguments_survive_exactly(state: StateDatabase, arguments: dict[str, Any]) -> None:
    """Whole numbers of any size, floats and every character come back as they were put in."""
    tickets = SqliteTickets(state)
    number = len(state.rows("SELECT 1 FROM tickets"))
    ticket = a_ticket(f"t{number}", call_id=f"c{number}", arguments=arguments)
    tickets.put(ticket)
    back = tickets.get(ticket.id)
    assert back == ticket
    assert repr(back.arguments) == repr(arguments)


@pytest.mark.req("B-14")
def test_settling_is_one_transaction(state: StateDatabase) -> None:
    """Ticket, grant and intent change together: if what comes before the end fails, none has."""
    tickets, grants, unknowns = SqliteTickets(state), SqliteGrants(state), SqliteUnknowns(state)
    tickets.put(a_ticket())
    settlement = Settlement(YES, 5.0, GRANT, INTENT)

    def fail() -> None:
        raise OSError("no record")

    with pytest.raises(OSError, match="no record"):
        tickets.settle("t1", settlement, fail)
    assert tickets.get("t1") == a_ticket()
    assert grants.find("s", "add") == ()
    assert state.rows("SELECT 1 FROM intents") == []
    tickets.settle("t1", settlement, nothing)
    with pytest.raises(TicketGone, match="answered before: yes, by queue"):
        tickets.get("t1")
    assert grants.find("s", "add") == (GRANT,)
    assert len(state.rows("SELECT 1 FROM intents")) == 1
    assert unknowns.find("session:s", "add") == ()


def test_who_comes_second_writes_nothing(state: StateDatabase) -> None:
    """A ticket that is used up raises before anything is written or recorded."""
    tickets = SqliteTickets(state)
    tickets.put(a_ticket())
    tickets.settle("t1", Settlement(Answer(False, "a"), 5.0), nothing)
    called: list[int] = []
    with pytest.raises(TicketGone, match="no, by a"):
        tickets.settle("t1", Settlement(YES, 6.0, GRANT), lambda: called.append(1))
    assert called == []
    assert SqliteGrants(state).find("s", "add") == ()


def test_the_arguments_go_with_the_answer(state: StateDatabase) -> None:
    """An answered ticket keeps who answered what, and no arguments."""
    tickets = SqliteTickets(state)
    tickets.put(a_ticket(arguments={"token": "hunter2"}))
    tickets.settle("t1", Settlement(YES, 5.0), nothing)
    rows = state.rows("SELECT * FROM tickets")
    assert "queue" in repr(rows)
    assert "hunter2" not in repr(rows)


def test_equal_questions_join_while_they_are_open(state: StateDatabase) -> None:
    """One call has one open ticket; after its answer, or its time, a new one is made."""
    tickets = SqliteTickets(state)
    first = tickets.put(a_ticket())
    assert tickets.put(a_ticket("t2")) == first
    assert tickets.put(a_ticket("t3", execution="other")).id == "t3"
    assert tickets.put(a_ticket("t4", created=100.0, expires=200.0)).id == "t4"
    with pytest.raises(TicketGone, match="expired"):
        tickets.get("t1")


def test_how_an_intent_ended(tmp_path: Path, state: StateDatabase) -> None:
    """In flight it is open for other processes; finished it is open only if nobody knows."""
    tickets = SqliteTickets(state)
    tickets.put(a_ticket())
    tickets.settle("t1", Settlement(YES, 5.0, None, INTENT), nothing)
    with open_state(tmp_path / "state.db", "elsewhere") as other:
        elsewhere = SqliteUnknowns(other)
        assert elsewhere.find("session:s", "add") == (INTENT.unknown,)
        assert SqliteUnknowns(state).find("session:s", "add") == ()
        tickets.finished(INTENT.unknown, Fate.ANSWERED)
        assert elsewhere.find("session:s", "add") == ()
        tickets.finished(INTENT.unknown, Fate.UNKNOWN)
        assert elsewhere.find("session:s", "add") == (INTENT.unknown,)
        elsewhere.close([INTENT.unknown], "terminal")
        assert SqliteUnknowns(state).find("session:s", "add") == ()


def test_a_replayable_intent_stands_in_nobodys_way(state: StateDatabase, tmp_path: Path) -> None:
    """An unknown outcome of what may run twice is written down and asks nobody."""
    tickets = SqliteTickets(state)
    tickets.put(a_ticket())
    intent = Intent(INTENT.unknown, replayable=True)
    tickets.settle("t1", Settlement(YES, 5.0, None, intent), nothing)
    with open_state(tmp_path / "state.db", "elsewhere") as other:
        assert SqliteUnknowns(other).find("session:s", "add") == ()


def test_a_damaged_ticket_is_a_clear_error(state: StateDatabase) -> None:
    """A ticket that can not be read runs nothing and says so, without its content."""
    tickets = SqliteTickets(state)
    tickets.put(a_ticket())
    with state.writing() as connection:
        connection.execute('UPDATE tickets SET body = \'{"token": "hunter2"\'')
    with pytest.raises(StateError, match="can not be read") as caught:
        tickets.get("t1")
    assert "hunter2" not in str(caught.value)


def test_a_damaged_grant_is_a_clear_error(state: StateDatabase) -> None:
    """A grant that can not be read never counts as a yes."""
    grants = SqliteGrants(state)
    grants.remember(GRANT)
    with state.writing() as connection:
        connection.execute("UPDATE grants SET body = '{\"approved\": true}'")
    with pytest.raises(StateError, match="can not be read"):
        grants.find("s", "add")
