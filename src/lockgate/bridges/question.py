"""A question as a person reads it: the whole call, what it can do, why it is asked (S0-08, PB-153).

Pure: from a question and a width to text. Nothing of the call is left out; what an eye could be
deceived by is escaped, and the values of secret-looking keys are masked by their length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from lockgate.policy.approval import Question
from lockgate.showing import looks_secret, masked, quoted, visible, width_of
from lockgate.tools.origin import Origin
from lockgate.traits import SideEffectLevel

_LABEL: Final = 11
"""Columns of the words on the left."""
_INDENT: Final = 2
_MIN_WIDTH: Final = 40
_MIN_ROOM: Final = 20
_ESCAPE: Final = re.compile(r"\\(.)")

_FOLLOWS: Final[Mapping[str, str]] = {
    "declared": "what its code declares",
    "default": "the worst case: nothing was declared, or the server's word is not trusted",
    "claim": "what the server claims, which is trusted",
    "verdict": "the operator's word",
}


def render_question(question: Question, width: int = 80, *, reveal: bool = False) -> str:
    """The question without its prompt, in lines of at most `width` columns (40 at least).

    `reveal` shows the values of secret-looking keys too. Ends in a newline.
    """
    width = max(width, _MIN_WIDTH)
    lines = [
        ("-- a call needs an answer " + "-" * width)[:width],
        *_row("tool", visible(question.tool), width),
        *_row("from", _from(question.origin), width),
        *_row("can", _can(question), width),
        *_row("judged by", _by(question.origin), width),
    ]
    for index, reason in enumerate(question.reasons):
        lines += _row("why asked" if index == 0 else "", visible(str(reason)), width)
    if question.principal is not None:
        lines += _row("for", visible(question.principal), width)
    if question.arguments:
        lines.append("arguments")
        for indent, text in _members(question.arguments, 1, reveal, secret=False):
            margin = indent * _INDENT
            lines += _wrapped(text, margin, margin + 2 * _INDENT, width)
    else:
        lines += _row("arguments", "none", width)
    return "\n".join(lines) + "\n"


def has_secrets(question: Question) -> bool:
    """Whether anything in the question is masked, so that revealing would show more."""
    return _has_secrets(question.arguments, secret=False)


def _from(origin: Origin) -> str:
    if origin.server is None:
        return f"{origin.source} code"
    return f"server {visible(origin.server)}, where it is called {quoted(origin.original_name)}"


def _can(question: Question) -> str:
    if question.level is SideEffectLevel.READ_ONLY:
        return "only read (read-only)"
    if question.destructive:
        return "OVERWRITE, REMOVE OR INVALIDATE THINGS (mutating, destructive)"
    return "add or change things, without overwriting or removing (mutating, not destructive)"


def _by(origin: Origin) -> str:
    text = _FOLLOWS.get(origin.ruling, visible(origin.ruling))
    if origin.claim:
        hints = ", ".join(
            f"{visible(key)} {_scalar(value)}"
            for key, value in origin.claim.items()
            if not isinstance(value, Mapping | list)
        )
        text += f" (claimed: {hints})" if hints else ""
    return text


def _members(
    value: Mapping[str, Any] | list[Any], indent: int, reveal: bool, *, secret: bool
) -> Iterator[tuple[int, str]]:
    """The members of an object or array, a line or more for each: (indent, text)."""
    if isinstance(value, Mapping):
        pairs = [
            (_key(key) + ":", held, secret or looks_secret(key)) for key, held in value.items()
        ]
    else:
        pairs = [("-", held, secret) for held in value]
    for head, held, hidden in pairs:
        if isinstance(held, Mapping | list) and held:
            yield indent, head
            below = cast("Mapping[str, Any] | list[Any]", held)
            yield from _members(below, indent + 1, reveal, secret=hidden)
        elif hidden and not reveal and _maskable(held):
            yield indent, f"{head} {masked(cast('object', held))}"
        else:
            yield indent, f"{head} {_scalar(held)}"


def _maskable(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _has_secrets(value: Any, *, secret: bool) -> bool:
    if isinstance(value, Mapping):
        held = cast("Mapping[str, Any]", value)
        return any(_has_secrets(v, secret=secret or looks_secret(k)) for k, v in held.items())
    if isinstance(value, list):
        return any(_has_secrets(v, secret=secret) for v in cast("list[Any]", value))
    return secret and _maskable(value)


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("-", "_").isidentifier() else quoted(key)


def _scalar(value: Any) -> str:
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


def _row(label: str, text: str, width: int) -> list[str]:
    lines = _wrapped(text, _LABEL, _LABEL, width)
    return [
        f"{label:<{_LABEL}}{lines[0][_LABEL:].rstrip()}",
        *(line.rstrip() for line in lines[1:]),
    ]


def _wrapped(text: str, first: int, further: int, width: int) -> list[str]:
    """`text` in lines of `width` columns, indented by `first` and then by `further`.

    Broken after each escaped line feed, else at a space or, where there is none, anywhere.
    """
    lines: list[str] = []
    for piece in _ESCAPE.sub(_broken, text).split("\n"):
        at = 0
        while at < len(piece) or not lines:
            margin = further if lines else first
            cut = _fitting(piece, at, max(width - margin, _MIN_ROOM))
            lines.append(" " * margin + piece[at:cut])
            at = cut
    return lines


def _broken(escape: re.Match[str]) -> str:
    """An escape, followed by a real line feed if it stands for one and more of the text comes."""
    rest = escape.string[escape.end() : escape.end() + 1]
    return escape[0] + "\n" if escape[1] == "n" and rest not in ('"', "") else escape[0]


def _fitting(text: str, at: int, room: int) -> int:
    """Where the line that begins at `at` ends, if it has `room` columns; at least one further."""
    columns = 0
    for index in range(at, len(text)):
        columns += width_of(text[index])
        if columns > room:
            space = text.rfind(" ", at + room // 2, index)
            return space + 1 if space > 0 else max(index, at + 1)
    return len(text)
