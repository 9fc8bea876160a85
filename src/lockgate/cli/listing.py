"""A list in columns in which nothing is cut: what is too wide goes on below, in its column."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import zip_longest

import click

from lockgate.settings.telling import folded
from lockgate.showing import width_of

_GAP = 2
_LEAST = 24
"""Columns that a folded cell has at least, however narrow the terminal is."""


def print_folded(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print visible text in columns, the last two folded so that a line fits the terminal."""
    table = [head, *rows]
    widths = [max(width_of(row[column]) for row in table) for column in range(len(head))]
    columns = shutil.get_terminal_size((80, 24)).columns
    rest = sum(widths[:-2]) + _GAP * (len(head) - 1)
    widths[-1] = min(widths[-1], max(_LEAST, columns - rest - widths[-2], (columns - rest) // 3))
    widths[-2] = min(widths[-2], max(_LEAST, columns - rest - widths[-1]))
    for row in table:
        cells = [folded(cell, room=width) for cell, width in zip(row, widths, strict=True)]
        for line in zip_longest(*cells, fillvalue=""):
            padded = [
                cell + " " * (width - width_of(cell))
                for cell, width in zip(line, widths, strict=True)
            ]
            click.echo((" " * _GAP).join(padded).rstrip())
