"""Tables on a terminal, and the same lines without colour anywhere else."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence

import click

from lockgate.showing import visible, width_of

GAP = 2


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns as wide as their content; the first gives way where the terminal is narrow.

    A first cell that does not fit stands on a line of its own, whole: a name can be copied.
    """
    shown = [[visible(cell) for cell in line] for line in rows]
    columns = [[*column] for column in zip(head, *shown, strict=True)]
    widths = [max(map(width_of, column)) for column in columns]
    rest = sum(widths[1:]) + GAP * (len(widths) - 1)
    room = max(20, shutil.get_terminal_size((80, 24)).columns - rest)
    widths[0] = min(widths[0], room)
    bold = styled(os.environ, terminal=sys.stdout.isatty())
    click.echo(click.style(_line(head, widths), bold=True) if bold else _line(head, widths))
    for line in shown:
        if width_of(line[0]) > widths[0]:
            click.echo(line[0])
            line = ["", *line[1:]]
        click.echo(_line(line, widths))


def counted(number: int, word: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def styled(environ: Mapping[str, str], *, terminal: bool) -> bool:
    """Whether the terminal knows how, and nobody asked for plain text (no-color.org)."""
    known = environ.get("TERM", "") not in ("", "dumb")
    return terminal and known and not environ.get("NO_COLOR")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell + " " * (width - width_of(cell)) for cell, width in zip(cells, widths, strict=True)
    ]
    return (" " * GAP).join(padded).rstrip()
