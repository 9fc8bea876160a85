"""What a body is: a page, other text, or something that can not be read."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import Final

_BROWSED: Final = frozenset({"text/html", "application/xhtml+xml"})
_TEXT: Final = frozenset(
    {
        "application/json",
        "application/ld+json",
        "application/x-ndjson",
        "application/jsonl",
        "application/xml",
        "application/javascript",
        "application/x-javascript",
        "application/ecmascript",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/sql",
        "application/graphql",
        "application/x-sh",
        "application/rtf",
    }
)
_SUFFIXES: Final = ("+json", "+xml", "+yaml")
_TYPE: Final = re.compile(r"[!#$&^_.+\w-]{1,60}/[!#$&^_.+\w-]{1,80}", re.ASCII)
_CHARSET: Final = re.compile(r";\s*charset\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s;\"']+)", re.IGNORECASE)
_PAGE: Final = re.compile(
    rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_LOOKED_AT: Final = 1024
"""Bytes of a body that its kind is told from, where its type does not say."""


class Kind(enum.Enum):
    """How a body is read."""

    PAGE = "page"
    """HTML: made into text."""
    TEXT = "text"
    """As it is."""
    BINARY = "binary"
    """Not at all."""


@dataclass(frozen=True, slots=True)
class Media:
    """What a `Content-Type` says."""

    type: str
    """Lower case, without parameters; empty if there is none that can be read."""
    charset: str | None

    @classmethod
    def parse(cls, header: str) -> Media:
        """Read the header's value; odd ones say nothing."""
        name, _, _ = header.partition(";")
        name = name.strip().lower()
        found = _CHARSET.search(header)
        charset = found[1].strip("\"' ") if found else None
        return cls(name if _TYPE.fullmatch(name) else "", charset)

    @property
    def kind(self) -> Kind | None:
        """How to read it; None: the body has to be looked at."""
        if not self.type:
            return None
        if self.type in _BROWSED:
            return Kind.PAGE
        if self.type.startswith("text/") or self.type in _TEXT or self.type.endswith(_SUFFIXES):
            return Kind.TEXT
        return Kind.BINARY


def kind_of(media: Media, data: bytes) -> Kind:
    """How to read a body, by its type and by what it begins with.

    A type that is none is not believed to be text where the body holds zero bytes, nor is a type
    that says text: then it is something else, whatever its name.
    """
    kind = media.kind
    if kind is Kind.BINARY:
        return kind
    start = data[:_LOOKED_AT]
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")) and not _is_wide(media):
        return Kind.BINARY
    if kind is None:
        return Kind.PAGE if _PAGE.match(start) else Kind.TEXT
    return kind


def _is_wide(media: Media) -> bool:
    return (media.charset or "").lower().replace("_", "-").startswith(("utf-16", "utf-32"))
