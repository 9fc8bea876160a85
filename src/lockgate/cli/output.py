"""Text of strangers on standard output and error: harmless on a terminal, untouched in a file."""

from __future__ import annotations

import os
import sys
from typing import Final

import click

from lockgate.showing import visible_lines

INSIDE: Final = "  "
"""What a stranger's lines begin with under a heading of ours, which none of them can look like."""


def echo_text(text: str, *, err: bool = False, under: str = "") -> None:
    """Print what a server or a model wrote, each of its lines beginning with `under`.

    On a terminal its lines stay lines and everything a terminal would obey or hide is shown as an
    escape; into a pipe or a file it goes as it is.
    """
    if on_terminal(err=err):
        text = visible_lines(text)
    if under:
        text = under + text.replace("\n", f"\n{under}")
    click.echo(text, err=err, color=True)  # in colour means: not a character is taken out


def on_terminal(*, err: bool = False) -> bool:
    """Whether a person sees standard output, or standard error, as it is written."""
    stream = sys.stderr if err else sys.stdout
    return stream is not None and stream.isatty()  # pyright: ignore[reportUnnecessaryComparison] - None where it is closed


def error_columns() -> int | None:
    """How wide the terminal is that standard error goes to; None where it goes to no terminal."""
    if not on_terminal(err=True):
        return None
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
