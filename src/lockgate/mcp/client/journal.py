"""What is logged about one server: each time one line, bounded, nothing in it that deceives.

A server that talks nonsense does so all day: of each kind of it, the 1st, 10th, 100th ... is a
warning that says how many there were, and the others are for debugging.
"""

from __future__ import annotations

import logging
import traceback
from collections import Counter

from lockgate.process.hidden import NOTHING, Hidden

logger = logging.getLogger(__name__)

LIMIT = 400
"""Characters of one line."""


class Journal:
    """The log of one server, over all links to it."""

    __slots__ = ("_counts", "_hidden", "_peer", "_warned_at")

    @property
    def peer(self) -> str:
        """The configured name of the server."""
        return self._peer

    def __init__(self, peer: str, hidden: Hidden = NOTHING) -> None:
        """`hidden` is what no line may hold."""
        self._peer = peer
        self._hidden = hidden
        self._counts: Counter[str] = Counter()

    @property
    def hidden(self) -> Hidden:
        """What no line may hold, and no error either."""
        return self._hidden

    def noise(self, kind: str, text: str) -> None:
        """The server did something that is of no use and does no harm.

        `kind` tells what, for counting; `text` is the rest of a sentence about the server.
        """
        self._counts[kind] += 1
        count = self._counts[kind]
        level = logging.WARNING if _is_power_of_ten(count) else logging.DEBUG
        if logger.isEnabledFor(level):
            so_far = f" ({count} times so far)" if count > 1 else ""
            logger.log(level, "%s %s%s", self._peer, self.line(text), so_far)

    def error(self, text: str) -> None:
        """Something of ours failed over what it did."""
        logger.error("%s: %s", self._peer, self.line(text))

    def debug(self, text: str) -> None:
        """Of interest to whoever looks for a fault."""
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s: %s", self._peer, self.line(text))

    def line(self, text: str) -> str:
        """`text` as it may be shown."""
        return self._hidden.line(text, LIMIT)

    def cut(self, text: str) -> str:
        """The same for a text that may be long: only its beginning is looked at."""
        text = self._hidden.hide(text[: 3 * LIMIT], cut_after=len(text) > 3 * LIMIT)
        return self.line(text)


def _is_power_of_ten(count: int) -> bool:
    while count % 10 == 0:
        count //= 10
    return count == 1


def trace(error: Exception) -> str:
    """What was raised and where. Not its text: that may hold what the server sent or was sent."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {where.filename}:{where.lineno}"
