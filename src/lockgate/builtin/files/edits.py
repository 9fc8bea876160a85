"""Finding a piece of text in a file and putting another in its place, all else untouched.

Line ends are the file's own: a `\\n` that is given matches a CRLF too, and what is put in ends its
lines as the lines that it takes the place of, or else as those around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from lockgate.builtin.files.text import Unified


def places_of(piece: str, text: str, *, overlapping: bool) -> Iterator[int]:
    """Where `piece`, which is not empty, is in `text`."""
    at = text.find(piece)
    while at >= 0:
        yield at
        at = text.find(piece, at + (1 if overlapping else len(piece)))


def replace(file: Unified, old: str, new: str, places: Sequence[int]) -> str:
    """The file's text with `new` at each of `places`, where `old` stood; both have `\\n` ends."""
    parts: list[str] = []
    done = 0
    for at in places:
        start, end = file.place(at), file.place(at + len(old))
        parts += (file.raw[done:start], _ended_as(new, file.raw, start, end))
        done = end
    parts.append(file.raw[done:])
    return "".join(parts)


def _ended_as(new: str, raw: str, start: int, end: int) -> str:
    """`new` with the line ends of `raw[start:end]`, line by line, the last one for all others."""
    wanted = new.count("\n")
    if not wanted or "\r\n" not in raw:
        return new
    found = list(islice(re.finditer("\r?\n", raw[start:end]), wanted))
    ends = [match[0] for match in found] or [_near(raw, start, end)]
    ends += [ends[-1]] * (wanted - len(ends))
    lines = new.split("\n")
    return "".join(a + b for a, b in zip(lines, [*ends, ""], strict=True))


def _near(raw: str, start: int, end: int) -> str:
    """How the line at `end` ends, or else the one before it."""
    at = raw.find("\n", end)
    if at < 0:
        at = raw.rfind("\n", 0, start)
    return "\r\n" if at > 0 and raw[at - 1] == "\r" else "\n"
