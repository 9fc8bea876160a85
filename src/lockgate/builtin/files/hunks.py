"""What replacements changed, as a small unified diff, made without looking at the whole file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

CONTEXT: Final = 3
"""Lines shown before and after a change."""
MAX_LINES: Final = 80
"""Lines of the diff: enough to recognise an edit; its author has the rest."""
MAX_WIDTH: Final = 300
"""Characters of one of its lines."""


def diff(before: str, after: str, places: Sequence[int], old: str, new: str) -> str:
    """A diff for replacements of `old` by `new` at `places` of `before`; `\\n` ends all lines.

    What is left out is told in its last line.
    """
    lines: list[str] = []
    line = 1
    seen = shown = 0
    while shown < len(places):
        together = _on_same_lines(before, places, shown, len(old))
        start, end = places[shown], places[together - 1] + len(old)
        line += before.count("\n", seen, start)
        seen = start
        grown = len(new) - len(old)
        there = start + shown * grown, end + together * grown
        hunk = _hunk(before, after, (start, end), there, line)
        if lines and len(lines) + len(hunk) > MAX_LINES:
            break
        lines += hunk
        shown = together
    left = len(places) - shown
    if len(lines) > MAX_LINES:
        lines[MAX_LINES:] = [f"[{len(lines) - MAX_LINES} more lines of this change]"]
    if left:
        lines.append(f"[{left} more change{'' if left == 1 else 's'}]")
    return "\n".join(lines)


def _on_same_lines(text: str, places: Sequence[int], first: int, size: int) -> int:
    """The number of the first place after `first` that begins on a later line than it ends."""
    number = first + 1
    while number < len(places):
        if "\n" in text[places[number - 1] + size : places[number]]:
            break
        number += 1
    return number


def _hunk(
    before: str, after: str, old: tuple[int, int], new: tuple[int, int], line: int
) -> list[str]:
    """One change in whole lines, with its context; `line` is the number of its first one."""
    start, removed = _lines(before, *old)
    _, added = _lines(after, *new)
    same = 0
    while same < min(len(removed), len(added)) and removed[same] == added[same]:
        start += len(removed[same]) + 1
        same += 1
    line += same
    removed, added = removed[same:], added[same:]
    while removed and added and removed[-1] == added[-1]:
        del removed[-1], added[-1]
    above = _last_lines(before, start)
    end = start + sum(len(text) + 1 for text in removed)
    below = _first_lines(before, end)
    context = len(above) + len(below)
    first = line - len(above)
    head = f"@@ -{first},{context + len(removed)} +{first},{context + len(added)} @@"
    return [
        head,
        *(f" {_cut(text)}" for text in above),
        *(f"-{_cut(text)}" for text in removed),
        *(f"+{_cut(text)}" for text in added),
        *(f" {_cut(text)}" for text in below),
    ]


def _lines(text: str, start: int, end: int) -> tuple[int, list[str]]:
    """Where the first line that is touched begins, and all of them."""
    start = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    return start, text[start : len(text) if stop < 0 else stop].split("\n")


def _last_lines(text: str, at: int) -> list[str]:
    """The lines of context that end before `at`, where a line begins."""
    start = at
    for _ in range(CONTEXT):
        if start:
            start = text.rfind("\n", 0, start - 1) + 1
    return text[start : at - 1].split("\n") if at else []


def _first_lines(text: str, at: int) -> list[str]:
    """The lines of context that begin at `at`."""
    found: list[str] = []
    while at < len(text) and len(found) < CONTEXT:
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        found.append(text[at:stop])
        at = stop + 1
    return found


def _cut(text: str) -> str:
    return text if len(text) <= MAX_WIDTH else f"{text[:MAX_WIDTH]} [... {len(text) - MAX_WIDTH}]"
