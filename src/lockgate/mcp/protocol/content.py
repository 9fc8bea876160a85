"""The content blocks of a result, from JSON: every block becomes something that can be read.

A block of a known type with what it needs becomes that type. Text that is not a string is shown
as JSON. Everything else (unknown type, no type, null, a needed member missing) is kept as
`UnknownContent` under the name of its type. Each liberty is remarked upon (PB-122).
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from lockgate.content import (
    Audio,
    Content,
    EmbeddedResource,
    Image,
    JSONObject,
    ResourceLink,
    Text,
    UnknownContent,
)
from lockgate.mcp.protocol.jsontext import kind_of


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
    blocks = tuple(
        parse_block(block, position, remarks)
        for position, block in enumerate(cast("list[Any]", value))
    )
    return blocks, tuple(remarks)


def parse_block(value: Any, position: int, remarks: list[str]) -> Content:
    """Read one block. Remarks are appended; `position` is for them, 0-based."""
    if type(value) is not dict:
        remarks.append(f"content[{position}] is {kind_of(value)}, not an object")
        return Text(value) if isinstance(value, str) else UnknownContent(_bare(value), value)
    block = cast("dict[str, Any]", value)
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        if type(text) is str:
            return Text(text, _annotations(block))
        if text is not None:
            remarks.append(f"content[{position}].text is {kind_of(text)}, shown as JSON")
            return Text(msgspec.json.encode(text).decode(), _annotations(block))
    known = _known(kind, block)
    if known is not None:
        return known
    if not isinstance(kind, str):
        remarks.append(f"content[{position}] has no type")
        return UnknownContent("(none)", block)
    if kind in _KNOWN_TYPES:
        remarks.append(f"content[{position}] of type {kind} lacks what that type needs")
    else:
        remarks.append(f"content[{position}] is of unknown type {kind[:100]!r}")
    return UnknownContent(kind, block)


_KNOWN_TYPES = frozenset({"text", "image", "audio", "resource_link", "resource"})


def _known(kind: Any, block: dict[str, Any]) -> Content | None:
    match kind:
        case "image" | "audio":
            data, mime_type = block.get("data"), _text(block, "mimeType")
            if isinstance(data, str):
                make = Image if kind == "image" else Audio
                return make(data, mime_type or "application/octet-stream", _annotations(block))
        case "resource_link":
            uri = block.get("uri")
            if isinstance(uri, str):
                size = block.get("size")
                return ResourceLink(
                    uri=uri,
                    name=_text(block, "title") or _text(block, "name") or uri,
                    mime_type=_text(block, "mimeType"),
                    description=_text(block, "description"),
                    size=size if type(size) is int else None,
                    annotations=_annotations(block),
                )
        case "resource":
            resource = block.get("resource")
            if isinstance(resource, dict):
                fields = cast("dict[str, Any]", resource)
                uri, text, blob = fields.get("uri"), _text(fields, "text"), _text(fields, "blob")
                if isinstance(uri, str) and (text is not None or blob is not None):
                    mime_type = _text(fields, "mimeType")
                    return EmbeddedResource(uri, text, blob, mime_type, _annotations(block))
        case _:
            pass
    return None


def _text(block: dict[str, Any], name: str) -> str | None:
    value = block.get(name)
    return value if isinstance(value, str) else None


def _annotations(block: dict[str, Any]) -> JSONObject | None:
    value = block.get("annotations")
    return cast("JSONObject", value) if isinstance(value, dict) else None


def _bare(value: Any) -> str:
    return kind_of(value).split()[-1]
