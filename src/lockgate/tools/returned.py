"""What a plain function returns, as a result: text stays text, anything else becomes JSON."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec

from lockgate.content import (
    Audio,
    Content,
    EmbeddedResource,
    Image,
    ResourceLink,
    Text,
    UnknownContent,
)
from lockgate.tools.result import ErrorKind, Outcome, ToolResult

_BLOCKS = (Text, Image, Audio, ResourceLink, EmbeddedResource, UnknownContent)


def as_result(value: object) -> ToolResult | Outcome:
    """The result that a function means by returning `value`.

    A `ToolResult` or `Outcome` is taken as it is, a string is text, None is an empty result, a
    content block (or a list of nothing but blocks) is content. Everything else that has a JSON
    form is given as JSON text and as structured content. What has none is an error result: the
    function did run, and its value can not be shown.
    """
    match value:
        case ToolResult() | Outcome():
            return value
        case str():
            return ToolResult.of(value)
        case None:
            return ToolResult()
        case _:
            blocks = _blocks(value)
            return _json_result(value) if blocks is None else ToolResult(blocks)


def _blocks(value: object) -> tuple[Content, ...] | None:
    if isinstance(value, _BLOCKS):
        return (value,)
    if not isinstance(value, list | tuple) or not value:
        return None
    items = cast("list[object]", value)
    blocks = tuple(item for item in items if isinstance(item, _BLOCKS))
    return blocks if len(blocks) == len(items) else None


def _json_result(value: object) -> ToolResult:
    try:
        text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, OverflowError, RecursionError, NotImplementedError) as error:
        return ToolResult.error(
            ErrorKind.TOOL_ERROR,
            f"the tool ran, but returned a {type(value).__name__} that has no JSON form: {error}",
            reason="not_json",
        )
    return ToolResult.of(text, structured=json.loads(text))


def _plain(value: object) -> Any:
    """JSON values only: keys are strings, enums their values, dataclasses and structs objects."""
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_encode_path)


def _encode_path(value: Any) -> Any:
    if hasattr(value, "__fspath__"):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} is no type that JSON knows")
