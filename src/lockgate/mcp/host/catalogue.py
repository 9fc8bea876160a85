"""When the list of one server is read again (S3-18).

A server announces that its tools changed, or says for how long a list is good, and that time is
over. The list is then read beside whatever else goes on. Bursts cost a handful of readings; what
is announced while a list is being read is read once more; a reading that fails leaves the last
good list in place, is told, and is tried again with growing waits.

A call waits for the list that was announced before it, which is read at once for it. That is no way
to have a list read for each call by announcing without end: what was read in the last minute sets
a pace that holds for calls too, and all that wait meanwhile share the next reading.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from lockgate.errors import PeerError
from lockgate.mcp.host.pause import Pause, pause
from lockgate.mcp.host.reconnect import Backoff

PACE: Final = Backoff(0.5, 10.0, jitter=0.0)
"""Seconds between two readings while a server announces change after change."""
AT_ONCE: Final = 10
"""Readings in `MINUTE` that may follow one another as fast as calls want them."""
CROWDED: Final = Backoff(0.5, 10.0, jitter=0.0)
"""Seconds before each reading after those, whoever waits: so there are never more than `MOST`."""
MINUTE: Final = 60.0
"""Seconds that are looked back."""
MOST: Final = 20
"""Readings that can begin within `MINUTE`, by the two above."""
RETRIES: Final = Backoff(1.0, 60.0)
"""Seconds after which a reading that failed is tried again."""
FRESH_AT_LEAST: Final = 30.0
"""Seconds for which a list is good whatever less its server says: with `ttlMs` 0, which means that
it may be read anew whenever it is needed, each call would cost a list otherwise."""


class Catalogue:
    """Decides when to read, and lets calls wait for what was announced before them."""

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        pause: Pause = pause,
        chance: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`clock` gives seconds, `chance` a number from 0 to 1 for the jitter."""
        self.unread = False
        """Whether a change was announced that no list which was read since covers."""
        self.stale_at = math.inf
        """The time, of `clock`, from which on the list counts as old; infinite if it never does."""
        self.failure: PeerError | None = None
        """Why the list could not be read the last time; None if it could."""
        self.begun = 0
        """How many readings have begun, over all connections."""
        self._clock = clock
        self._pause = pause
        self._chance = chance
        self._announced = 0
        self._covered = 0
        """Of what was announced, how much the list covers that was read last."""
        self._wanted = False
        self._keeping = False
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        """Set while a call waits: then nothing is paced but by `CROWDED`."""
        self._lately: deque[float] = deque(maxlen=MOST)
        """When the last readings began."""
        self.crowded = False
        """Whether the next reading waits by `CROWDED`, whoever waits for it."""
        self._waiting: list[tuple[int, asyncio.Future[bool]]] = []

    def announce(self) -> None:
        """The server says that its tools have changed."""
        self._announced += 1
        self.unread = True
        self._wake.set()

    def want(self) -> None:
        """Have the list read again, though nothing was announced: nobody waits for that."""
        self._wanted = True
        self._wake.set()

    def look(self, now: float) -> None:
        """A turn begins: have a list that is too old by now read again."""
        if now >= self.stale_at:
            self.stale_at = math.inf
            self.want()

    def begin(self) -> int:
        """A reading begins; what it will cover, for `taken`."""
        self.begun += 1
        self._lately.append(self._clock())
        return self._announced

    def taken(self, covers: int, ttl: float | None) -> None:
        """A list was read and is known now; `ttl` is for how many seconds it is good, if its server
        says so."""
        self._covered = covers
        self.unread = self._announced > covers
        self.failure = None
        self.stale_at = math.inf if ttl is None else self._clock() + max(ttl, FRESH_AT_LEAST)

    async def keep(self, read: Callable[[int], Awaitable[None]]) -> None:
        """Read whenever it is needed, until cancelled.

        `read` is given what `begin` returned, and calls `taken` with it; it raises `PeerError`
        when the list can not be read.
        """
        self._keeping = True
        self._wake.set()
        failed = running = 0
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                if not (self.unread or self._wanted):
                    continue
                self._wanted = False
                covers = self.begin()
                try:
                    await read(covers)
                except PeerError as error:
                    failed += 1
                    self.failure = error
                    self._told(covers, known=False)
                    self.want()
                    wait = RETRIES.wait(failed, self._chance())
                else:
                    failed = 0
                    running += 1
                    self._told(covers, known=True)
                    wait = PACE.wait(running, 0.0)
                least = self._least()
                if least > 0:
                    self.crowded = True
                    await self._pause(least, asyncio.Event())
                    self.crowded = False
                if wait > least:
                    await self._pause(wait - least, self._hurry)
                if not (self.unread or self._wanted):
                    running = 0
        finally:
            self._keeping = self.crowded = False
            self._told(None, known=False)

    def _least(self) -> float:
        """Seconds that have to pass before the next reading, after so many lately."""
        since = self._clock() - MINUTE
        lately = sum(begun > since for begun in self._lately)
        return CROWDED.wait(lately - AT_ONCE + 1, 0.0) if lately >= AT_ONCE else 0.0

    async def settled(self) -> bool:
        """Wait until what was announced up to now is covered by a list that was read.

        False if the list can not be read, or the connection ends before. Whoever waits bounds it.
        """
        need = self._announced
        if self._covered >= need:
            return True
        if not self._keeping:
            return False
        told: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((need, told))
        self._hurry.set()
        self._wake.set()
        try:
            return await told
        finally:
            self._let_go([entry for entry in self._waiting if entry[1] is told])

    def _told(self, covers: int | None, *, known: bool) -> None:
        """Tell whoever waits for no more than `covers`; None is everybody."""
        done = [(n, told) for n, told in self._waiting if covers is None or n <= covers]
        for _, told in done:
            if not told.done():
                told.set_result(known)
        self._let_go(done)

    def _let_go(self, done: list[tuple[int, asyncio.Future[bool]]]) -> None:
        """Those wait no more; without anybody who waits there is no hurry."""
        self._waiting = [entry for entry in self._waiting if entry not in done]
        if not self._waiting:
            self._hurry.clear()
