"""Work that goes on after its request was answered: what a server says of it. No I/O.

The tasks extension of 2026-07-28 (io.modelcontextprotocol/tasks): a tool's call is answered with a
handle, and whoever has that asks for the result. A handle can be all that a server asks for to let
somebody at a task, so no text of ours holds one.
"""

from __future__ import annotations

import enum
from typing import Any, Final, cast

import msgspec
from msgspec import Raw

from lockgate.mcp.protocol.input_required import InputRequest, read_requests
from lockgate.mcp.protocol.jsonrpc import INTERNAL_ERROR, Failure
from lockgate.mcp.protocol.jsontext import Unreadable, decode_noted, kind_of
from lockgate.mcp.protocol.profile import milliseconds

EXTENSION: Final = "io.modelcontextprotocol/tasks"
"""By which either side declares it."""
TASK: Final = "task"
"""The `resultType` of an answer that is a handle."""
GET: Final = "tasks/get"
UPDATE: Final = "tasks/update"
CANCEL: Final = "tasks/cancel"
CHANGED: Final = "notifications/tasks"
"""What a server says that was asked to tell how a task stands."""
MAX_ID: Final = 4096
"""Characters of a handle: it is carried in a header too."""


class Status(enum.Enum):
    """How a task stands."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    """By an error of the protocol's; an error of the tool's is a result."""
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Whether nothing about it changes any more."""
        return self not in (Status.WORKING, Status.INPUT_REQUIRED)


class Task(msgspec.Struct, frozen=True):
    """A task, as its server says it is."""

    id: str
    """The handle."""
    status: Status
    words: str | None = None
    """What the server says about it; a stranger's."""
    ttl_ms: int | None = None
    """Milliseconds for which the server keeps it, from its making; None if that has no end, or is
    not said."""
    poll_ms: int | None = None
    """Milliseconds that the server wants between two looks."""
    requests: tuple[InputRequest, ...] = ()
    """What it wants to know, where it waits for that."""
    result: Raw | None = None
    """The JSON text of the result, of a completed one."""
    error: Failure | None = None
    """Of a failed one; the id of its request is None."""

    def __repr__(self) -> str:
        return f"<Task {self.status.value}>"


class _Wire(msgspec.Struct, rename="camel"):
    task_id: Any = None
    status: Any = None
    status_message: Any = None
    ttl_ms: Any = None
    poll_interval_ms: Any = None
    input_requests: Any = None
    result: Raw | None = None
    error: Any = None


_decode = msgspec.json.Decoder(_Wire).decode


def read_task(raw: bytes | Raw) -> Task:
    """Read a handle, or the answer to `tasks/get`.

    Raises `Unreadable` where it can not be told what it is: no handle, no status that is known,
    inputs that can not be answered. A failed one without a usable error, and a completed one
    without a result, are what they say they are; what is odd about the rest counts as absent.
    """
    fields = _fields(raw)
    id = fields.task_id
    if not isinstance(id, str) or not id:
        raise Unreadable("a task without a taskId")
    if len(id) > MAX_ID:
        raise Unreadable(f"a task whose taskId has {len(id):,} characters, over {MAX_ID:,}")
    status = next((one for one in Status if one.value == fields.status), None)
    if status is None:
        raise Unreadable(f"a task of a status that is not known: {str(fields.status)[:40]!r}")
    words = fields.status_message
    requests: tuple[InputRequest, ...] = ()
    if status is Status.INPUT_REQUIRED:
        requests = read_requests(fields.input_requests)
    return Task(
        id,
        status,
        words if isinstance(words, str) and words else None,
        milliseconds(fields.ttl_ms),
        milliseconds(fields.poll_interval_ms),
        requests,
        fields.result if status is Status.COMPLETED else None,
        _error(fields.error) if status is Status.FAILED else None,
    )


def _fields(raw: bytes | Raw) -> _Wire:
    try:
        return _decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        pass  # by the rules for careless texts, or no object
    value, _ = decode_noted(raw)
    if not isinstance(value, dict):
        raise Unreadable(f"{kind_of(value)} where an object has to be")
    held = cast("dict[str, Any]", value)
    result = held.get("result")
    return _Wire(
        task_id=held.get("taskId"),
        status=held.get("status"),
        status_message=held.get("statusMessage"),
        ttl_ms=held.get("ttlMs"),
        poll_interval_ms=held.get("pollIntervalMs"),
        input_requests=held.get("inputRequests"),
        result=None if result is None else Raw(msgspec.json.encode(result)),
        error=held.get("error"),
    )


def _error(value: Any) -> Failure:
    """The error of a task, as an answer to the call it stands for."""
    held = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    code, message = held.get("code"), held.get("message")
    return Failure(
        None,
        code if type(code) is int else INTERNAL_ERROR,
        message if isinstance(message, str) else "it does not say what",
        held.get("data"),
    )
