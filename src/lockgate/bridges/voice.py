"""Who speaks on a terminal: while a person is asked, nobody else does.

A line that appeared under a prompt could push the question out of sight, or look like another one,
and the answer would still count. So whoever asks has the floor, and what is said meanwhile is kept
and comes after the answer.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Final

_MAX_KEPT: Final = 1_000
"""Sayings that are kept while a question is open; of more only the number is told."""


class Voice:
    """The floor of one terminal: `say` lines on it, or hold it and ask. Used on one loop."""

    def __init__(
        self,
        write: Callable[[str], None] | None = None,
        flow: Callable[[str], None] | None = None,
    ) -> None:
        """`write` is given one or more lines without the last line feed, `flow` any part of a
        running text; both return at once. By default lines go to standard error, and a running
        text to standard output."""
        self._write = write or _on_standard_error
        self._flow = flow or _on_standard_output
        self._floor = asyncio.Lock()
        self._asked = False
        self._in_line = False
        """Whether a running text has begun a line and not ended it."""
        self._kept: list[_Kept] = []
        self._lost = 0
        self._before: Callable[[], None] = _nothing
        self._after: Callable[[], None] = _nothing

    @property
    def asked(self) -> bool:
        """Whether a question is open."""
        return self._asked

    def say(self, text: str) -> None:
        """Say `text`: now, or after the question that is open.

        It is written as it is: whoever says it has made it harmless. Of what is said during one
        question the first 1000 are kept.
        """
        if not self._asked:
            self._end_line()
            self._write(text)
        elif len(self._kept) < _MAX_KEPT:
            self._kept.append(_Kept(text, flows=False))
        else:
            self._lost += 1

    def go_on(self, text: str) -> None:
        """Write on with a running text, such as one that is being written: now, or after the
        question that is open. What is said in between begins a line of its own."""
        if not text:
            return
        if not self._asked:
            self._flow(text)
            self._in_line = not text.endswith("\n")
        elif self._kept and self._kept[-1].flows:
            self._kept[-1].text += text
        else:
            self._kept.append(_Kept(text, flows=True))

    @asynccontextmanager
    async def asking(self) -> AsyncGenerator[None]:
        """Hold the floor; questions wait for each other. What was kept is said at the end."""
        async with self._floor:
            self._end_line()
            self._asked = True
            self._before()
            try:
                yield
            finally:
                self._asked = False
                self._say_kept()
                self._after()

    @contextmanager
    def giving_way(self, before: Callable[[], None], after: Callable[[], None]) -> Generator[None]:
        """Within the block somebody else reads what is typed, one at a time: `before` each question
        they stop, and after it, once what was kept is said, `after` lets them begin again.

        `after` is called at once unless a question is open. Both have to return at once.
        """
        self._before, self._after = before, after
        try:
            if not self._asked:
                after()
            yield
        finally:
            self._before = self._after = _nothing

    def _end_line(self) -> None:
        if self._in_line:
            self._in_line = False
            self._flow("\n")

    def _say_kept(self) -> None:
        kept, self._kept = self._kept, []
        lost, self._lost = self._lost, 0
        if lost:
            kept.append(_Kept(f"... and {lost} more that were not kept", flows=False))
        with suppress(OSError, ValueError):  # nobody hears it any more: the answer counts still
            for each in kept:
                (self.go_on if each.flows else self.say)(each.text)


@dataclass(slots=True)
class _Kept:
    """What was said while somebody was asked."""

    text: str
    flows: bool


def _nothing() -> None:
    """Where nobody else reads."""


def _on_standard_error(text: str) -> None:
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] - None where it is closed
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def _on_standard_output(text: str) -> None:
    if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] - as above
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:  # standard error writes an escape of its own accord
            coding = sys.stdout.encoding
            sys.stdout.write(text.encode(coding, "backslashreplace").decode(coding))
        sys.stdout.flush()
