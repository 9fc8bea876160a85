"""The arguments of a call, line by line, each behind a gutter that no argument can produce.

Whatever an argument holds, a line of it begins with `|`: it can not be taken for a line of the
question itself, which no other line of an argument could be told from (S0-08, PB-153).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from lockgate.showing import folded, looks_secret, masked, quoted, visible

BEGINS: Final = "| "
"""Before the first line of a member."""
GOES_ON: Final = "|> "
"""Before a line that goes on with the member of the line before."""

_INDENT: Final = 2
_MAX_DEPTH: Final = 6
"""Levels that are shown by indentation; what is deeper is one text."""
_ESCAPE: Final = re.compile(r"\\(.)")

_Held: TypeAlias = Mapping[str, Any] | list[Any]
_Member: TypeAlias = tuple[str, Any, bool]
"""What stands before the value, the value, and whether it stands under a secret-looking key."""


def argument_lines(arguments: Mapping[str, Any], width: int, *, reveal: bool) -> Iterator[str]:
    """Every member in order, nothing left out, in lines of at most `width` columns (24 or more).

    Up to six levels are shown by indentation, and what is below them as one text, so that depth
    pushes nothing out of sight. `reveal` shows the values under secret-looking keys too.
    """
    open_: list[Iterator[_Member]] = [_members(arguments, secret=False)]
    while open_:
        member = next(open_[-1], None)
        if member is None:
            open_.pop()
            continue
        head, value, secret = member
        margin = " " * min((len(open_) - 1) * _INDENT, width // 4)
        if not (isinstance(value, Mapping | list) and value):
            text = f"{head} {_scalar(value, hidden=secret and not reveal)}"
        elif len(open_) < _MAX_DEPTH:
            text = head
            open_.append(_members(cast("_Held", value), secret=secret))
        else:
            text = f"{head} {_as_one_text(cast('_Held', value), secret=secret, reveal=reveal)}"
        yield from _behind_gutter(text, margin, width)


def holds_secrets(arguments: Mapping[str, Any]) -> bool:
    """Whether a value stands under a secret-looking key, so that revealing would show more."""
    open_: list[Iterator[_Member]] = [_members(arguments, secret=False)]
    while open_:
        member = next(open_[-1], None)
        if member is None:
            open_.pop()
        elif isinstance(member[1], Mapping | list):
            open_.append(_members(cast("_Held", member[1]), secret=member[2]))
        elif member[2] and _maskable(member[1]):
            return True
    return False


def value_text(value: Any, *, under: str) -> str:
    """The value of the argument `under` on one line, nothing hidden in it; secrets are masked."""
    secret = looks_secret(under)
    if isinstance(value, Mapping | list) and value:
        return _as_one_text(cast("_Held", value), secret=secret, reveal=False)
    return _scalar(value, hidden=secret)


def scalar(value: Any) -> str:
    """A value that holds no others, as JSON has it and with nothing hidden in it."""
    match value:
        case str():
            return quoted(value)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Mapping():
            return "{}"
        case list():
            return "[]"
        case _:
            return visible(repr(value))


def _members(value: _Held, *, secret: bool) -> Iterator[_Member]:
    if isinstance(value, Mapping):
        for key, held in value.items():
            yield f"{_key(key)}:", held, secret or looks_secret(key)
    else:
        for held in value:
            yield "-", held, secret


def _as_one_text(value: _Held, *, secret: bool, reveal: bool) -> str:
    """An object or array in one piece, of any depth; it can not be longer than what came."""
    parts: list[str] = []
    open_: list[tuple[Iterator[_Member], str]] = []

    def enter(held: _Held, *, secret: bool) -> None:
        begin, end = ("{", "}") if isinstance(held, Mapping) else ("[", "]")
        parts.append(begin)
        open_.append((_members(held, secret=secret), end))

    enter(value, secret=secret)
    while open_:
        member = next(open_[-1][0], None)
        if member is None:
            parts.append(open_.pop()[1])
            continue
        if parts[-1] not in ("{", "["):
            parts.append(", ")
        head, held, secret = member
        parts.append("" if head == "-" else f"{head} ")
        if isinstance(held, Mapping | list) and held:
            enter(cast("_Held", held), secret=secret)
        else:
            parts.append(_scalar(held, hidden=secret and not reveal))
    return "".join(parts)


def _behind_gutter(text: str, margin: str, width: int) -> Iterator[str]:
    """The lines of one member; broken after each escaped line feed too."""
    first = BEGINS + margin
    further = GOES_ON + margin + " " * (2 * _INDENT - 1)
    for piece in _ESCAPE.sub(_broken, text).split("\n"):
        yield from folded(piece, width, first, further)
        first = further


def _broken(escape: re.Match[str]) -> str:
    """An escape, followed by a real line feed if it stands for one and more of the text comes."""
    rest = escape.string[escape.end() : escape.end() + 1]
    return escape[0] + "\n" if escape[1] == "n" and rest not in ('"', "") else escape[0]


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("-", "_").isidentifier() else quoted(key)


def _scalar(value: Any, *, hidden: bool) -> str:
    return masked(value) if hidden and _maskable(value) else scalar(value)


def _maskable(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
