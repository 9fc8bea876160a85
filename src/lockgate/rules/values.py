"""Patterns for the values of arguments, as `rules.parameters` reads them.

Each is asked by allow rules whether it means all of a value (`allows`), and by rules that have to
hold whether it means any part of it (`catches`): docs/decisions/0020.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from lockgate.rules.matcher import Match, ValuePattern
from lockgate.rules.path import PathPattern
from lockgate.rules.url import UrlPattern, resolve_url
from lockgate.tools.subject import Resolved, SubjectKind


class AnyValue(msgspec.Struct, frozen=True):
    """`*`: whatever is there."""

    text: str

    @property
    def kind(self) -> SubjectKind | None:
        """Nothing is resolved for it."""
        return None

    @property
    def constrains(self) -> bool:
        """It leaves everything open."""
        return False

    def allows(self, value: Any, resolved: Resolved | None) -> bool:
        """Always."""
        del value, resolved
        return True

    def catches(self, value: Any, resolved: Resolved | None) -> Match:
        """Always."""
        del value, resolved
        return Match.YES


@dataclass(frozen=True, slots=True)
class ExactValue:
    """One JSON value."""

    text: str
    value: Any = field(repr=False)
    written: str | None = field(default=None, repr=False)
    """A text that is meant as well: by a rule that has to hold, of a value without quotes."""

    @property
    def kind(self) -> SubjectKind | None:
        """Nothing is resolved for it."""
        return None

    @property
    def constrains(self) -> bool:
        """It is one value."""
        return True

    def allows(self, value: Any, resolved: Resolved | None) -> bool:
        """Whether `value` is it, or an array of nothing else."""
        del resolved
        return same(value, self.value) or _allows_all(self, value)

    def catches(self, value: Any, resolved: Resolved | None) -> Match:
        """Whether `value` is it or holds it."""
        del resolved
        for one in _everything_in(value):
            if same(one, self.value, composed=True):
                return Match.YES
            if self.written is not None and one == self.written:
                return Match.YES
        return Match.NO


@dataclass(frozen=True, slots=True)
class TextValue:
    """A text, in which `*` is any run of characters."""

    text: str
    pattern: str = field(repr=False)
    climbs: bool = True
    """Whether a `*` may stand for a `..` between slashes: it does not where nobody has said that
    the text is none that leads somewhere."""
    _runs: tuple[str, ...] = field(init=False, repr=False)
    """What stands between the stars."""
    _composed: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_runs", tuple(self.pattern.split("*")))
        object.__setattr__(self, "_composed", tuple(_nfc(self.pattern).split("*")))

    @property
    def kind(self) -> SubjectKind | None:
        """Nothing is resolved for it."""
        return None

    @property
    def constrains(self) -> bool:
        """False for stars alone."""
        return bool(self.pattern.strip("*"))

    def allows(self, value: Any, resolved: Resolved | None) -> bool:
        """Whether `value` is meant to the letter, or an array of nothing else."""
        del resolved
        if isinstance(value, str):
            return _fits(self._runs, value) and (self.climbs or not _climbs(self._runs, value))
        return _allows_all(self, value)

    def catches(self, value: Any, resolved: Resolved | None) -> Match:
        """Whether any text in `value` is meant."""
        del resolved
        if isinstance(value, str):
            return Match.YES if _fits(self._composed, _nfc(value)) else Match.NO
        for one in _everything_in(value):
            if isinstance(one, str) and _fits(self._composed, _nfc(one)):
                return Match.YES
        return Match.NO


class PathValue(msgspec.Struct, frozen=True):
    """A path, compared by where it leads."""

    text: str
    pattern: PathPattern

    @property
    def kind(self) -> SubjectKind | None:
        """Paths are resolved before they are judged."""
        return SubjectKind.PATH

    @property
    def constrains(self) -> bool:
        """False if it means every file."""
        return self.pattern.constrains

    def allows(self, value: Any, resolved: Resolved | None) -> bool:
        """Whether the path, or each of an array, was resolved and is meant for certain."""
        if isinstance(value, str):
            return self.pattern.allows(resolved)
        if not isinstance(value, list) or not isinstance(resolved, tuple):
            return False
        texts, several = cast("list[Any]", value), cast("tuple[Resolved, ...]", resolved)
        return 0 < len(texts) == len(several) and all(self.pattern.allows(one) for one in several)

    def catches(self, value: Any, resolved: Resolved | None) -> Match:
        """Whether any path in `value` is meant, or could not be resolved. MAYBE for a directory
        that may hold what is meant: who is handed it may reach into it."""
        if isinstance(value, str):
            return self._of_one(resolved)
        several = cast("tuple[Resolved, ...]", resolved) if isinstance(resolved, tuple) else ()
        texts = sum(1 for one in _everything_in(value) if isinstance(one, str))
        if texts > len(several):
            return Match.YES  # some stand where nothing resolves them
        return max(map(self._of_one, several), default=Match.NO)

    def _of_one(self, resolved: Resolved | None) -> Match:
        match = self.pattern.catches(resolved)
        if match is Match.NO and self.pattern.may_lie_below(resolved):
            return Match.MAYBE
        return match


class UrlValue(msgspec.Struct, frozen=True):
    """An address, compared by what it reaches."""

    text: str
    pattern: UrlPattern

    @property
    def kind(self) -> SubjectKind | None:
        """Nothing has to be looked up for it."""
        return None

    @property
    def constrains(self) -> bool:
        """False if it means every address."""
        return self.pattern.constrains

    def allows(self, value: Any, resolved: Resolved | None) -> bool:
        """Whether the address, or each of an array, is one and is meant for certain."""
        del resolved
        if isinstance(value, str):
            return self.pattern.allows(resolve_url(value))
        return _allows_all(self, value)

    def catches(self, value: Any, resolved: Resolved | None) -> Match:
        """Whether any address in `value` is meant, or any text in it is none."""
        del resolved
        texts = (one for one in _everything_in(value) if isinstance(one, str))
        return max((self.pattern.catches(resolve_url(one)) for one in texts), default=Match.NO)


def same(one: object, other: object, *, composed: bool = False) -> bool:
    """Whether two JSON values are equal: numbers by value, a switch is no number, an object
    whatever the order of its keys. With `composed` texts are compared in Unicode's composed form.
    """
    if isinstance(one, str) and isinstance(other, str):
        return one == other or (composed and _nfc(one) == _nfc(other))
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    if isinstance(one, list) and isinstance(other, list):
        ones, others = cast("list[Any]", one), cast("list[Any]", other)
        return len(ones) == len(others) and all(
            same(a, b, composed=composed) for a, b in zip(ones, others, strict=True)
        )
    if isinstance(one, dict) and isinstance(other, dict):
        mine, theirs = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return mine.keys() == theirs.keys() and all(
            same(held, theirs[key], composed=composed) for key, held in mine.items()
        )
    return False


def _allows_all(pattern: ValuePattern, value: object) -> bool:
    """Whether `value` is an array that is not empty, of which every element is allowed."""
    if not isinstance(value, list) or not value:
        return False
    return all(pattern.allows(one, None) for one in cast("list[Any]", value))


def _everything_in(value: object) -> Iterator[object]:
    """A value, and whatever is inside of it, as deep as it goes."""
    if not isinstance(value, list | dict):
        yield value
        return
    waiting: list[object] = [cast("object", value)]
    while waiting:
        one = waiting.pop()
        yield one
        if isinstance(one, list):
            waiting.extend(cast("list[Any]", one))
        elif isinstance(one, dict):
            waiting.extend(cast("dict[str, Any]", one).values())


def _fits(runs: tuple[str, ...], text: str) -> bool:
    """Whether `text` is `runs` with anything between them. In one way through it: what comes
    between two stars is best found where it stands first."""
    if len(runs) == 1:
        return text == runs[0]
    first, *middle, last = runs
    if not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for run in middle:
        at = text.find(run, at, end)
        if at < 0:
            return False
        at += len(run)
    return at <= end


def _climbs(runs: tuple[str, ...], text: str) -> bool:
    """Whether what stars stand for in a pattern with slashes leads out of where it begins."""
    if len(runs) == 1 or ".." not in text or not any("/" in run for run in runs):
        return False
    return ".." in text.replace("\\", "/").split("/")


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
