"""Text of a model on a terminal, with a mark before each line that could pass for one of ours."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from lockgate.showing import visible_lines

MARK: Final = "| "
"""Before a line of a model that begins as ours do."""

_FARTHEST: Final = 24
"""Columns that the sub-agents' lines of ours are indented at most, amply; whatever begins beyond is
marked, since a terminal may break the line there."""
_SIGNS: Final = 8
"""Signs that are looked at before the first letter."""
_WORDS: Final = (
    "answer [",
    "error:",
    "warning:",
    "going on with",
    "to go on",
    "interrupting",
    "accept it",
)
"""What lines of ours begin with, and what a person is asked with."""
_RULE: Final = re.compile(r"[-\u2010-\u2015\u2212\u2500-\u257f]{2,}")


def marked_lines(text: str) -> str:
    """`text` as `showing.visible_lines`, marked."""
    return "\n".join(
        f"{MARK}{line}" if passes(line, whole=True) else line
        for line in visible_lines(text).split("\n")
    )


def passes(line: str, *, whole: bool) -> bool | None:
    """Whether a visible line begins like one of ours; None: that shows once it is longer.

    Ours are `* [1] ...`, `  [1] ...`, `[no answer ...`, `-- title ---`, `> `, `  ... and words`,
    and those that begin with certain words. Looks alone count: width and case make no difference.
    """
    line = unicodedata.normalize("NFKC", line)
    start = line.lstrip()
    if len(line) - len(start) > _FARTHEST:
        return True
    if not start:
        return False if whole else None
    if start[0].isalnum():
        return _begins_with_a_word(start.casefold(), whole=whole)
    return _begins_with_signs(start, whole=whole)


def _begins_with_a_word(start: str, *, whole: bool) -> bool | None:
    if start.startswith(_WORDS):
        return True
    if not whole and any(word.startswith(start) for word in _WORDS):
        return None
    return False


def _begins_with_signs(start: str, *, whole: bool) -> bool | None:
    if start[0] in "[>" or start.startswith("..."):
        return True
    for char in start[:_SIGNS]:
        if char == "[":
            return not start.startswith("- [")  # an item of a list of things to do
        if char.isalnum():
            return _RULE.match(start) is not None
    if len(start) >= _SIGNS:
        return _RULE.match(start) is not None
    return False if whole else None
