"""An answer that asks for input first, and what is sent with the same request again. No I/O.

2026-07-28, basic/patterns/mrtr: the server forgets the request; its state travels to this side and
back untouched, and the answers stand under the keys that it chose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from lockgate.mcp.protocol.jsontext import MAX_DEPTH, Unreadable, decode_noted, deeper_than, kind_of

INPUT_REQUIRED: Final = "input_required"
"""The `resultType` of such an answer."""
MAX_INPUTS: Final = 20
"""Inputs that one answer may ask for; a person would not answer more."""


class InputRequest(msgspec.Struct, frozen=True):
    """One thing that a server wants to know: a request of its own inside its answer."""

    key: str
    """By which its answer is sent."""
    method: str
    params: Any = None
    """Decoded; None if absent."""


class InputRequired(msgspec.Struct, frozen=True):
    """The answer: what is wanted, and the server's own state."""

    requests: tuple[InputRequest, ...] = ()
    state: str | None = None
    """To be sent back byte for byte; None if there is none, and then none is sent."""


class InputAnswers(msgspec.Struct, frozen=True):
    """What goes with the request when it is made again."""

    responses: Mapping[str, Any] | None = None
    """By key, the result of each request; None if nothing was asked."""
    state: str | None = None

    def members(self) -> dict[str, Any]:
        """The members of the params."""
        found: dict[str, Any] = {}
        if self.responses is not None:
            found["inputResponses"] = dict(self.responses)
        if self.state is not None:
            found["requestState"] = self.state
        return found


class _Typed(msgspec.Struct, frozen=True):
    type: Any = msgspec.field(default=None, name="resultType")


_decode_type = msgspec.json.Decoder(_Typed).decode


def result_type(raw: bytes | msgspec.Raw) -> Any:
    """The `resultType` of a result; None if it has none, or can not be read. Never raises."""
    try:
        return _decode_type(raw).type
    except (msgspec.MsgspecError, RecursionError):
        return None


def asks_for_input(raw: bytes | msgspec.Raw) -> bool:
    """Whether a result is such an answer. Never raises."""
    return result_type(raw) == INPUT_REQUIRED


def read_input_required(raw: bytes | msgspec.Raw) -> InputRequired:
    """Read one. Raises `Unreadable` for what can not be answered: nothing is asked and no state is
    there, a request without a method, more than MAX_INPUTS."""
    value, _ = decode_noted(raw)
    if not isinstance(value, dict):
        raise Unreadable(f"{kind_of(value)} where an object has to be")
    result = cast("dict[str, Any]", value)
    state = result.get("requestState")
    if state is not None and not isinstance(state, str):
        raise Unreadable(f"a requestState that is {kind_of(state)}, not a string")
    wanted = result.get("inputRequests")
    if wanted is None:
        if state is None:
            raise Unreadable("an answer that asks for input and says neither which nor its state")
        return InputRequired(state=state)
    return InputRequired(read_requests(wanted), state)


def read_requests(wanted: Any) -> tuple[InputRequest, ...]:
    """Read `inputRequests`, decoded. Raises `Unreadable` as `read_input_required` does."""
    if not isinstance(wanted, dict):
        raise Unreadable(f"inputRequests that are {kind_of(wanted)}, not an object")
    requests = cast("dict[str, Any]", wanted)
    if len(requests) > MAX_INPUTS:
        raise Unreadable(f"{len(requests)} inputs asked for at once, over the {MAX_INPUTS} allowed")
    return tuple(_request(key, held) for key, held in requests.items())


def _request(key: str, value: Any) -> InputRequest:
    held = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    method = held.get("method")
    if not isinstance(method, str):
        raise Unreadable("an input that is asked for without a method")
    params = held.get("params")
    if deeper_than(params, MAX_DEPTH):
        raise Unreadable(f"an input that is asked for with params deeper than {MAX_DEPTH} levels")
    return InputRequest(key, method, params)
