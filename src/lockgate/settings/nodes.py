"""A configuration file as a tree in which every key and value knows its place.

What the text says, not yet what it means: kinds (`settings.kinds`) give it a meaning, and edits
(`settings.edit`) use the spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

ScalarType = Literal["null", "boolean", "number", "text"]

_NULL = re.compile(r"(?:|~|null|Null|NULL)")
_BOOLEAN = re.compile(r"(?:true|True|TRUE|false|False|FALSE)")
_NUMBER = re.compile(
    r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
)


class Place(msgspec.Struct, frozen=True):
    """Where something stands: a file, a line and a column, both 1-based."""

    file: Path
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One word, number or text, as it was written."""

    text: str = field(repr=False)
    """Without quotes; may be a secret, so it is in no repr."""
    plain: bool
    """Written without quotes, so that `true`, `12` and `null` are not text."""
    place: Place
    start: int
    end: int
    """Span in characters of the file's text, quotes included."""

    @property
    def type(self) -> ScalarType:
        """By the core schema of YAML 1.2: `off`, `yes` and `2027-01-01` are text."""
        if not self.plain:
            return "text"
        if _NULL.fullmatch(self.text):
            return "null"
        if _BOOLEAN.fullmatch(self.text):
            return "boolean"
        return "number" if _NUMBER.fullmatch(self.text) else "text"


class Listing(msgspec.Struct, frozen=True):
    """A list."""

    items: tuple[Node, ...]
    flow: bool
    """Written in brackets."""
    place: Place
    start: int
    end: int


class Table(msgspec.Struct, frozen=True):
    """A mapping. A key that stands twice is in it once: the first is kept, the second reported."""

    entries: tuple[tuple[Scalar, Node], ...]
    flow: bool
    """Written in braces."""
    place: Place
    start: int
    end: int

    def get(self, key: str) -> Node | None:
        """The value under `key`, or None."""
        return next((value for name, value in self.entries if name.text == key), None)

    def __iter__(self) -> Iterator[tuple[Scalar, Node]]:
        return iter(self.entries)


Node: TypeAlias = Scalar | Listing | Table

_ARTICLES: Mapping[str, str] = {
    "null": "nothing",
    "boolean": "a switch",
    "number": "a number",
    "text": "text",
}


def kind_of(node: Node) -> str:
    """What a node is, in words that show nothing of its value."""
    match node:
        case Scalar():
            return _ARTICLES[node.type]
        case Listing():
            return "a list"
        case Table():
            return "a mapping"


def is_null(node: Node) -> bool:
    """Whether a key was written with nothing behind it."""
    return isinstance(node, Scalar) and node.type == "null"


def data_of(node: Node | None) -> object:
    """The bare content, without places: equal for two texts that say the same."""
    match node:
        case None:
            return None
        case Scalar():
            return None if node.type == "null" else (node.type, node.text)
        case Listing():
            return [data_of(item) for item in node.items]
        case Table():
            return {key.text: data_of(value) for key, value in node.entries}
