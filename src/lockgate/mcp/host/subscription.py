"""The streams on which a modern server says that something has changed, kept open.

2026-07-28, basic/patterns/subscriptions. A stream is opened, waited for, and opened again with
growing waits after it has ended. A server that has no such method, or grants nothing of what is
asked for, is left in peace.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from lockgate.errors import PeerError
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.subscriptions import ListenStream, Subscriptions, Wanted
from lockgate.mcp.host.pause import Pause, pause
from lockgate.mcp.host.reconnect import Backoff

RELISTEN: Final = Backoff(1.0, 60.0)
"""Seconds after which a stream that ended is opened again."""
LASTING: Final = 30.0
"""Seconds that a stream has to last for the waits to begin anew."""


def announced(session: ServerSession) -> Wanted:
    """The lists for which a server has to be listened to, so that it says when they change."""
    return Subscriptions(session).lists if session.revision.modern else Wanted()


class Subscription:
    """Holds one stream open on one connection, for as long as `keep` runs."""

    def __init__(
        self,
        session: ServerSession,
        wanted: Wanted,
        *,
        opened: Callable[[Wanted], None],
        clock: Callable[[], float],
        failed: Callable[[PeerError | None], None] = lambda _: None,
        pause: Pause = pause,
        chance: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`opened` is told what is granted when a stream is open, also again: changes before it
        were not heard. `failed` is told of a stream that ended before it was open, with the
        server's error where there is one; of each that is tried."""
        self._session = session
        self._wanted = wanted
        self._opened = opened
        self._failed = failed
        self._clock = clock
        self._pause = pause
        self._chance = chance
        self._stream: ListenStream | None = None
        self._never = asyncio.Event()

    def hear(self, method: str, params: Any) -> None:
        """A notification of the server, whatever it is about."""
        if self._stream is not None:
            self._stream.hear(method, params)

    async def keep(self) -> None:
        """Listen, and listen again. Returns when the server has no such thing; else cancel it."""
        failed = 0
        while True:
            begun = self._clock()
            if not await self._listen():
                return
            failed = 1 if self._clock() - begun >= LASTING else failed + 1
            await self._pause(RELISTEN.wait(failed, self._chance()), self._never)

    async def _listen(self) -> bool:
        """One stream, from its request to its end. Whether another one makes sense."""
        self._stream = Subscriptions(self._session).listen(self._wanted)
        async with self._stream as stream:
            try:
                granted = await stream.opened()
            except TimeoutError:
                self._failed(None)
                return True  # it was not acknowledged
            if granted is None:
                self._failed(stream.failure)
                return not stream.unknown
            self._opened(granted)
            if not granted:
                return False
            await stream.ended()
        return not stream.unknown
