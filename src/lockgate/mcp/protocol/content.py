"""The content blocks of a result, from JSON: every block becomes something that can be read.

A block of a known type with what it needs becomes that type. Text that is not a string is shown
as JSON. Everything else (unknown type, no type, null, a needed member missing, data that is no
base64) is kept as `UnknownContent` under the name of its type. Each liberty is remarked upon
(PB-122). What is base64 is looked at and not decoded (PB-124): a model's provider refuses the whole
conversation over one image that it can not read.
"""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec

from lockgate.content import (
    BLOCK_TYPES,
    Audio,
    Content,
    EmbeddedResource,
    Image,
    JSONObject,
    ResourceLink,
    Text,
    UnknownContent,
    base64_fault,
)
from lockgate.mcp.protocol.jsontext import MAX_DEPTH, deeper_than, kind_of

MAX_BLOCKS: Final = 10_000
"""Blocks of one result that are taken: each costs a hundred times what it takes on the wire, and
nobody reads as many."""


def too_many(count: int) -> tuple[Text, str]:
    """For a result of `count` blocks, over `MAX_BLOCKS`: what stands in the place of the others,
    and a remark."""
    left = f"{count - MAX_BLOCKS} of {count} content blocks are left out: {MAX_BLOCKS} are taken"
    return Text(f"[{left}]"), left


def parse_blocks(value: Any) -> tuple[tuple[Content, ...], tuple[str, ...]]:
    """Read the `content` member of a result. Never raises.

    Absent or null is no content. A string or a single block outside an array is read as if it were
    the only member of one.
    """
    if value is None:
        return (), ()
    remarks: list[str] = []
    if not isinstance(value, list):
        remarks.append(f"content is {kind_of(value)}, not an array")
        value = [value]
    given = cast("list[Any]", value)
    blocks = tuple(
        parse_block(block, position, remarks) for position, block in enumerate(given[:MAX_BLOCKS])
    )
    if len(given) > MAX_BLOCKS:
        note, remark = too_many(len(given))
        blocks += (note,)
        remarks.append(remark)
    return blocks, tuple(remarks)


def parse_block(value: Any, position: int, remarks: list[str]) -> Content:
    """Read one block. Remarks are appended; `position` is for them, 0-based."""
    where = f"content[{position}]"
    if type(value) is not dict:
        remarks.append(f"{where} is {kind_of(value)}, not an object")
        return Text(value) if isinstance(value, str) else UnknownContent(_bare(value), value)
    block = cast("dict[str, Any]", value)
    kind = block.get("type")
    if not isinstance(kind, str):
        remarks.append(f"{where} has no type")
        return UnknownContent("(none)", block)
    if kind not in BLOCK_TYPES:
        remarks.append(f"{where} is of unknown type {kind[:100]!r}")
        return UnknownContent(kind, block)
    known = _known(kind, block, where, remarks)
    if known is None:
        remarks.append(f"{where} of type {kind} lacks what that type needs")
    elif isinstance(known, str):
        remarks.append(f"{where} of type {kind} can not be used: its data {known}")
    else:
        return known
    return UnknownContent(kind, block)


def _known(
    kind: str, block: dict[str, Any], where: str, remarks: list[str]
) -> Content | str | None:
    """The block; what is wrong with its data; None if it lacks what its type needs."""
    annotations = read_object(block, "annotations", where, remarks)
    meta = read_object(block, "_meta", where, remarks)
    match kind:
        case "text":
            text = block.get("text")
            if text is None:
                return None
            if type(text) is not str:
                remarks.append(f"{where}.text is {kind_of(text)}, shown as JSON")
                text = msgspec.json.encode(text).decode()
            return Text(text, annotations, meta)
        case "image" | "audio":
            data = _data(block, "data", where, remarks)
            if data is None:
                return None
            if fault := base64_fault(data):
                return fault
            make = Image if kind == "image" else Audio
            mime_type = _text(block, "mimeType") or "application/octet-stream"
            return make(data, mime_type, annotations, meta)
        case "resource_link":
            return _link(block, annotations, meta)
        case _:
            return _resource(block, where, remarks, annotations, meta)


def _link(
    block: dict[str, Any], annotations: JSONObject | None, meta: JSONObject | None
) -> ResourceLink | None:
    uri = block.get("uri")
    if not isinstance(uri, str):
        return None
    size = block.get("size")
    return ResourceLink(
        uri=uri,
        name=_text(block, "title") or _text(block, "name") or uri,
        mime_type=_text(block, "mimeType"),
        description=_text(block, "description"),
        size=size if type(size) is int and size >= 0 else None,
        annotations=annotations,
        meta=meta,
    )


def _resource(
    block: dict[str, Any],
    where: str,
    remarks: list[str],
    annotations: JSONObject | None,
    meta: JSONObject | None,
) -> EmbeddedResource | str | None:
    """An embedded resource; `_meta` is the block's, or else that of the resource in it."""
    resource = block.get("resource")
    if not isinstance(resource, dict):
        return None
    fields = cast("dict[str, Any]", resource)
    uri, text = fields.get("uri"), _text(fields, "text")
    if not isinstance(uri, str):
        return None
    blob = None if text is not None else _data(fields, "blob", f"{where}.resource", remarks)
    if text is None:
        if blob is None:
            return None
        if blob and (fault := base64_fault(blob)):  # a resource may be empty
            return fault
    meta = meta or read_object(fields, "_meta", f"{where}.resource", remarks)
    return EmbeddedResource(uri, text, blob, _text(fields, "mimeType"), annotations, meta)


def read_object(
    fields: dict[str, Any], name: str, where: str, remarks: list[str]
) -> JSONObject | None:
    """A member that is to be an object: None, with a remark, if it is something else, or nests
    deeper than is read; None if it is absent or null."""
    value = fields.get(name)
    if value is None:
        return None
    if type(value) is not dict:
        remarks.append(f"{where}.{name} is {kind_of(value)}, not an object: left out")
        return None
    if deeper_than(value, MAX_DEPTH):
        remarks.append(f"{where}.{name} is nested deeper than {MAX_DEPTH} levels: left out")
        return None
    return cast("JSONObject", value)


def _data(fields: dict[str, Any], name: str, where: str, remarks: list[str]) -> str | None:
    """Base64 as a server sent it; broken into lines, as programs for mail do, it is joined."""
    data = _text(fields, name)
    if data is None:
        return None
    joined = "".join(data.split())
    if len(joined) == len(data):
        return data
    remarks.append(f"{where}.{name} holds white space: joined")
    return joined


def _text(block: dict[str, Any], name: str) -> str | None:
    value = block.get(name)
    return value if isinstance(value, str) else None


def _bare(value: Any) -> str:
    return kind_of(value).split()[-1]
