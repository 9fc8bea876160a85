"""What stands in the brackets of a rule: where it ends, and its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from lockgate.rules.pattern import PatternError

_CLOSED_BY: Final[Mapping[str, str]] = {"(": ")", "[": "]", "{": "}"}


class Part(msgspec.Struct, frozen=True):
    """A piece of a rule's text."""

    text: str
    at: int
    """0-based index of its first character in the rule."""

    def stripped(self) -> Part:
        """Without white space around it."""
        bare = self.text.lstrip()
        return Part(bare.rstrip(), self.at + len(self.text) - len(bare))


def inner(text: str, opening: int, *, quotes: str = "") -> Part:
    """What stands between the bracket at `opening` and the one that closes it: the last character.

    Other round brackets in it come in pairs; a backslash takes any character's meaning away, and
    between two of `quotes` none has one. Raises `PatternError`.
    """
    ends = _Scan(text, opening, quotes, {"(": ")"}).run()
    return Part(text[opening + 1 : ends[-1]], opening + 1)


def parts(text: str, opening: int) -> tuple[Part, ...]:
    """The same, split at the commas that stand in no other bracket and no double quotes, each part
    without white space around it. Brackets of all kinds come in pairs. Raises `PatternError`."""
    ends = _Scan(text, opening, '"', _CLOSED_BY).run()
    begins = (opening, *ends[:-1])
    return tuple(
        Part(text[begin + 1 : end], begin + 1).stripped()
        for begin, end in zip(begins, ends, strict=True)
    )


class _Scan:
    """One way through the text, from an opening bracket."""

    def __init__(self, text: str, opening: int, quotes: str, closed_by: Mapping[str, str]) -> None:
        self._text = text
        self._at = opening
        self._quotes = quotes
        self._closed_by = closed_by
        self._open: list[tuple[str, int]] = []
        """What has to close, and where it was opened."""

    def run(self) -> list[int]:
        """Where the parts end: the top-level commas, and the closing bracket."""
        ends: list[int] = []
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == "\\":
                self._at += 1
            elif character in self._quotes:
                self._skip(character)
            elif character in self._closed_by:
                self._open.append((self._closed_by[character], self._at))
            elif character == "," and len(self._open) == 1:
                ends.append(self._at)
            elif character in self._closed_by.values():
                self._close(character)
                if not self._open:
                    ends.append(self._at)
                    break
            self._at += 1
        if self._open:
            _, at = self._open[-1]
            raise PatternError(f"has a {self._text[at]} that nothing closes", at, _UNCLOSED)
        if self._at + 1 != len(self._text):
            raise PatternError("goes on after its closing bracket", self._at + 1, _NOTE)
        return ends

    def _close(self, character: str) -> None:
        if self._open[-1][0] != character:
            raise PatternError(f"has a {character} that nothing opens", self._at)
        self._open.pop()

    def _skip(self, quote: str) -> None:
        begin = self._at
        self._at += 1
        while self._at < len(self._text) and self._text[self._at] != quote:
            # Between single quotes a shell takes a backslash for itself.
            self._at += 2 if self._text[self._at] == "\\" and quote != "'" else 1
        if self._at >= len(self._text):
            raise PatternError(f"has a {quote} that nothing closes", begin)


_UNCLOSED: Final = "close it; in YAML a rule with commas stands in quotes as a whole"
_NOTE: Final = "why a rule is there is told under its key reason; a bracket in it comes in pairs"
