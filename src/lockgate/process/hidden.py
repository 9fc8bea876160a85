"""Values that are never shown, taken out of what a program says: as they are and as it writes them.

A program prints its secrets in many ways: in JSON, in an address, as Python writes text, wrapped
over lines, in colours. All of them are looked for. It holds strings and no opinion: which ones are
secret is decided by whoever reads the configuration.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, TypeAlias
from urllib.parse import quote, quote_plus

from lockgate.showing import visible

MARK: Final = "[***]"
"""What stands in their place. Shorter than all of them, so that it never holds one."""
SHORTEST: Final = 6
"""Characters of the shortest value that is looked for: shorter ones are parts of many words."""
EDGE: Final = 4
"""Characters of a value that are hidden as such where text was cut in the middle of it."""
LONGEST_EDGE: Final = 2000
"""And at most: text is cut after far fewer."""
MIDDLE: Final = 8
"""The same of a line that is nothing but a part of a value."""
REMEMBERED: Final = 64
"""Values that were learnt and are still looked for: those of the last ten renewals and more."""

_BETWEEN: Final = re.compile(r"(?:\s|\x1b\[[0-9;:?]*[ -/]*[@-~])+")
"""What may come between the characters of a value: a line end with its indentation, a colour."""
_HEX: Final = re.compile("%[0-9A-F]{2}")

_Span: TypeAlias = tuple[int, int]


class Learned:
    """Values that became secret while the program ran: tokens, as they are got.

    Old ones stay hidden, the last `REMEMBERED` of them.
    """

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: tuple[str, ...] = ()

    def learn(self, *values: str) -> None:
        """Hide these from now on, wherever this is known of."""
        new = (value for value in dict.fromkeys(values) if value and value not in self._values)
        self._values = (*self._values, *new)[-REMEMBERED:]

    @property
    def values(self) -> tuple[str, ...]:
        """All of them; the same object as long as none is learnt."""
        return self._values

    def __repr__(self) -> str:
        return f"<Learned, {len(self._values)} values>"


class Hidden:
    """Some values that are never shown. Knows nothing else, and never shows them in its `repr`."""

    def __init__(self, values: Iterable[str] = (), learned: Learned | None = None) -> None:
        """Values of fewer than `SHORTEST` characters are not looked for. `learned` are more, which
        are hidden from the moment on in which they are learnt."""
        self._given = tuple(values)
        self._learned = learned
        self._known: tuple[str, ...] = () if learned is None else learned.values
        self._values = (*self._given, *self._known)

    def hide(self, text: str, *, cut_before: bool = False, cut_after: bool = False) -> str:
        """`text` with a mark for each of the values, in any form; lines stay lines.

        `cut_before` and `cut_after`: the text began earlier, or went on: where that can have been
        within a value, what is left of it is hidden too. No form of a value is in what returns.
        """
        if self._learned is not None and self._learned.values is not self._known:
            self._known = self._learned.values
            self._values = (*self._given, *self._known)
            self.__dict__.pop("_forms", None)
            self.__dict__.pop("_folded", None)
        if not self._forms or not text:
            return text
        spans = [*self._spans(text), *self._pieces(text, cut_before, cut_after)]
        while spans:
            text = _marked(text, spans)
            spans = self._spans(text)  # a mark and what is beside it may make a value again
        return text

    def lines(self, text: str, *, cut_before: bool = False, cut_after: bool = False) -> str:
        """The same, with every line `visible`: nothing in it that a terminal hides or obeys."""
        text = self.hide(text, cut_before=cut_before, cut_after=cut_after)
        return self.hide("\n".join(visible(line.rstrip()) for line in text.split("\n")))

    def line(self, text: str, limit: int) -> str:
        """The same on one line of at most `limit` characters."""
        text = self.hide(visible(self.hide(text)))
        if len(text) > limit:  # a mark may be longer than the edge it stands for
            text = self.hide(self.hide(text[: limit - 3], cut_after=True) + " …")
        return text

    def _spans(self, text: str) -> list[_Span]:
        """Where a form of a value is."""
        spans = [(at, at + len(form)) for form in self._forms for at in _all(form, text)]
        if self._folded:
            plain, where = _fold(text)
            for form in self._folded:
                spans.extend((where[at], where[at + len(form) - 1] + 1) for at in _all(form, plain))
        return spans

    def _pieces(self, text: str, cut_before: bool, cut_after: bool) -> Iterator[_Span]:
        """Where a part of a form is, and the rest of it is missing."""
        plain, where = _fold(text)
        if cut_after and (size := self._longest(lambda form, n: plain.endswith(form[:n]))):
            yield where[len(plain) - size], where[-1] + 1
        if cut_before and (size := self._longest(lambda form, n: plain.startswith(form[-n:]))):
            yield where[0], where[size - 1] + 1
        at = 0
        for line in text.split("\n"):
            part, _ = _fold(line)
            if len(part) >= MIDDLE and any(part in form for form in self._folded):
                yield at, at + len(line)
            at += len(line) + 1

    def _longest(self, is_there: Callable[[str, int], bool]) -> int:
        """The most characters of any form for which that holds; 0 if they are too few."""
        sizes = (
            size
            for form in self._folded
            for size in range(min(len(form) - 1, LONGEST_EDGE), EDGE - 1, -1)
            if is_there(form, size)
        )
        return max(sizes, default=0)

    @cached_property
    def _forms(self) -> Sequence[str]:
        found = {form for value in self._values for form in _forms(value)}
        return sorted((form for form in found if len(form) >= SHORTEST), key=len, reverse=True)

    @cached_property
    def _folded(self) -> Sequence[str]:
        found = {_fold(form)[0] for form in self._forms}
        return sorted((form for form in found if len(form) >= SHORTEST), key=len, reverse=True)

    def __repr__(self) -> str:
        return f"<Hidden, {len(self._values)} values>"


NOTHING: Final = Hidden()
"""Hides nothing."""


def _forms(value: str) -> Iterator[str]:
    """How a value may be written. Each of its lines is one too: a key in PEM is printed so."""
    for text in dict.fromkeys((value, value.strip(), *map(str.strip, value.splitlines()))):
        if len(text) < SHORTEST:
            continue
        yield text
        yield _as_read(text)
        yield visible(text)
        for spelt in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
            yield spelt[1:-1]
            yield spelt[1:-1].replace("/", "\\/")
        yield repr(text)[1:-1]
        yield ascii(text)[1:-1]
        for safe in ("", "/", "!~*'()"):
            yield from _in_either_case(quote(text, safe, errors="replace"))
        yield from _in_either_case(quote_plus(text, errors="replace"))


def _as_read(text: str) -> str:
    """How a text looks after it went through a pipe: what is no UTF-8 is replaced."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return text


def _in_either_case(escaped: str) -> Iterator[str]:
    yield escaped
    yield _HEX.sub(lambda code: code[0].lower(), escaped)


def _fold(text: str) -> tuple[str, Sequence[int]]:
    """`text` without what may come between, and where each character of it is."""
    where: list[int] = []
    at = 0
    for gap in _BETWEEN.finditer(text):
        where.extend(range(at, gap.start()))
        at = gap.end()
    where.extend(range(at, len(text)))
    return _BETWEEN.sub("", text), where


def _all(form: str, text: str) -> Iterator[int]:
    """Where `form` is in `text`; two may overlap."""
    at = text.find(form)
    while at >= 0:
        yield at
        at = text.find(form, at + 1)


def _marked(text: str, spans: Iterable[_Span]) -> str:
    """One mark for each span, or for several that meet; the line ends in it stay.

    What stands for a form is always shorter than it, so marking again and again comes to an end.
    """
    parts: list[str] = []
    done = 0
    begun, ended = -1, -1
    for start, end in (*sorted(spans), (len(text) + 1, len(text) + 1)):
        if start <= ended:
            ended = max(ended, end)
            continue
        if begun >= 0:
            ends = min(text.count("\n", begun, ended), ended - begun - len(MARK) - 1)
            parts += (text[done:begun], MARK, "\n" * ends)
            done = ended
        begun, ended = start, end
    parts.append(text[done:])
    return "".join(parts)
