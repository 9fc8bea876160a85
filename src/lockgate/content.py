"""What a tool's result is made of: blocks in the shapes that MCP knows (2026-07-28, ContentBlock).

A block is a frozen value; `as_text` is what a model that reads only text is shown of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

JSONObject: TypeAlias = Mapping[str, Any]
"""A decoded JSON object. Numbers beyond 2**63 are Python ints, exact."""


class Text(msgspec.Struct, frozen=True):
    """Plain text."""

    text: str
    annotations: JSONObject | None = None

    def as_text(self) -> str:
        return self.text


class Image(msgspec.Struct, frozen=True):
    """An image, base64 as it came."""

    data: str
    mime_type: str
    annotations: JSONObject | None = None

    def as_text(self) -> str:
        return f"[image {self.mime_type}, {_decoded_size(self.data)}]"


class Audio(msgspec.Struct, frozen=True):
    """Sound, base64 as it came."""

    data: str
    mime_type: str
    annotations: JSONObject | None = None

    def as_text(self) -> str:
        return f"[audio {self.mime_type}, {_decoded_size(self.data)}]"


class ResourceLink(msgspec.Struct, frozen=True):
    """A pointer to a resource of the server; reading it is a call of its own."""

    uri: str
    name: str
    mime_type: str | None = None
    description: str | None = None
    size: int | None = None
    annotations: JSONObject | None = None

    def as_text(self) -> str:
        """Its name and address, with its type where that is known."""
        detail = f", {self.mime_type}" if self.mime_type else ""
        return f"[resource {self.name}: {self.uri}{detail}]"


class EmbeddedResource(msgspec.Struct, frozen=True):
    """A resource sent along: `text`, or `blob` in base64."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None
    annotations: JSONObject | None = None

    def as_text(self) -> str:
        """The text itself; of anything else the address, type and size."""
        if self.text is not None:
            return self.text
        kind = self.mime_type or "binary"
        return f"[resource {self.uri}, {kind}, {_decoded_size(self.blob or '')}]"


@dataclass(frozen=True, slots=True)
class UnknownContent:
    """A block of a type this version does not know, or that is malformed; kept as it came."""

    type: str
    raw: object = field(default=None, repr=False)

    def as_text(self) -> str:
        return f"[content of unknown type {self.type!r}]"


Content: TypeAlias = Text | Image | Audio | ResourceLink | EmbeddedResource | UnknownContent


def _decoded_size(base64: str) -> str:
    size = len(base64) * 3 // 4
    return f"{size} bytes" if size < 10_000 else f"{size / 1000:.0f} kB"
