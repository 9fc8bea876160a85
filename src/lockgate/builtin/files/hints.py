"""Why a piece of text was not found, as far as that can be told without showing the file."""

from __future__ import annotations

import difflib
import re
from typing import Final

from lockgate.builtin.files.text import Unified

_NUMBERED: Final = re.compile(r"^ *[0-9]+\t", re.MULTILINE)
"""The line numbers that Read puts before lines."""
MAX_SEARCHED: Final = 4_000_000
"""Characters of a file that is gone through for it: it takes a second or so."""
MAX_COMPARED: Final = 2000
"""Lines of a file that are compared by likeness, which takes some microseconds each."""
MAX_WIDTH: Final = 200
"""Characters of a line that are compared."""


def why_not_found(file: Unified, old: str, new: str) -> str:
    """One or two sentences; line numbers, but no line of the file."""
    lines = old.split("\n")
    if all(_NUMBERED.match(line) for line in lines if line.strip()):
        return "It begins with the line numbers of Read: leave them and the tab out."
    if new and len(new) > 3 and (at := file.text.find(new)) >= 0:
        return f"But `new` is, at line {file.line(at)}: the edit may have been made already."
    if len(file.text) > MAX_SEARCHED:
        return "Read the part again and give it exactly as it is shown."
    number = _same_but_blanks(file.text, lines)
    if number is not None:
        return (
            f"Lines like it, but with other blanks or indentation, begin at line {number}: give "
            "them exactly as Read shows them."
        )
    number = _most_alike(file.text, lines)
    if number is not None:
        return f"The line most like its first one is line {number}: Read that part again."
    return "No line is much like its first one."


def _squeezed(line: str) -> str:
    return "".join(line.split())


def _same_but_blanks(text: str, lines: list[str]) -> int | None:
    """The number of the line from which on all are the same, were it not for blanks."""
    wanted = [_squeezed(line) for line in lines]
    while wanted and not wanted[0]:
        del wanted[0]
    while wanted and not wanted[-1]:
        del wanted[-1]
    if not wanted:
        return None
    found = [_squeezed(line) for line in text.split("\n")]
    first = -1
    while True:
        try:
            first = found.index(wanted[0], first + 1)
        except ValueError:
            return None
        if found[first : first + len(wanted)] == wanted:
            return first + 1


def _most_alike(text: str, lines: list[str]) -> int | None:
    """The number of the line most like the first one that is not blank."""
    first = next((line.strip() for line in lines if line.strip()), "")[:MAX_WIDTH]
    if not first:
        return None
    compared = [line.strip()[:MAX_WIDTH] for line in text.split("\n", MAX_COMPARED)[:MAX_COMPARED]]
    near = difflib.get_close_matches(first, compared, n=1)
    return compared.index(near[0]) + 1 if near else None
