"""Who speaks on a terminal: while a person is asked, nobody else does.

A line that appeared under a prompt could push the question out of sight, or look like another one,
and the answer would still count. So whoever asks has the floor, and what is said meanwhile is kept
and comes after the answer.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

_MAX_KEPT: Final = 1_000
"""Sayings that are kept while a question is open; of more only the number is told."""


class Voice:
    """The floor of one terminal: `say` lines on it, or hold it and ask. Used on one loop."""

    def __init__(self, write: Callable[[str], None] | None = None) -> None:
        """`write` is given one or more lines without the last line feed and returns at once; by
        default they go to standard error."""
        self._write = write or _on_standard_error
        self._floor = asyncio.Lock()
        self._asked = False
        self._kept: list[str] = []
        self._lost = 0

    def say(self, text: str) -> None:
        """Say `text`: now, or after the question that is open.

        It is written as it is: whoever says it has made it harmless. Of what is said during one
        question the first 1000 are kept.
        """
        if not self._asked:
            self._write(text)
        elif len(self._kept) < _MAX_KEPT:
            self._kept.append(text)
        else:
            self._lost += 1

    @asynccontextmanager
    async def asking(self) -> AsyncGenerator[None]:
        """Hold the floor; questions wait for each other. What was kept is said at the end."""
        async with self._floor:
            self._asked = True
            try:
                yield
            finally:
                self._asked = False
                self._say_kept()

    def _say_kept(self) -> None:
        kept, self._kept = self._kept, []
        lost, self._lost = self._lost, 0
        if lost:
            kept.append(f"... and {lost} more that were not kept")
        with suppress(OSError, ValueError):  # nobody hears it any more: the answer counts still
            for text in kept:
                self._write(text)


def _on_standard_error(text: str) -> None:
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] - None where it is closed
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
