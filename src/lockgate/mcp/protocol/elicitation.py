"""What a server asks a person for, and what the person says to it. No I/O.

2026-07-28 and 2025-11-25, client/elicitation. A form is a flat object of primitive values; an
address is opened by the person, and nothing of what happens there comes by here.
"""

from __future__ import annotations

import enum
from typing import Any, Final, cast

import msgspec

from lockgate.content import JSONObject
from lockgate.mcp.protocol.jsontext import Unreadable, kind_of

ELICIT: Final = "elicitation/create"
"""The method."""


class Mode(enum.Enum):
    """How a person is asked."""

    FORM = "form"
    """By fields to be filled in; the values go to the server through this side."""
    URL = "url"
    """By an address to be opened; this side never sees what is entered there."""


class Action(enum.Enum):
    """What a person did about it."""

    ACCEPT = "accept"
    DECLINE = "decline"
    """Said no."""
    CANCEL = "cancel"
    """Said nothing: left, or was not there."""


class Elicitation(msgspec.Struct, frozen=True):
    """A question of a server's to a person."""

    mode: Mode
    message: str
    """The server's words: a stranger's, to be shown as such."""
    schema: JSONObject | None = None
    """Of a form: the JSON Schema of what is wanted, as it came."""
    url: str | None = None
    """Of an address: the address as it came, not checked."""
    id: str | None = None
    """By which a legacy server says later that it is over."""


class ElicitAnswer(msgspec.Struct, frozen=True):
    """What comes of it."""

    action: Action
    content: JSONObject | None = None
    """The values of an accepted form."""

    def result(self) -> dict[str, Any]:
        """`ElicitResult`."""
        found: dict[str, Any] = {"action": self.action.value}
        if self.action is Action.ACCEPT and self.content is not None:
            found["content"] = dict(self.content)
        return found


def read_elicitation(params: Any) -> Elicitation:
    """Read the params. Raises `Unreadable`; its reason completes "the params are ..."."""
    if not isinstance(params, dict):
        raise Unreadable(f"{kind_of(params)}, not an object")
    held = cast("dict[str, Any]", params)
    told = held.get("mode", Mode.FORM.value)
    mode = next((mode for mode in Mode if mode.value == told), None)
    if mode is None:
        raise Unreadable(f"of a mode that is not known here: {str(told)[:40]!r}")
    message = held.get("message")
    if not isinstance(message, str):
        raise Unreadable("without a message")
    if mode is Mode.FORM:
        schema = held.get("requestedSchema")
        if not isinstance(schema, dict):
            raise Unreadable("without a requestedSchema, which a form needs")
        return Elicitation(mode, message, schema=cast("JSONObject", schema))
    url = held.get("url")
    if not isinstance(url, str) or not url:
        raise Unreadable("without a url, which this mode needs")
    id = held.get("elicitationId")
    return Elicitation(mode, message, url=url, id=id if isinstance(id, str) else None)
