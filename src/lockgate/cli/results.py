"""A call's result for programs."""

from __future__ import annotations

from typing import Any

import msgspec

from lockgate.content import Audio, Content, EmbeddedResource, Image, ResourceLink, Text
from lockgate.tools.result import ToolResult


def result_data(result: ToolResult) -> dict[str, Any]:
    """One JSON object: `isError`, `kind`, `reason`, `content` in MCP's shapes, `structured`, and
    `_meta` if there is any."""
    data: dict[str, Any] = {
        "isError": result.is_error,
        "kind": result.kind.value if result.kind else None,
        "reason": result.reason,
        "content": [block_data(block) for block in result.content],
    }
    if result.structured is not None:
        data["structured"] = result.structured
    if result.meta is not None:
        data["_meta"] = result.meta
    return data


def block_data(block: Content) -> dict[str, Any]:
    """One block in MCP's shape; of a type that is not known as it came, with what it says."""
    match block:
        case Text():
            shape: dict[str, Any] = {"type": "text", "text": block.text}
        case Image() | Audio():
            kind = "image" if isinstance(block, Image) else "audio"
            shape = {"type": kind, "data": block.data, "mimeType": block.mime_type}
        case ResourceLink():
            shape = {"type": "resource_link", "uri": block.uri, "name": block.name}
            shape |= _known(
                mimeType=block.mime_type, description=block.description, size=block.size
            )
        case EmbeddedResource():
            resource = {"uri": block.uri, "mimeType": block.mime_type}
            resource |= {"text": block.text} if block.text is not None else {"blob": block.blob}
            shape = {"type": "resource", "resource": resource}
        case _:
            return {"type": "unknown", "text": block.as_text(), "raw": _plain(block.raw)}
    return shape | _known(annotations=block.annotations, _meta=block.meta)


def _known(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _plain(raw: object) -> Any:
    """A block as it came; None if it is nothing that JSON has a form for."""
    try:
        return msgspec.to_builtins(raw, str_keys=True)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
