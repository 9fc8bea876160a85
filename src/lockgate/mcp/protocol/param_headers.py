"""Arguments of a tool that a server wants mirrored into headers: `x-mcp-header`.

2026-07-28, basic/transports/streamable-http, "Custom Headers from Tool Parameters". A definition
that breaks the rules is not to be used over HTTP, and its tool is left out by name; other
transports ignore the annotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from lockgate.content import JSONObject
from lockgate.mcp.protocol.eras import header_value

ANNOTATION: Final = "x-mcp-header"
PREFIX: Final = "Mcp-Param-"
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""RFC 9110, 5.6.2."""
_TYPES: Final = ("string", "integer", "boolean")
_SAFE: Final = 2**53 - 1
_DATA: Final = frozenset({"default", "const", "enum", "examples"})
"""Keywords whose value is no schema."""
_NAMED: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
"""Keywords whose value holds schemas by name."""

_Path: TypeAlias = tuple[str, ...]


class BrokenAnnotation(ValueError):
    """An annotation that breaks the rules: which, where, and how."""


class Unmirrored(ValueError):
    """An argument that has to go into a header and can not."""


@dataclass(frozen=True, slots=True)
class ParamHeaders:
    """Which arguments of one tool are mirrored."""

    sources: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(header, path of property names from the root of the arguments), in the schema's order."""

    def of(self, arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """The headers of one call; absent and null arguments have none.

        Raises `Unmirrored`, naming the argument, for a value that has no form as a header.
        """
        if not self.sources:
            return ()
        found: list[tuple[str, str]] = []
        for header, path in self.sources:
            value = _at(arguments, path)
            if value is not None:
                found.append((header, header_value(_text(value, path))))
        return tuple(found)


def read_param_headers(input_schema: JSONObject) -> ParamHeaders:
    """Read the annotations of a tool's input schema. Raises `BrokenAnnotation`."""
    sources: dict[str, tuple[str, _Path]] = {}
    for node, path in _annotated(input_schema):
        where = ".".join(path) if path else "a place that is no property"
        name = node[ANNOTATION]
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise BrokenAnnotation(f"{ANNOTATION} at {where} is no name of a header")
        if not path:
            raise BrokenAnnotation(
                f"{ANNOTATION} {name!r} stands where no plain chain of properties leads"
            )
        kind = node.get("type")
        if kind not in _TYPES:
            raise BrokenAnnotation(
                f"{ANNOTATION} {name!r} is on {where}, whose type is none of {', '.join(_TYPES)}"
            )
        if name.casefold() in sources:
            raise BrokenAnnotation(f"{ANNOTATION} {name!r} comes twice")
        sources[name.casefold()] = PREFIX + name, path
    return ParamHeaders(tuple(sources.values()))


def _annotated(schema: JSONObject) -> Iterator[tuple[dict[str, Any], _Path]]:
    """Every part of a schema with an annotation, and the properties that lead to it; no path where
    anything but properties does. Bounded by the schema, which was read from a frame."""
    waiting: list[tuple[Any, _Path, bool]] = [(schema, (), True)]
    while waiting:
        part, path, plain = waiting.pop()
        if isinstance(part, list):
            waiting += ((item, (), False) for item in reversed(cast("list[Any]", part)))
        if not isinstance(part, dict):
            continue
        node = cast("dict[str, Any]", part)
        if ANNOTATION in node:
            yield node, path if plain else ()
        inner: list[tuple[Any, _Path, bool]] = []
        for key, value in node.items():
            if key in _NAMED and isinstance(value, dict):
                plainly = plain and key == "properties"
                named = cast("dict[str, Any]", value)
                inner += ((child, (*path, name), plainly) for name, child in named.items())
            elif key not in _DATA and key != ANNOTATION:
                inner.append((value, (), False))
        waiting += reversed(inner)


def _at(arguments: Mapping[str, Any], path: _Path) -> Any:
    value: Any = arguments
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = cast("Mapping[str, Any]", value).get(name)
    return value


def _text(value: Any, path: _Path) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and -_SAFE <= value <= _SAFE:
        return str(value)
    where = ".".join(path)
    if isinstance(value, int):
        raise Unmirrored(f"{where} has to go into a header, and is beyond the integers that can")
    raise Unmirrored(f"{where} has to go into a header, and is no string, integer or boolean")
