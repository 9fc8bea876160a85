"""A fingerprint: what a tool's definition was, per field, so that a change can be named (B-06)."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec
import rfc8785

from lockgate.schema.limits import MAX_DEPTH

_ENCODER: Final = msgspec.json.Encoder(order="deterministic")
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_EXACT: Final = 2**53
"""Integers from here on are not exact in RFC 8785's numbers."""


class Fingerprint(msgspec.Struct, frozen=True):
    """Hashes of each field and of all of them together."""

    digest: str
    """Hex SHA-256 over all fields."""
    fields: tuple[tuple[str, str], ...]
    """(field, hex SHA-256), sorted by field."""

    def changed(self, other: Fingerprint) -> tuple[str, ...]:
        """The names of the fields in which the two differ, sorted."""
        mine, theirs = dict(self.fields), dict(other.fields)
        return tuple(sorted(k for k in mine.keys() | theirs.keys() if mine.get(k) != theirs.get(k)))


def canonical_digest(value: Any) -> str:
    """Hex SHA-256 of a JSON value's canonical form (RFC 8785). Never raises.

    What RFC 8785 has no form for (an integer beyond 2**53, NaN, half a surrogate pair, a key that
    is no string), and what nests deeper than any schema may, is hashed by a form of our own: it
    begins with `~`, tells every value's type, and orders keys, so that equal values have equal
    digests and others do not.
    """
    try:
        shape = _Shape.SIMPLE if value is None or type(value) is str else _shape(value)
        if shape is _Shape.SIMPLE:
            data = _ENCODER.encode(value)
        elif shape is _Shape.JSON:
            data = rfc8785.dumps(value)
        else:
            data = _own_form(value)
    except (rfc8785.CanonicalizationError, ValueError, TypeError, RecursionError):
        data = _own_form(value)
    return hashlib.sha256(data).hexdigest()


def fingerprint(fields: Mapping[str, Any], digests: Mapping[str, str] = _NONE) -> Fingerprint:
    """Take the fingerprint of a definition's fields; absent fields are given as None.

    `digests` are further fields, by their `canonical_digest`: what many definitions have in common
    is hashed once.
    """
    found = {name: canonical_digest(value) for name, value in fields.items()}
    hashes = tuple(sorted({**found, **digests}.items()))
    return Fingerprint(canonical_digest([list(pair) for pair in hashes]), hashes)


class _Shape(enum.Enum):
    SIMPLE = enum.auto()
    """Strings, short integers, booleans, nulls under ASCII keys: the fast encoder's deterministic
    order is RFC 8785's own for these, at a fiftieth of the cost (a property test compares)."""
    JSON = enum.auto()
    DEEP = enum.auto()


def _shape(value: Any) -> _Shape:
    simple = True
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for item in level:
            kind = cast("type[object]", type(item))
            if kind is str:
                continue
            if kind is dict:
                if simple and not _is_plain(item):
                    simple = False
                below += item.values()
            elif kind is list:
                below += item
            elif kind is int:
                if simple and not -_EXACT < item < _EXACT:
                    simple = False
            elif kind is not bool and item is not None:
                simple = False
                if isinstance(item, Mapping):
                    below += cast("Mapping[Any, Any]", item).values()
                elif isinstance(item, list | tuple):
                    below += cast("list[Any]", item)
        if not below:
            return _Shape.SIMPLE if simple else _Shape.JSON
        level = below
    return _Shape.DEEP


def _is_plain(keys: Mapping[Any, Any]) -> bool:
    """Whether all keys are strings in ASCII."""
    try:
        return "".join(keys).isascii() and (not keys or set(map(type, keys)) == {str})
    except TypeError:  # not all of them are strings
        return False


def _own_form(value: Any) -> bytes:
    return b"~" + "".join(_spelled(value)).encode()


def _spelled(value: Any) -> Iterator[str]:
    """The pieces of our own form, without recursion."""
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _Mark):
            yield item.text
        elif isinstance(item, Mapping):
            held = cast("Mapping[Any, Any]", item)
            yield f"{{{len(held)}:"
            waiting.append(_Mark("}"))
            for key in sorted(held, key=_key_order, reverse=True):
                waiting += (held[key], key)
        elif isinstance(item, list | tuple):
            parts = cast("list[Any]", item)
            yield f"[{len(parts)}:"
            waiting.append(_Mark("]"))
            waiting.extend(reversed(parts))
        else:
            yield _scalar(item)


class _Mark(msgspec.Struct, frozen=True):
    text: str


def _scalar(value: Any) -> str:
    """A value without parts; integers in hexadecimal, since decimals are limited in length."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"i{value:x};"
    if isinstance(value, float) and value.is_integer():
        return f"i{int(value):x};"
    if isinstance(value, str):
        return f"s{len(value)}:{value!a};"
    return f"{type(value).__name__}:{value!a};"


def _key_order(key: Any) -> tuple[str, str]:
    return type(key).__name__, ascii(key)
