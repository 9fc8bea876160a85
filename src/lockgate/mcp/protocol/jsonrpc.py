"""JSON-RPC 2.0 frames as MCP uses them: encode requests, decode whatever arrives. No I/O.

The rules of reading are in `incoming` and `jsontext`, whose names are public here.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec import UNSET

from lockgate.mcp.protocol.incoming import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Failure,
    Incoming,
    Invalid,
    Notification,
    Request,
    RequestId,
    Response,
    decode,
    decode_all,
)
from lockgate.mcp.protocol.jsontext import Unreadable, Unwritable, decode_value
from lockgate.mcp.protocol.salvage import addressee

__all__ = [
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "PARSE_ERROR",
    "Failure",
    "Handling",
    "Incoming",
    "Invalid",
    "Notification",
    "Outgoing",
    "Request",
    "RequestId",
    "Response",
    "Unreadable",
    "Unwritable",
    "addressee",
    "decode",
    "decode_all",
    "decode_value",
    "error_response",
    "notification",
    "request",
    "response",
]


class Handling(enum.Enum):
    """What a frame means to a transport that keeps something between messages.

    Every revision says so of its own frames, so that a transport names no revision and no method.
    """

    ALONE = "alone"
    """It stands for itself: nothing is kept, and closing its stream is how it is withdrawn."""
    OPENS_SESSION = "opens a session"
    """Its answer may open a session, which all that follows belongs to."""
    BEGINS_SESSION = "begins a session"
    """Nothing goes before the peer has accepted it; after it the peer may speak unasked."""
    IN_SESSION = "in a session"
    """Its stream may break and be taken up again; it is withdrawn by a message of its own."""


class Outgoing(msgspec.Struct, frozen=True, gc=False):
    """One frame on its way out."""

    payload: bytes
    """The JSON text in UTF-8, without a delimiter; holds no raw newline."""
    id: RequestId | None = None
    """Of a request, or of the request that a response answers; None for a notification."""
    method: str | None = None
    """None for a response."""
    headers: tuple[tuple[str, str], ...] = ()
    """What the revision wants beside the body on transports that have headers."""
    handling: Handling = Handling.ALONE
    """What it means to a transport with sessions; the others need not look."""


class _RequestFrame(msgspec.Struct, tag_field="jsonrpc", tag="2.0", gc=False):  # JSON has no cycles
    id: RequestId
    method: str
    params: Any = UNSET


class _NotificationFrame(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    method: str
    params: Any = UNSET


class _ResponseFrame(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId
    result: Any


class _ErrorBody(msgspec.Struct):
    code: int
    message: str
    data: Any = UNSET


class _ErrorFrame(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId
    error: _ErrorBody


_encode = msgspec.json.Encoder().encode


def request(
    id: RequestId,
    method: str,
    params: Any = None,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    handling: Handling = Handling.ALONE,
) -> Outgoing:
    """A request. `params` is anything msgspec encodes to an object, a `Raw` among it, or None.

    This and the other makers raise `Unwritable` for a value that JSON has no form for.
    """
    frame = _RequestFrame(id, method, UNSET if params is None else params)
    return Outgoing(_payload(frame), id, method, headers, handling)


def notification(
    method: str,
    params: Any = None,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    handling: Handling = Handling.ALONE,
) -> Outgoing:
    """A notification."""
    frame = _NotificationFrame(method, UNSET if params is None else params)
    return Outgoing(_payload(frame), None, method, headers, handling)


def response(id: RequestId, result: Any) -> Outgoing:
    """The answer to a request of the peer's."""
    return Outgoing(_payload(_ResponseFrame(id, result)), id)


def error_response(id: RequestId, code: int, message: str, data: Any = None) -> Outgoing:
    """The refusal of a request of the peer's."""
    body = _ErrorBody(code, message, UNSET if data is None else data)
    return Outgoing(_payload(_ErrorFrame(id, body)), id)


def _payload(frame: Any) -> bytes:
    try:
        payload = _encode(frame)
    except UnicodeEncodeError:
        raise Unwritable(
            "a string holds half a surrogate pair, which UTF-8 can not carry"
        ) from None
    except RecursionError:
        raise Unwritable("a value is nested too deep to be written") from None
    except (TypeError, ValueError, OverflowError) as error:
        # The text of msgspec names types, never values.
        raise Unwritable(f"a value has no JSON form: {error}") from None
    if b"null" in payload and not _finite(frame):
        # msgspec would write null, and so send what nobody asked for.
        raise Unwritable("a number that is not finite has no JSON form")
    if b"\n" in payload:
        # Only a Raw can bring one in, as white space: inside strings it is always escaped.
        payload = payload.replace(b"\n", b" ")
    return payload


def _finite(frame: Any) -> bool:
    """Whether every float in what is to be sent is one that JSON can hold."""
    waiting = [frame]
    while waiting:
        value = waiting.pop()
        if isinstance(value, float):
            if not math.isfinite(value):
                return False
        elif isinstance(value, Mapping):
            waiting.extend(cast("Mapping[Any, Any]", value).values())
        elif isinstance(value, list | tuple):
            waiting.extend(cast("list[Any]", value))
        elif isinstance(value, msgspec.Struct):
            waiting.extend(getattr(value, name) for name in value.__struct_fields__)
    return True
