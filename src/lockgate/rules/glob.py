"""One part of a path pattern, between two slashes: `*.pem`, `[a-z]?`, or a name as it stands.

Matching takes time in proportion to the name: what stands between two stars has a fixed length, so
its first place is its best one, and the expression never goes back behind it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Final, Self

import msgspec

_ESCAPED: Final = frozenset("*?[]\\!~ (){},#$'\"|^-")
"""What a backslash may stand before: what would mean something without it."""
_ANY: Final = "."
_STAR: Final = "*"


class GlobError(ValueError):
    """A part that can not be read: what is wrong, and what to write."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Glob:
    """Which names are meant. Never a slash."""

    literal: str | None
    """The one name, if it is one; None: `_exact` says."""
    constrains: bool
    """False if it means every name, or every name but a few."""
    _exact: re.Pattern[str] = field(repr=False)
    _folded: re.Pattern[str] = field(repr=False)
    """The same, whatever the case."""
    _composed: str | None = field(repr=False)
    """`literal` in Unicode's composed form."""
    _caseless: str | None = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read one part. Raises `GlobError`."""
        tokens = _tokens(text)
        composed = [t if t.wild else _Token(_composed(t.text)) for t in tokens]
        literal = None if any(t.wild for t in tokens) else "".join(t.text for t in tokens)
        return cls(
            literal,
            any(t.constrains for t in tokens),
            re.compile(_expression(tokens), re.DOTALL),
            re.compile(_expression(composed), re.DOTALL | re.IGNORECASE),
            None if literal is None else _composed(literal),
            None if literal is None else _caseless(literal),
        )

    @classmethod
    def of_name(cls, name: str) -> Self:
        """The pattern of exactly this name."""
        nothing = re.compile(re.escape(name))
        return cls(name, True, nothing, nothing, _composed(name), _caseless(name))

    def means(self, name: str, *, folds_case: bool) -> bool:
        """Whether `name` is meant for certain, on a file system that folds case or does not."""
        if self.literal is not None:
            return name == self.literal or (
                folds_case and _composed(name).lower() == _composed(self.literal).lower()
            )
        if folds_case:
            return self._folded.fullmatch(_composed(name)) is not None
        return self._exact.fullmatch(name) is not None

    def may_mean(self, name: str, *, folds_case: bool) -> bool:
        """Whether `name` is meant, or looks just like what is: Unicode has two forms of many
        characters, which nobody can tell apart who writes a rule."""
        if self.literal is not None:
            if name == self.literal:
                return True
            if folds_case:
                return _caseless(name) == self._caseless
            return not name.isascii() and _composed(name) == self._composed
        if self._exact.fullmatch(name):
            return True
        if folds_case:
            return bool(
                self._folded.fullmatch(_composed(name)) or self._folded.fullmatch(_caseless(name))
            )
        return not name.isascii() and self._exact.fullmatch(_composed(name)) is not None


class _Token(msgspec.Struct, frozen=True):
    text: str
    """Characters that stand for themselves; the expression of a class; a `.` or a `*`."""
    wild: bool = False
    constrains: bool = True


def _composed(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def _caseless(name: str) -> str:
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if character == "*":
            if not (found and found[-1].wild and found[-1].text == _STAR):
                found.append(_Token(_STAR, True, False))
        elif character == "?":
            found.append(_Token(_ANY, True, False))
        elif character == "[":
            token, at = _class(text, at)
            found.append(token)
        else:
            if character == "\\":
                character = _escaped(text, at)
                at += 1
            found.append(_Token(character))
    return found


def _escaped(text: str, at: int) -> str:
    if at == len(text):
        raise GlobError("ends a name in a backslash", r"write \\ for a backslash itself")
    if text[at] not in _ESCAPED:
        raise GlobError(
            f"has a backslash before {text[at]!r}, which needs none",
            r"write / between directories, and \\ for a backslash itself",
        )
    return text[at]


def _class(text: str, at: int) -> tuple[_Token, int]:
    """A class in brackets, from behind its `[`, as a part of an expression."""
    negated = text[at : at + 1] in ("!", "^")
    at += negated
    start, parts = at, list[str]()
    while at < len(text) and (text[at] != "]" or at == start):
        if text.startswith(("[:", "[.", "[="), at):
            raise GlobError("has a named class of characters", "write the characters, as in [a-z]")
        first, at = _member(text, at)
        last = first
        if text[at : at + 1] == "-" and text[at + 1 : at + 2] not in ("", "]"):
            last, at = _member(text, at + 1)
        if last < first:
            raise GlobError(
                f"has the range {first}-{last}, which is empty", f"write {last}-{first}"
            )
        parts.append(f"{_code(first)}-{_code(last)}")
    if at >= len(text):
        raise GlobError("has a [ without its ] in the same name", r"write \[ for a bracket itself")
    return _Token(f"[{'^' if negated else ''}{''.join(parts)}]", True, not negated), at + 1


def _member(text: str, at: int) -> tuple[str, int]:
    if text[at] == "\\":
        return _escaped(text, at + 1), at + 2
    return text[at], at + 1


def _code(character: str) -> str:
    return f"\\U{ord(character):08x}"


def _expression(tokens: list[_Token]) -> str:
    """An expression that looks for each piece between two stars once, from left to right."""
    pieces = [""]
    for token in tokens:
        if token.wild and token.text == _STAR:
            pieces.append("")
        else:
            pieces[-1] += token.text if token.wild else re.escape(token.text)
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    return first + "".join(f"(?>.*?{piece})" for piece in middle) + f".*{last}"
