"""A fingerprint: what a tool's definition was, per field, so that a change can be named (B-06)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import rfc8785


@dataclass(frozen=True, slots=True)
class Fingerprint:
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
    """Hex SHA-256 of a JSON value's canonical form (RFC 8785).

    Integers beyond 2**53, which RFC 8785 has no form for, are hashed by their decimal digits;
    values that are no JSON (a lone surrogate, NaN) by an escaped form, so nothing ever raises.
    """
    try:
        data = rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError):
        data = b"~" + ascii(_sorted(value)).encode()
    return hashlib.sha256(data).hexdigest()


def fingerprint(fields: Mapping[str, Any]) -> Fingerprint:
    """Take the fingerprint of a definition's fields; absent fields are given as None."""
    hashes = tuple((name, canonical_digest(fields[name])) for name in sorted(fields))
    return Fingerprint(canonical_digest([list(pair) for pair in hashes]), hashes)


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [(k, _sorted(value[k])) for k in sorted(value, key=str)]  # pyright: ignore
    if isinstance(value, list | tuple):
        return [_sorted(v) for v in value]  # pyright: ignore
    return value
