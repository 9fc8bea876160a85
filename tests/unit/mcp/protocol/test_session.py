"""The states of a conversation."""

from __future__ import annotations

import pytest

from lockgate.errors import LocalError
from lockgate.mcp.protocol.eras import LATEST_LEGACY, LATEST_MODERN
from lockgate.mcp.protocol.session import TRANSITIONS, Event, Session, State

ROADS: dict[State, list[Event]] = {
    State.NEW: [],
    State.PROBING: [Event.PROBE],
    State.INITIALIZING: [Event.PROBE, Event.INITIALIZE],
    State.READY: [Event.PROBE, Event.AGREE],
    State.CLOSED: [Event.CLOSE],
}


def step(session: Session, event: Event) -> State:
    """One change, with what it needs."""
    return session.advance(event, LATEST_MODERN if event is Event.AGREE else None)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", Event)
def test_the_table_is_all_that_may_happen(state: State, event: Event) -> None:
    """Every pair leads where the table says, or is refused and changes nothing."""
    session = Session()
    for before in ROADS[state]:
        step(session, before)
    assert session.state is state
    expected = TRANSITIONS[state].get(event)
    if expected is None:
        with pytest.raises(LocalError, match=state.value):
            step(session, event)
        assert session.state is state
    else:
        assert step(session, event) is expected
        assert session.state is expected


def test_every_state_can_be_closed_and_nothing_follows() -> None:
    """A link can go at any moment; closing twice is closing once."""
    assert all(TRANSITIONS[state][Event.CLOSE] is State.CLOSED for state in State)
    assert set(TRANSITIONS[State.CLOSED]) == {Event.CLOSE}


def test_the_revision_is_what_was_agreed_upon() -> None:
    """None before, kept after the end; said exactly with AGREE."""
    session = Session()
    with pytest.raises(LocalError, match="AGREE"):
        session.advance(Event.PROBE, LATEST_LEGACY)
    session.advance(Event.INITIALIZE)
    with pytest.raises(LocalError, match="AGREE"):
        session.advance(Event.AGREE)
    assert session.revision is None
    session.advance(Event.AGREE, LATEST_LEGACY)
    session.advance(Event.CLOSE)
    assert session.revision is LATEST_LEGACY
