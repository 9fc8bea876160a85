"""A call's result for programs."""

from __future__ import annotations

from typing import Any

from lockgate.content import Audio, EmbeddedResource, Image, ResourceLink, Text
from lockgate.tools.result import ToolResult


def result_data(result: ToolResult) -> dict[str, Any]:
    """One JSON object: `isError`, `kind`, `reason`, `content` in MCP's shapes, `structured`."""
    data: dict[str, Any] = {
        "isError": result.is_error,
        "kind": result.kind.value if result.kind else None,
        "reason": result.reason,
        "content": [_block(block) for block in result.content],
    }
    if result.structured is not None:
        data["structured"] = result.structured
    return data


def _block(block: Any) -> dict[str, Any]:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image(data=data, mime_type=mime) | Audio(data=data, mime_type=mime):
            kind = "image" if isinstance(block, Image) else "audio"
            return {"type": kind, "data": data, "mimeType": mime}
        case ResourceLink():
            return {"type": "resource_link", "uri": block.uri, "name": block.name}
        case EmbeddedResource():
            resource = {"uri": block.uri, "mimeType": block.mime_type}
            resource |= {"text": block.text} if block.text is not None else {"blob": block.blob}
            return {"type": "resource", "resource": resource}
        case _:
            return {"type": "unknown", "text": block.as_text()}
