"""What belongs to one session and ends with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from lockgate.agent.ownership import CLOSE_SECONDS, Owned, close_all, to_the_end
from lockgate.errors import LocalError


class SessionScope:
    """The explicit list of what is closed when a session ends, last made first; before all of it
    what makes more of it, the turn under way.

    Made and closed by the session's owner; used on one loop.
    """

    def __init__(
        self,
        session_id: str,
        *,
        seconds: float = CLOSE_SECONDS,
        ended: Callable[[], None] | None = None,
    ) -> None:
        """`seconds` bounds the closing of each thing; `ended` is called once when all is closed."""
        self.session_id = session_id
        self._seconds = seconds
        self._ended = ended
        self._owned: dict[int, Owned] = {}
        self._first: set[int] = set()
        self._sources: list[Callable[[], Iterable[str]]] = []
        self._next = 0
        self._closing: asyncio.Task[None] | None = None

    @property
    def closed(self) -> bool:
        """Whether closing has begun."""
        return self._closing is not None

    def own(
        self, name: str, close: Callable[[], Awaitable[None]], *, first: bool = False
    ) -> Callable[[], None]:
        """Have `close` called when the session ends, before all that is not `first` if it is. The
        function that is returned takes that back, for what ended before. Raises `LocalError` once
        closing has begun."""
        if self.closed:
            raise LocalError("this session is closed")
        key, self._next = self._next, self._next + 1
        self._owned[key] = Owned(name, close)
        if first:
            self._first.add(key)

        def disown() -> None:
            self._owned.pop(key, None)
            self._first.discard(key)

        return disown

    def tells(self, source: Callable[[], Iterable[str]]) -> None:
        """Have the model told what `source` has to say when a turn begins: sentences of ours, each
        once."""
        self._sources.append(source)

    def news(self) -> tuple[str, ...]:
        """What there is to be told with the turn that begins."""
        return tuple(sentence for source in self._sources for sentence in source())

    async def close(self) -> None:
        """Close everything, last made first; a failure is logged and the rest still closes.

        Idempotent: a second call waits for the first.
        """
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await to_the_end(self._closing)

    async def _close(self) -> None:
        order = sorted(self._owned, key=lambda key: (key in self._first, key), reverse=True)
        owned = tuple(self._owned[key] for key in order)
        self._owned.clear()
        try:
            await close_all(owned, self._seconds)
        finally:
            if self._ended is not None:
                self._ended()

    def __repr__(self) -> str:
        owned = ", ".join(thing.name for thing in self._owned.values()) or "nothing"
        state = "closed" if self.closed else "open"
        return f"<SessionScope {self.session_id[:8]} {state}, owns {owned}>"
