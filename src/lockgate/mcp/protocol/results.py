"""What servers answer to the requests of a client, read leniently and remarked upon.

A stranger's mistake costs as little as possible: one bad tool never takes the others with it
(S3-10), one bad content block never the result. `Unreadable` is raised only where nothing is left
to be used, and each function says when.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from lockgate.content import Content, JSONObject, Text, UnknownContent
from lockgate.mcp.protocol.content import MAX_BLOCKS, parse_blocks, read_object, too_many
from lockgate.mcp.protocol.jsontext import (
    MAX_DEPTH,
    Unreadable,
    decode_noted,
    deeper_than,
    kind_of,
)
from lockgate.mcp.protocol.listing import (
    LeftOut,
    ListedTool,
    ToolPage,
    parse_tools_page,
    read_tool,
)
from lockgate.mcp.protocol.profile import (
    Discovered,
    Initialized,
    ServerProfile,
    parse_discover,
    parse_initialize,
)

__all__ = [
    "COMPLETE",
    "CallResult",
    "Discovered",
    "Initialized",
    "LeftOut",
    "ListedTool",
    "ServerProfile",
    "ToolPage",
    "Unreadable",
    "parse_call_result",
    "parse_discover",
    "parse_initialize",
    "parse_tools_page",
    "read_tool",
]

COMPLETE = "complete"
"""The `resultType` of a final answer; also what an absent one means."""


class CallResult(msgspec.Struct, frozen=True, gc=False):  # JSON has no cycles
    """The answer to `tools/call`."""

    content: tuple[Content, ...] = ()
    is_error: bool = False
    structured: Any = None
    """The decoded `structuredContent`; None if absent or null."""
    result_type: str | None = None
    """`resultType` as it came; None if absent. Means something in the modern era only."""
    remarks: tuple[str, ...] = ()
    meta: JSONObject | None = None
    """The result's `_meta` as it came."""

    @property
    def is_final(self) -> bool:
        """Whether this is what the call came to; of a modern server, where the type has a meaning.

        Else it asks for input first (`input_required`), is the handle of a task (`tasks`), or is
        of a type that is not known.
        """
        return self.result_type is None or self.result_type == COMPLETE


class _TextBlock(msgspec.Struct, frozen=True, tag_field="type", tag="text", gc=False):
    text: str
    annotations: dict[str, Any] | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class _TextResult(msgspec.Struct, frozen=True, rename="camel", gc=False):  # JSON has no cycles
    """What nearly every result is: blocks of text, and nothing odd about them."""

    content: list[_TextBlock]
    is_error: bool = False
    structured_content: Any = None
    result_type: str | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


_decode_text = msgspec.json.Decoder(_TextResult).decode


def parse_call_result(raw: bytes | msgspec.Raw) -> CallResult:
    """Read the answer to a call. Never raises.

    Missing content is none (PB-122). `isError` is true for `true` and, with a remark, for anything
    else that does not clearly mean false, such as `1` and `"yes"`: nobody means success by them. An
    answer that is no object, or can not be decoded, is shown as what it is.
    """
    # One pass in C; whatever is not exactly of that shape is looked at by the rules.
    try:
        plain = _decode_text(raw)
    except (msgspec.MsgspecError, RecursionError):
        return _by_the_rules(raw)
    structured, meta = plain.structured_content, plain.meta
    if len(raw) > 2 * MAX_DEPTH and _deep(plain):  # a level takes two characters at least
        return _by_the_rules(raw)
    remarks: tuple[str, ...] = ()
    blocks = plain.content
    if len(blocks) > MAX_BLOCKS:
        note, remark = too_many(len(blocks))
        blocks, remarks = [*blocks[:MAX_BLOCKS], _TextBlock(note.text)], (remark,)
    if len(blocks) == 1:
        block = blocks[0]
        content = (Text(block.text, block.annotations, block.meta),)
    else:
        content = tuple([Text(block.text, block.annotations, block.meta) for block in blocks])
    return CallResult(content, plain.is_error, structured, plain.result_type, remarks, meta)


def _deep(plain: _TextResult) -> bool:
    """Whether any part of it nests deeper than others will walk through."""
    parts = [plain.structured_content, plain.meta]
    for block in plain.content:
        if block.annotations or block.meta:
            parts += (block.annotations, block.meta)
    return deeper_than([part for part in parts if part], MAX_DEPTH + 1)


def _by_the_rules(raw: bytes | msgspec.Raw) -> CallResult:
    try:
        value, remarks = decode_noted(raw)
    except Unreadable as problem:
        text = f"[the server's answer is {problem.reason}]"
        return CallResult((Text(text),), True, remarks=(f"the result is {problem.reason}",))
    if type(value) is not dict:
        return _bare_result(value, remarks)
    result = cast("dict[str, Any]", value)
    content, odd = parse_blocks(result.get("content"))
    structured = result.get("structuredContent")
    if structured is not None and deeper_than(structured, MAX_DEPTH):
        structured = None
        odd += (f"structuredContent is nested deeper than {MAX_DEPTH} levels: left out",)
        content += (Text(f"[{odd[-1]}]"),)
    if odd:
        remarks += odd
    noted: list[str] = []
    meta = read_object(result, "_meta", "the result", noted)
    remarks += tuple(noted)
    is_error = result.get("isError", False)
    if type(is_error) is not bool:
        remarks += (f"isError is {kind_of(is_error)}, not true or false",)
        is_error = _means_error(is_error)
    result_type = result.get("resultType")
    if result_type is not None and not isinstance(result_type, str):
        remarks += (f"resultType is {kind_of(result_type)}, not a string",)
        result_type = kind_of(result_type)
    return CallResult(content, is_error, structured, result_type, remarks, meta)


def _means_error(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in ("", "false", "no", "off", "0", "null", "none")
    return bool(value)  # null, zero and what is empty say nothing of an error


def _bare_result(value: Any, remarks: tuple[str, ...]) -> CallResult:
    remarks += (f"the result is {kind_of(value)}, not an object",)
    if value is None:
        return CallResult(remarks=remarks)
    if isinstance(value, str):
        return CallResult((Text(value),), remarks=remarks)
    return CallResult((UnknownContent(kind_of(value).split()[-1], value),), remarks=remarks)
