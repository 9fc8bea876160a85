"""Messages as JSON, for keeping a session: what is read is exactly what was written.

The standard library's JSON and not msgspec's writes it, since a session must be kept whatever is
said in it: half a surrogate pair and a number that is none are text of a model, or of a tool, like
any other. Reading is msgspec's, which refuses what is no message. `FORMAT` is raised when a message
is written in a way that an earlier lockgate would not read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

import msgspec

from lockgate.agent.model import Message, ModelReply, ToolAnswer, ToolCall, Usage, UserMessage
from lockgate.content import (
    Audio,
    Content,
    EmbeddedResource,
    Image,
    ResourceLink,
    Text,
    UnknownContent,
)
from lockgate.errors import LocalError
from lockgate.tools.result import ErrorKind, ToolResult

FORMAT: Final = 1
"""The number of this way of writing messages."""

_BLOCKS: Final[Mapping[str, type[Text | Image | Audio | ResourceLink | EmbeddedResource]]] = {
    "text": Text,
    "image": Image,
    "audio": Audio,
    "resource_link": ResourceLink,
    "resource": EmbeddedResource,
}
_NAMES: Final[Mapping[type, str]] = {kind: name for name, kind in _BLOCKS.items()}
_UNKNOWN: Final = "unknown"


class UnreadableMessage(ValueError):
    """What was read is no message of this format. Nothing of it is in the text."""


class _Call(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    id: str
    name: str
    arguments: dict[str, Any]
    fault: str | None = None


class _Result(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    content: list[dict[str, Any]] = []
    kind: str | None = None
    reason: str | None = None
    structured: Any = None
    meta: dict[str, Any] | None = None


class _User(msgspec.Struct, tag_field="said", tag="user", omit_defaults=True):
    text: str
    attached: list[dict[str, Any]] = []


class _Reply(msgspec.Struct, tag_field="said", tag="model", omit_defaults=True):
    text: str = ""
    calls: list[_Call] = []
    cut_off: bool = False
    usage: tuple[int, int, int] = (0, 0, 0)
    state: dict[str, Any] | None = None


class _Answer(msgspec.Struct, tag_field="said", tag="tool", omit_defaults=True):
    call: str
    name: str
    result: _Result


def encoded(message: Message) -> bytes:
    """The message as one JSON document in ASCII.

    Of a result that holds what no JSON can hold (objects of a program, a nesting without end) the
    readable text is kept. Raises `LocalError` for any other message of that kind.
    """
    try:
        return _dumped(_written(message))
    except (ValueError, TypeError, RecursionError):
        if not isinstance(message, ToolAnswer):
            raise LocalError("what was said can not be written down: it is no JSON") from None
    plain = replace(message, result=_text_alone(message.result))
    return _dumped(_written(plain))


def decoded(body: bytes) -> Message:
    """The message that `encoded` wrote. Raises `UnreadableMessage`."""
    return _reading(body, _User | _Reply | _Answer, _message)


def encoded_result(result: ToolResult) -> bytes:
    """One result, as in the answers to calls."""
    try:
        return _dumped(_result_written(result))
    except (ValueError, TypeError, RecursionError):
        return _dumped(_result_written(_text_alone(result)))


def decoded_result(body: bytes) -> ToolResult:
    """The result that `encoded_result` wrote. Raises `UnreadableMessage`."""
    return _reading(body, _Result, _result)


def _reading(body: bytes, kind: Any, made: Callable[[Any], Any]) -> Any:
    try:
        return made(msgspec.convert(json.loads(body), kind))
    except (msgspec.ValidationError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableMessage(f"no message of format {FORMAT}: {type(error).__name__}") from None


def _dumped(value: object) -> bytes:
    return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode("ascii")


def _text_alone(result: ToolResult) -> ToolResult:
    return msgspec.structs.replace(result, content=(Text(result.text),), structured=None, meta=None)


def _written(message: Message) -> object:
    match message:
        case UserMessage():
            return _User(message.text, _blocks_written(message.attached))
        case ModelReply():
            usage = message.usage
            return _Reply(
                message.text,
                [_Call(c.id, c.name, dict(c.arguments), c.fault) for c in message.calls],
                message.cut_off,
                (usage.input, usage.output, usage.cached),
                None if message.state is None else dict(message.state),
            )
        case ToolAnswer():
            return _Answer(message.call_id, message.name, _result_written(message.result))


def _result_written(result: ToolResult) -> _Result:
    return _Result(
        _blocks_written(result.content),
        None if result.kind is None else result.kind.value,
        result.reason,
        result.structured,
        None if result.meta is None else dict(result.meta),
    )


def _blocks_written(blocks: Sequence[Content]) -> list[dict[str, Any]]:
    return [_block_written(block) for block in blocks]


def _block_written(block: Content) -> dict[str, Any]:
    if isinstance(block, UnknownContent):
        return {"block": _UNKNOWN, "type": block.type, "raw": block.raw}
    fields = {
        name: value for name, value in msgspec.structs.asdict(block).items() if value is not None
    }
    return {"block": _NAMES[type(block)], **fields}


def _message(written: _User | _Reply | _Answer) -> Message:
    match written:
        case _User():
            # A user message holds the blocks that `UserMessage` names; others were never written.
            attached = cast(
                "tuple[Image | Audio | EmbeddedResource, ...]", _blocks(written.attached)
            )
            return UserMessage(written.text, attached)
        case _Reply():
            calls = tuple(ToolCall(c.id, c.name, c.arguments, c.fault) for c in written.calls)
            usage = Usage(*written.usage)
            return ModelReply(written.text, calls, written.cut_off, usage, written.state)
        case _Answer():
            return ToolAnswer(written.call, written.name, _result(written.result))


def _result(written: _Result) -> ToolResult:
    kind = None if written.kind is None else ErrorKind(written.kind)
    return ToolResult(
        _blocks(written.content),
        kind is not None,
        kind,
        written.reason,
        written.structured,
        written.meta,
    )


def _blocks(written: Sequence[dict[str, Any]]) -> tuple[Content, ...]:
    return tuple(_block(one) for one in written)


def _block(written: dict[str, Any]) -> Content:
    fields = dict(written)
    name = fields.pop("block")
    if name == _UNKNOWN:
        return UnknownContent(fields["type"], fields.get("raw"))
    return msgspec.convert(fields, _BLOCKS[name])
