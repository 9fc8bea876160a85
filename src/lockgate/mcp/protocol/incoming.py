"""JSON-RPC frames that arrive: one read, and never an exception. Public through `jsonrpc`.

What can not be read is an `Invalid`, an event like the others. Rules:

- `jsonrpc` must be "2.0" (PB-002: a program's JSON log lines are not mistaken for messages).
- An id is a string or an integer; `2` and `"2"` are different, `2.0` is 2 (PB-038). Null is no id.
- Unknown members are ignored. A method makes a request or a notification, whatever stands beside
  it; else `error`, unless null, makes a failure; else `result` makes a response.
- A byte order mark is stepped over (PB-010). Invalid UTF-8 anywhere refuses the frame (PB-011).
- Batches are refused by `decode`; `decode_all` reads them, for the one revision that had them.
- Values inside follow the rules of `jsontext`.

A frame that can not be read is looked at once more for whom it answers, so that the one that
waits for it can be told at once.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

import msgspec
from msgspec import UNSET, Raw, UnsetType

from lockgate.mcp.protocol.jsontext import (
    MAX_DEPTH,
    TOO_DEEP,
    Unreadable,
    decode_noted,
    decode_value,
    ends_within_a_character,
    first_bad_byte,
    kind_of,
    mend,
)
from lockgate.mcp.protocol.salvage import addressee, prune

RequestId: TypeAlias = int | str
"""`1` and `"1"` are different ids."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

PREVIEW = 200
"""Bytes of a frame that `Invalid.preview` shows."""


class Response(msgspec.Struct, frozen=True, gc=False):
    """A request of ours was answered with a result."""

    id: RequestId
    result: Raw
    """The JSON text of the result, not decoded; see `decode_value`."""


class Failure(msgspec.Struct, frozen=True):
    """A request of ours was answered with an error, or the peer could not read something."""

    id: RequestId | None
    """None if the peer could not tell which request it was."""
    code: int
    """`INTERNAL_ERROR` if the peer gave none."""
    message: str
    """The peer's words; may be empty."""
    data: Any = None


class Request(msgspec.Struct, frozen=True):
    """The peer asks something and waits for an answer with this id."""

    id: RequestId
    method: str
    params: Raw | None = None


class Notification(msgspec.Struct, frozen=True):
    """The peer says something and expects nothing."""

    method: str
    params: Raw | None = None


class Invalid(msgspec.Struct, frozen=True):
    """Something arrived that is no message."""

    reason: str
    """Why, as the end of a sentence that begins "the server sent something that is"."""
    id: RequestId | None = None
    """Of the request of ours that it was to answer, where that can be told."""
    offset: int | None = None
    """Byte in the frame where the trouble starts, where that can be told."""
    asked: RequestId | None = None
    """Of the request of the peer's that it was to be, where that can be told; it waits."""
    preview: str = ""
    """The beginning, with everything that is not printable escaped."""
    cut: bool = False
    """Whether it is the beginning of a message whose rest is missing."""


Incoming: TypeAlias = Response | Failure | Request | Notification | Invalid


class _Envelope(msgspec.Struct, gc=False):
    """What a frame may hold, with the parts that are decoded later left alone."""

    jsonrpc: Literal["2.0"]
    id: int | str | float | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_NULL = b"null"


def decode(frame: bytes) -> Incoming:
    """Read one frame. Never raises."""
    if not frame.isascii():
        offset = first_bad_byte(frame)
        if offset is not None:
            cut = ends_within_a_character(frame, offset)
            return _invalid(f"not valid UTF-8 (at byte {offset})", frame, offset, cut=cut)
    try:
        envelope = _decode_envelope(frame)
    except (msgspec.MsgspecError, RecursionError):
        return _decode_slowly(frame)
    if envelope.method is UNSET and envelope.error is UNSET and type(envelope.id) is int:
        result = envelope.result  # an answer, as nearly every frame is
        if result is not UNSET:
            return Response(envelope.id, result)
    return _classify(envelope, frame)


def decode_all(frame: bytes) -> tuple[Incoming, ...]:
    """Read one frame that may be a batch (2025-03-26, basic: JSON-RPC Batching). Never raises.

    An empty batch is one `Invalid`, as JSON-RPC says; a member that is no message is an `Invalid`
    among the others.
    """
    stripped = frame.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    if not stripped.startswith(b"["):
        return (decode(frame),)
    try:
        members = _decode_members(mend(stripped)[0])
    except (msgspec.MsgspecError, RecursionError):
        return (decode(frame),)
    if not members:
        return (_invalid("an empty batch", frame),)
    return tuple(decode(bytes(member)) for member in members)


_decode_members = msgspec.json.Decoder(list[Raw]).decode


def _classify(envelope: _Envelope, frame: bytes) -> Incoming:
    identity = envelope.id
    if type(identity) is float and identity.is_integer():
        identity = int(identity)
    method = envelope.method
    if method is UNSET:
        error = envelope.error
        if error is not UNSET and (envelope.result is UNSET or bytes(error) != _NULL):
            return _failure(identity, error, frame)
        result = envelope.result
        if result is UNSET:
            return _invalid('JSON without "method", "result" or "error", so no message', frame)
        if type(identity) is int or type(identity) is str:
            return Response(identity, result)
        return _invalid("a result with no usable id, so nobody can be given it", frame)
    params = None if envelope.params is UNSET else envelope.params
    if identity is UNSET:
        return Notification(method, params)
    if type(identity) is int or type(identity) is str:
        return Request(identity, method, params)
    return _invalid("a request whose id is neither a string nor an integer", frame)


def _failure(identity: float | str | UnsetType | None, error: Raw, frame: bytes) -> Incoming:
    try:
        value = decode_value(error)
    except Unreadable as problem:
        return _invalid(f"an error that is {problem.reason}", frame)
    known = identity if type(identity) is int or type(identity) is str else None
    if not isinstance(value, dict):
        text = value if isinstance(value, str) else f"(an error that is {kind_of(value)})"
        return Failure(known, INTERNAL_ERROR, text)
    fields = cast("dict[str, Any]", value)
    code = fields.get("code")
    if type(code) is float and code.is_integer():
        code = int(code)
    if type(code) is not int:
        code = INTERNAL_ERROR
    message = fields.get("message")
    if not isinstance(message, str):
        message = "" if message is None else f"(a message that is {kind_of(message)})"
    return Failure(known, code, message, fields.get("data"))


def _decode_slowly(frame: bytes) -> Incoming:
    """A frame that the first try refused: mended and read, or refused with its reason."""
    if frame.startswith(b"\xef\xbb\xbf"):
        return decode(frame[3:])
    try:
        value, remarks = decode_noted(frame)
    except Unreadable as problem:
        if problem.reason == TOO_DEEP:
            return _shallow_list(frame) or _invalid(TOO_DEEP, frame)
        return _invalid(problem.reason, frame, problem.offset, cut=problem.cut)
    if remarks:
        try:
            return _classify(_decode_envelope(mend(frame)[0]), frame)
        except (msgspec.MsgspecError, RecursionError):
            pass
    if isinstance(value, list):
        return _invalid("a batch, which this protocol revision does not have", frame)
    if not isinstance(value, dict):
        return _invalid(f"JSON, but {kind_of(value)} and no message", frame)
    fields = cast("dict[str, Any]", value)
    if fields.get("jsonrpc") != "2.0":
        return _invalid('JSON, but not marked "jsonrpc": "2.0", so no message', frame)
    if "method" in fields and not isinstance(fields["method"], str):
        return _invalid(f"a message whose method is {kind_of(fields['method'])}", frame)
    return _invalid(f"a message whose id is {kind_of(fields.get('id'))}", frame)


def _shallow_list(frame: bytes) -> Response | None:
    """A list of tools is handed on without what lies too deep, as its parser judges each alone.

    What is cut lies far below `MAX_DEPTH`, so the tool that had it is left out all the same, and
    the others stay (S3-10).
    """
    if b'"tools"' not in frame:
        return None
    shallow = prune(frame, 2 * MAX_DEPTH)
    if shallow is None:
        return None
    try:
        incoming = _classify(_decode_envelope(shallow), frame)
        result = decode_value(incoming.result) if isinstance(incoming, Response) else None
    except (msgspec.MsgspecError, Unreadable, RecursionError):
        return None
    if isinstance(incoming, Response) and isinstance(result, dict) and "tools" in result:
        return incoming
    return None


def _invalid(reason: str, frame: bytes, offset: int | None = None, *, cut: bool = False) -> Invalid:
    answers, asked = addressee(frame)
    head = frame[:PREVIEW].decode("utf-8", "backslashreplace")
    preview = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in head)
    return Invalid(reason, answers, offset, asked, preview, cut)
