"""What stands after the `=` in `Tool(name=...)`: patterns for the values of arguments.

| written | means |
|---|---|
| `*`, `**` | any value; constrains nothing |
| `"text"`, `3`, `true`, `null`, `[1]`, `{"a": 1}` | this JSON value; `3` is `3.0`, not `true` |
| `main`, `feature/*` | this text, `*` is any run of characters, but no `..` between slashes |
| `text:...` | the same, whatever it looks like |
| `path:./docs/**` | a path, by where it leads (`rules.path`) |
| `url:https://x.org/*`, `domain:x.org` | an address, by what it reaches (`rules.url`) |

An allow rule means a text to the letter, and an array only if it means all of it; an empty array
is meant by no pattern but `*` and `[]`. A deny or ask rule means any element of an array and any
value inside of an object, and takes texts for equal that differ in Unicode's composition only; a
number, `true`, `false` or `null` without quotes then also means that text.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from lockgate.decision import Decision
from lockgate.rules.matcher import ValuePattern
from lockgate.rules.places import Places
from lockgate.rules.url import UrlPattern
from lockgate.rules.values import AnyValue, ExactValue, PathValue, TextValue, UrlValue

_TYPED: Final = re.compile(r"(path|url|domain|text):")
_WORD: Final = re.compile(r"([A-Za-z]{3,8}):")
_LOOKS_RESOLVED: Final = re.compile(r"/|\.{1,2}/|~(/|$)|.*://", re.DOTALL)
_KINDS: Final = ("path", "url", "domain", "text")


class ValuePatternError(ValueError):
    """A pattern that can not be read: what is wrong, and what to write."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def parse_value(
    text: str, decision: Decision, *, places: Places | None, source: str | None = None
) -> ValuePattern:
    """Read the pattern of one argument.

    `places` says where paths start; without it a `path:` can not be read. Raises
    `ValuePatternError`, `rules.path.PathPatternError` and `rules.url.UrlPatternError`.
    """
    if not text:
        raise ValuePatternError("is empty", "write * for any value")
    if not text.strip("*"):
        return AnyValue(text)
    if typed := _TYPED.match(text):
        return _typed(text, typed[1], text[typed.end() :], decision, places, source)
    if text[0] in '"[{':
        return ExactValue(text, _literal(text))
    try:
        value = _literal(text)
    except ValuePatternError:
        return _bare(text, decision)
    return ExactValue(text, value, None if decision is Decision.ALLOW else text)


def _typed(
    text: str,
    kind: str,
    rest: str,
    decision: Decision,
    places: Places | None,
    source: str | None,
) -> ValuePattern:
    rest = rest.lstrip()
    if not rest:
        raise ValuePatternError(f"has nothing after {kind}:", "write * for any value")
    if kind == "text":
        return TextValue(text, rest)
    if kind == "path":
        if places is None:
            raise ValuePatternError("has a path, and nothing says where paths start")
        return PathValue(text, places.pattern(rest, decision, source))
    return UrlValue(text, UrlPattern.parse(rest if kind == "url" else text, source))


def _bare(text: str, decision: Decision) -> ValuePattern:
    if text[0] == text[-1] == "'" and len(text) > 1:
        raise ValuePatternError("is in single quotes", f'write "{text[1:-1]}"')
    word = _WORD.match(text)
    if word and (slip := _slip(word[1])):
        raise ValuePatternError(
            f"begins with {word[0]}, which is no kind of pattern",
            f"did you mean {slip}:? a text that begins so is written text:{text}",
        )
    if decision is Decision.ALLOW and _LOOKS_RESOLVED.match(text):
        raise ValuePatternError(
            "looks like a path or an address and does not say how it is compared",
            f"write path:{text} or url:{text} to compare where it leads, or text:{text} to compare"
            " it by the letter",
        )
    return TextValue(text, text, climbs=decision is not Decision.ALLOW)


def _slip(word: str) -> str | None:
    """The kind that a word is a slip for: case, two letters swapped, one missing or too many."""
    word = word.casefold()
    for kind in _KINDS:
        if word == kind or sorted(word) == sorted(kind):
            return kind
        long, short = (word, kind) if len(word) > len(kind) else (kind, word)
        if len(long) == len(short) + 1 and any(
            long[:at] + long[at + 1 :] == short for at in range(len(long))
        ):
            return kind
    return None


def _literal(text: str) -> object:
    try:
        return json.loads(
            text, object_pairs_hook=_no_twins, parse_constant=_finite, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        if isinstance(error, ValuePatternError):
            raise
        raise ValuePatternError(
            "is no JSON value", f"write text:{text} for a text that looks like one"
        ) from None


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValuePatternError("has a key twice in an object")
    return made


def _finite(number: str) -> float:
    found = float(number)
    if not abs(found) < float("inf"):
        raise ValueError("no JSON number")
    return found
