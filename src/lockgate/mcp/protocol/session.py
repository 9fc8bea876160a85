"""How far one conversation is: a state, and the table of what may follow what. No I/O.

Knows neither client nor server; both keep one of these and pass every change through `advance`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from lockgate.errors import LocalError
from lockgate.mcp.protocol.eras import Revision


class State(enum.Enum):
    """Where a conversation is."""

    NEW = "new"
    """Nothing was said."""
    PROBING = "probing"
    """`server/discover` is open."""
    INITIALIZING = "initializing"
    """`initialize` is open, or answered and not yet followed by `notifications/initialized`."""
    READY = "ready"
    """A revision is agreed upon; requests flow."""
    CLOSED = "closed"
    """The link is gone, for whatever reason. Final."""


class Event(enum.Enum):
    """What changes it."""

    PROBE = "probe"
    INITIALIZE = "initialize"
    AGREE = "agree"
    CLOSE = "close"


TRANSITIONS: Mapping[State, Mapping[Event, State]] = {
    State.NEW: {
        Event.PROBE: State.PROBING,
        Event.INITIALIZE: State.INITIALIZING,
        Event.CLOSE: State.CLOSED,
    },
    State.PROBING: {
        Event.PROBE: State.PROBING,
        Event.INITIALIZE: State.INITIALIZING,
        Event.AGREE: State.READY,
        Event.CLOSE: State.CLOSED,
    },
    State.INITIALIZING: {
        Event.PROBE: State.PROBING,
        Event.INITIALIZE: State.INITIALIZING,
        Event.AGREE: State.READY,
        Event.CLOSE: State.CLOSED,
    },
    State.READY: {Event.CLOSE: State.CLOSED},
    State.CLOSED: {Event.CLOSE: State.CLOSED},
}
"""Everything that may happen; what is not here is a mistake of ours."""


class Session:
    """The state of one conversation and the revision it speaks."""

    __slots__ = ("_revision", "_state")

    def __init__(self) -> None:
        self._state = State.NEW
        self._revision: Revision | None = None

    @property
    def state(self) -> State:
        return self._state

    @property
    def revision(self) -> Revision | None:
        """What was agreed upon; None before, kept after closing."""
        return self._revision

    def advance(self, event: Event, revision: Revision | None = None) -> State:
        """Change the state; AGREE needs the revision. Raises `LocalError` out of turn."""
        following = TRANSITIONS[self._state].get(event)
        if following is None:
            raise LocalError(f"an MCP session that is {self._state.value} can not {event.value}")
        if (event is Event.AGREE) is (revision is None):
            raise LocalError("a revision is agreed upon with AGREE, and only then")
        if revision is not None:
            self._revision = revision
        self._state = following
        return following
