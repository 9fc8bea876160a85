"""What a tool's result is made of: blocks in the shapes that MCP knows (2026-07-28, ContentBlock).

A block is a frozen value; `as_text` is what a model that reads only text is shown of it: on one
line, bounded, with nothing hidden in it, unless it is text itself. What is base64 stays base64
until `decoded` is called, and nothing of it is ever written to a file.
"""

from __future__ import annotations

import json
from binascii import Error, a2b_base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, TypeAlias, cast

import msgspec

from lockgate.errors import LocalError
from lockgate.showing import visible

JSONObject: TypeAlias = Mapping[str, Any]
"""A decoded JSON object. Numbers beyond 2**63 are Python ints, exact."""

DECODED_LIMIT: Final = 32 * 1024 * 1024
"""Bytes that `decoded` makes at most, unless it is told otherwise."""

BLOCK_TYPES: Final = frozenset({"text", "image", "audio", "resource_link", "resource"})
"""What this version knows, by its `type` on the wire."""


class Text(msgspec.Struct, frozen=True):
    """Plain text."""

    text: str
    annotations: JSONObject | None = None
    """`audience`, `priority` and `lastModified` as they came: hints of a stranger's, which decide
    nothing. Of every block."""
    meta: JSONObject | None = None
    """The block's `_meta` as it came, for programs that know what it means. Of every block."""

    def as_text(self) -> str:
        return self.text


class Image(msgspec.Struct, frozen=True):
    """An image, base64 as it came."""

    data: str
    mime_type: str
    annotations: JSONObject | None = None
    meta: JSONObject | None = None

    def as_text(self) -> str:
        """Its type, its size, and its width and height where its head tells them."""
        return f"[image {_about(self.mime_type, self.data)}]"

    def decoded(self, limit: int = DECODED_LIMIT) -> bytes:
        """The bytes. Raises `LocalError` for over `limit` of them, before any is decoded, and for
        what is no base64."""
        return _decoded(self.data, limit)


class Audio(msgspec.Struct, frozen=True):
    """Sound, base64 as it came."""

    data: str
    mime_type: str
    annotations: JSONObject | None = None
    meta: JSONObject | None = None

    def as_text(self) -> str:
        """Its type and its size."""
        return f"[audio {_about(self.mime_type, self.data)}]"

    def decoded(self, limit: int = DECODED_LIMIT) -> bytes:
        """The bytes; see `Image.decoded`."""
        return _decoded(self.data, limit)


class ResourceLink(msgspec.Struct, frozen=True):
    """A pointer to a resource of the server; reading it is a call of its own."""

    uri: str
    name: str
    mime_type: str | None = None
    description: str | None = None
    size: int | None = None
    """Bytes, as the server says."""
    annotations: JSONObject | None = None
    meta: JSONObject | None = None

    def as_text(self) -> str:
        """Its name and address, with its type, size and description where they are known."""
        about = [f"{_line(self.name, _NAME)}: {_line(self.uri, _URI)}"]
        if self.mime_type:
            about.append(_line(self.mime_type, _NAME))
        if self.size is not None:
            about.append(_size(self.size))
        said = f"; {_line(self.description, _DESCRIPTION)}" if self.description else ""
        return f"[resource {', '.join(about)}{said}]"


class EmbeddedResource(msgspec.Struct, frozen=True):
    """A resource sent along: `text`, or `blob` in base64."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None
    annotations: JSONObject | None = None
    meta: JSONObject | None = None

    def as_text(self) -> str:
        """Its address and type, and below them the text; of anything else the size."""
        if self.text is not None:
            kind = f", {_line(self.mime_type, _NAME)}" if self.mime_type else ""
            return f"[resource {_line(self.uri, _URI)}{kind}]\n{self.text}"
        about = _about(self.mime_type or "binary", self.blob or "")
        return f"[resource {_line(self.uri, _URI)}, {about}]"

    def decoded(self, limit: int = DECODED_LIMIT) -> bytes:
        """The bytes of the blob, or of the text in UTF-8; see `Image.decoded`."""
        if self.text is None:
            return _decoded(self.blob or "", limit)
        if len(self.text) > limit:
            raise _too_large(len(self.text), limit)
        return self.text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class UnknownContent:
    """A block of a type this version does not know, or that is malformed; kept as it came."""

    type: str
    raw: object = field(default=None, repr=False)

    def as_text(self) -> str:
        """The name of its type, and of a type that is not known what it holds, in brief."""
        if self.type in BLOCK_TYPES:
            return f"[{self.type} that can not be read]"
        name = f"[content of unknown type '{_line(self.type, _NAME)}'"
        if not isinstance(self.raw, dict | list):
            return f"{name}]"
        brief = json.dumps(_brief(cast("object", self.raw), 4), ensure_ascii=False)
        return f"{name}: {_line(brief, _UNKNOWN)}]"


Content: TypeAlias = Text | Image | Audio | ResourceLink | EmbeddedResource | UnknownContent


def base64_fault(data: str) -> str | None:
    """What keeps `data` from being base64 (RFC 4648, 4), as the end of a sentence; None if nothing.

    Looks at all of it and decodes nothing.
    """
    if not data:
        return "is empty"
    if not data.isascii() or data.rstrip("=").encode().translate(None, _ALPHABET):
        return "is no base64: it holds other characters"
    if len(data) % 4 or data.endswith("==="):
        return "is no base64: it is cut off, or lacks its padding"
    return None


def pixels(data: str) -> tuple[int, int] | None:
    """Width and height of an image in base64, by its head (PNG, JPEG, GIF, WebP, BMP); else None.

    Decodes a few bytes, of a JPEG at most 64 KiB: its size stands after what a camera noted.
    """
    head = _head(data, 32)
    if head.startswith(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"):
        size = int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    elif head.startswith((b"GIF87a", b"GIF89a")):
        size = _little(head, 6, 2), _little(head, 8, 2)
    elif head.startswith(b"BM") and head[14:18] in _BMP:
        height = int.from_bytes(head[22:26], "little", signed=True)
        size = _little(head, 18, 4), abs(height)
    elif head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        size = _webp(head)
    elif head.startswith(b"\xff\xd8\xff"):
        size = _jpeg(_head(data, 1 << 16))
    else:
        return None
    return size if 0 < size[0] < 1 << 31 and 0 < size[1] < 1 << 31 else None


_ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NAME: Final = 100
_URI: Final = 2000
_DESCRIPTION: Final = 300
_UNKNOWN: Final = 500
"""Characters of each that `as_text` shows."""
_NO_SIZE: Final = (0, 0)
_BMP: Final = frozenset(size.to_bytes(4, "little") for size in (40, 52, 56, 108, 124))
"""Sizes of the headers that a BMP file may have, the oldest one left aside."""


def _line(text: str, limit: int) -> str:
    """A stranger's word on one line, with nothing in it that hides or deceives."""
    if len(text) <= limit:
        return visible(text)
    return f"{visible(text[:limit])}… ({len(text):,} characters)"


def _about(mime_type: str, data: str) -> str:
    """Type, width and height if it is an image, and size, of what is in base64."""
    size = pixels(data)
    dimensions = "" if size is None else f", {size[0]}x{size[1]} pixels"
    return f"{_line(mime_type, _NAME)}{dimensions}, {_size(_decoded_size(data))}"


def _size(size: int) -> str:
    return f"{size} bytes" if size < 10_000 else f"{size / 1000:.0f} kB"


def _decoded_size(data: str) -> int:
    return len(data) * 3 // 4 - (data.endswith("=") + data.endswith("=="))


def _decoded(data: str, limit: int) -> bytes:
    size = _decoded_size(data)
    if size > limit:
        raise _too_large(size, limit)
    try:
        return a2b_base64(data, strict_mode=True)
    except (Error, ValueError):
        raise LocalError("the data is no base64: it can not be decoded") from None


def _too_large(size: int, limit: int) -> LocalError:
    return LocalError(f"the data has {size:,} bytes, over the limit of {limit:,}: not decoded")


def _head(data: str, size: int) -> bytes:
    """The first bytes, at most about `size`; none of what is no base64."""
    try:
        return a2b_base64(data[: (size + 2) // 3 * 4])
    except (Error, ValueError):
        return b""


def _little(head: bytes, at: int, size: int) -> int:
    return int.from_bytes(head[at : at + size], "little")


def _webp(head: bytes) -> tuple[int, int]:
    match head[12:16]:
        case b"VP8X":
            return _little(head, 24, 3) + 1, _little(head, 27, 3) + 1
        case b"VP8 ":
            return _little(head, 26, 2) & 0x3FFF, _little(head, 28, 2) & 0x3FFF
        case b"VP8L":
            bits = _little(head, 21, 4)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case _:
            return _NO_SIZE


def _jpeg(head: bytes) -> tuple[int, int]:
    """The size in the frame header, which comes after any number of other segments."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(head[at + 7 : at + 9]), int.from_bytes(head[at + 5 : at + 7])
        at += 2 + int.from_bytes(head[at + 2 : at + 4]) if marker != 0xFF else 1
    return _NO_SIZE


def _brief(value: object, depth: int) -> object:
    """The beginning of a JSON value: few members, short texts, not deep."""
    match value:
        case str():
            return value if len(value) <= _NAME else f"{value[:_NAME]}…"
        case dict() if depth:
            return dict(_members(cast("dict[object, object]", value), depth))
        case list() if depth:
            return [_brief(one, depth - 1) for one in cast("list[object]", value)[:10]]
        case bool() | int() | float() | None:
            return value
        case _:
            return "…"


def _members(value: dict[object, object], depth: int) -> Iterator[tuple[str, object]]:
    for name, held in islice(value.items(), 10):
        yield str(name)[:_NAME], _brief(held, depth - 1)
