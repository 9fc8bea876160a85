"""The part of a document that shows why it was found. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

WIDTH: Final = 240
"""Characters of a snippet, at most."""
_BEFORE: Final = 60
_PLACES: Final = 200
"""Places of a document that are looked at."""


def snippet(content: str, words: Sequence[str]) -> str:
    """A piece of `content` with most of `words` in it, on one line; its beginning if none is found
    as it is written, as where only a stem is the same."""
    start = _best(content, words)
    end = min(len(content), start + WIDTH)
    piece = " ".join(content[start:end].split())
    return ("..." if start else "") + piece + ("..." if end < len(content) else "")


def _best(content: str, words: Sequence[str]) -> int:
    if not words:
        return 0
    pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    found = [(m.start(), m[0].casefold()) for m in islice(pattern.finditer(content), _PLACES)]
    best, most = 0, 0
    for index, (at, _) in enumerate(found):
        near = {word for place, word in found[index:] if place < at + WIDTH - _BEFORE}
        if len(near) > most:
            best, most = at, len(near)
    return _word_start(content, max(0, best - _BEFORE), best)


def _word_start(content: str, start: int, limit: int) -> int:
    """The first beginning of a word from `start` on, not after `limit`."""
    if not start or content[start - 1].isspace():
        return start
    at = next((i for i in range(start, limit) if content[i].isspace()), None)
    return start if at is None else at + 1
