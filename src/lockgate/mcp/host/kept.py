"""Answers of one server that are good for a while, so that they are not asked for again.

2026-07-28, server/utilities/caching. An answer is kept for as long as its server says and no longer
than a notification lets it; nothing is fetched in the background. Kept answers belong to one
session, and so to one authorization: `cacheScope` makes no difference here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias, TypeVar

T = TypeVar("T")

Key: TypeAlias = tuple[str, str]
"""A method, and the parameter that tells its answers apart; empty for a list."""

MAX_KEPT: Final = 256
"""Answers of one server that are kept; the oldest goes first."""
MAX_TTL: Final = 86_400.0
"""Seconds that a server can have an answer kept for."""


class Kept:
    """What is kept of one session."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._held: dict[Key, tuple[float, Any]] = {}
        self._dropped = 0

    async def through(self, key: Key, ask: Callable[[], Awaitable[tuple[T, float]]]) -> T:
        """The answer under `key`: the one that is kept while it is fresh, else what `ask` gives.

        `ask` returns the answer and for how many seconds it is good. The clock starts before it
        is asked: no page of a list is kept for longer than its server said. What is told while it
        is asked may be about it: then it is not kept.
        """
        held = self._held.get(key)
        now = self._clock()
        if held is not None and now < held[0]:
            return held[1]
        dropped = self._dropped
        answer, ttl = await ask()
        if ttl > 0 and dropped == self._dropped:
            self._held.pop(key, None)
            self._held[key] = now + min(ttl, MAX_TTL), answer
            while len(self._held) > MAX_KEPT:
                self._held.pop(next(iter(self._held)))
        return answer

    def drop(self, concerned: Callable[[Key], bool] = lambda _: True) -> None:
        """Keep nothing any more that is `concerned`; by default nothing at all."""
        self._dropped += 1
        for key in [key for key in self._held if concerned(key)]:
            del self._held[key]
