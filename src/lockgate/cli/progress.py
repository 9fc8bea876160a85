"""How far a call is, in few lines: a server may report thousands of times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lockgate.cli.output import on_terminal
from lockgate.showing import visible

if TYPE_CHECKING:
    from lockgate.tools.context import ProgressSink

SHOWN = 200
"""Characters of a name or a message that are shown."""


class ProgressLines:
    """Makes the lines of one call.

    One for each further tenth of the total, or for the 1st, 2nd, 4th, 8th ... report where no total
    is known.
    """

    def __init__(self, tool: str) -> None:
        """`tool` is what each line begins with."""
        self._tool = _cut(visible(tool))
        self._told = 0
        self._tenth = -1

    def line(self, progress: float, total: float | None, message: str | None) -> str | None:
        """The line for one report; None if it is no news to a person."""
        self._told += 1
        if total is not None and 0 <= progress <= total and total > 0:
            tenth = int(progress / total * 10)
            if tenth <= self._tenth:
                return None
            self._tenth = tenth
        elif self._told.bit_count() != 1:
            return None
        of = "" if total is None else f" of {total:g}"
        words = f", {_cut(visible(message))}" if message else ""
        return f"{self._tool}: {progress:g}{of}{words}"


def said_on_terminal(tool: str) -> ProgressSink | None:
    """Says these lines on standard error, if a person sees it; None: nobody does."""
    if not on_terminal(err=True):
        return None
    lines = ProgressLines(tool)

    def say(progress: float, total: float | None, message: str | None) -> None:
        text = lines.line(progress, total, message)
        if text is not None:
            click.echo(text, err=True)

    return say


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ... ({len(text)} characters)"
