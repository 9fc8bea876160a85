"""A page of a list, whatever is listed: each entry judged alone (S3-10), bounded. No I/O.

2026-07-28, server/utilities/pagination and caching.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar, cast

import msgspec

from lockgate.mcp.protocol.jsontext import Unreadable, decode_noted, kind_of
from lockgate.mcp.protocol.profile import read_ttl

T = TypeVar("T")


class LeftOut(msgspec.Struct, frozen=True):
    """One entry that can not be used."""

    tool: str
    """Its name, or `tool 3` (1-based, within the page) if it has none; of whatever is listed."""
    reason: str


class Page(msgspec.Struct, Generic[T], frozen=True):
    """One page of a list."""

    entries: tuple[T, ...]
    """In the server's order; one that comes twice is here twice."""
    left_out: tuple[LeftOut, ...] = ()
    next_cursor: str | None = None
    """To be sent back byte for byte for the next page; None at the end. "" is a cursor."""
    remarks: tuple[str, ...] = ()
    ttl_ms: int | None = None
    """Milliseconds the page stays fresh (2026-07-28, Caching); None if the server says nothing."""
    beyond: int = 0
    """Entries that were not looked at, because there are too many."""


Judge: TypeAlias = Callable[[Any, int], T | LeftOut]
"""Reads one entry, given its place in the page, from 1."""


def read_page(
    raw: bytes | msgspec.Raw, member: str, what: str, judge: Judge[T], most: int | None = None
) -> Page[T]:
    """Read an answer whose `member` is a list of `what`, of its entries the first `most`.

    Raises `Unreadable` if there is no such array in it. `nextCursor` of a wrong type ends the list
    (PB-140).
    """
    value, remarks = decode_noted(raw)
    if not isinstance(value, dict):
        raise Unreadable(f"{kind_of(value)} where an object has to be")
    result = cast("dict[str, Any]", value)
    listed = result.get(member)
    if not isinstance(listed, list):
        fault = f"{kind_of(listed)} as its {member}" if member in result else f"no {member} member"
        raise Unreadable(f"a list of {what} with {fault}")
    entries: list[T] = []
    left_out: list[LeftOut] = []
    definitions = cast("list[Any]", listed)
    for position, definition in enumerate(definitions[:most], 1):
        judged = judge(definition, position)
        if isinstance(judged, LeftOut):
            left_out.append(judged)
        else:
            entries.append(judged)
    cursor = result.get("nextCursor")
    if cursor is not None and not isinstance(cursor, str):
        remarks += (f"nextCursor is {kind_of(cursor)}, not a string: the list ends here",)
        cursor = None
    beyond = 0 if most is None else max(0, len(definitions) - most)
    return Page(tuple(entries), tuple(left_out), cursor, remarks, read_ttl(result), beyond)


def text_of(fields: dict[str, Any], name: str, remarks: list[str]) -> str | None:
    """A member that is to be a string; of a wrong type it counts as absent, with a remark."""
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    remarks.append(f"{name} is {kind_of(value)}, not a string: counts as absent")
    return None
