"""What a server asks a person for, and what the person says to it. No I/O.

2026-07-28 and 2025-11-25, client/elicitation. A form is a flat object of primitive values; an
address is opened by the person, and nothing of what happens there comes by here.
"""

from __future__ import annotations

import enum
from typing import Any, Final, cast

import msgspec

from lockgate.content import JSONObject
from lockgate.mcp.protocol.form import Form, read_form
from lockgate.mcp.protocol.jsontext import Unreadable, kind_of

ELICIT: Final = "elicitation/create"
"""The method."""
COMPLETE: Final = "notifications/elicitation/complete"
"""By which a server of 2025-11-25 says that what was begun at an address is over."""
ADDRESS_REQUIRED: Final = -32042
"""The code of its error by which it says that an address has to be opened first."""
MAX_ID: Final = 4096
"""Characters of an id that is kept; a longer one counts as none."""


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
    form: Form | None = None
    """Of a form: its fields, as `schema` has them."""


class ElicitAnswer(msgspec.Struct, frozen=True):
    """What comes of it: `ElicitAnswer.accept({"name": "Ada"})`, `.decline()`, `.cancel()`."""

    action: Action
    content: JSONObject | None = None
    """The values of an accepted form."""
    finished: bool = False
    """Of an address: the person says that it is done there. Not sent; else a legacy server's own
    word is waited for where it counts."""

    @classmethod
    def accept(cls, values: JSONObject | None = None, *, finished: bool = False) -> ElicitAnswer:
        """Yes: the values of a form, or that an address was opened (and is `finished` with)."""
        return cls(Action.ACCEPT, values, finished)

    @classmethod
    def decline(cls) -> ElicitAnswer:
        """No."""
        return cls(Action.DECLINE)

    @classmethod
    def cancel(cls) -> ElicitAnswer:
        """Nobody said anything."""
        return cls(Action.CANCEL)

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
        wanted = cast("JSONObject", schema)
        try:
            form = read_form(wanted)
        except Unreadable as problem:
            raise Unreadable(f"of a form that {problem.reason}") from None
        return Elicitation(mode, message, schema=wanted, form=form)
    url = held.get("url")
    if not isinstance(url, str) or not url:
        raise Unreadable("without a url, which this mode needs")
    id = held.get("elicitationId")
    named = isinstance(id, str) and len(id) <= MAX_ID
    return Elicitation(mode, message, url=url, id=id if named else None)


def read_required(data: Any, most: int) -> list[Any]:
    """The params of each address that an error of code ADDRESS_REQUIRED wants opened.

    Raises `Unreadable`, completing "an error that ...", for what holds none, more than `most`, or
    anything but addresses with an id (2025-11-25, client/elicitation: URL Elicitation Required).
    """
    wanted = cast("dict[str, Any]", data).get("elicitations") if isinstance(data, dict) else None
    if not isinstance(wanted, list) or not wanted:
        raise Unreadable("wants an address opened and names none")
    found = cast("list[Any]", wanted)
    if len(found) > most:
        raise Unreadable(f"wants {len(found)} addresses opened, over the {most} allowed")
    for params in found:
        try:
            asked = read_elicitation(params)
        except Unreadable as problem:
            raise Unreadable(f"wants an address opened with params {problem.reason}") from None
        if asked.mode is not Mode.URL or asked.id is None:
            raise Unreadable("wants something opened that is no address with an id")
    return found
