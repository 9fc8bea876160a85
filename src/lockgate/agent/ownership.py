"""Who closes what: things are owned as they are made, and closed last made first.

While something is being built, an `Ownership` closes what was made if the rest fails (S3-07). When
it is done, it hands everything on, in the order of closing, to the one owner (S3-06).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType

from lockgate.errors import LockgateError

_log = logging.getLogger(__name__)

CLOSE_SECONDS = 30.0
"""How long one thing may take to close before the next one's turn comes. A server that ignores
everything is gone after about five."""


@dataclass(frozen=True, slots=True)
class Owned:
    """One thing to be closed."""

    name: str
    """What it is, for the log."""
    close: Callable[[], Awaitable[None]]
    """Called once. It may raise."""


class Ownership:
    """What was made so far, while the rest is being made.

    async with Ownership() as made:
        store = open_store()
        made.own("state", store.close)
        manager = Manager(...)
        made.own("mcp servers", manager.close)
        await manager.start()
        return AgentRuntime(..., owned=made.release())
    """

    def __init__(self, *, seconds: float = CLOSE_SECONDS) -> None:
        """`seconds` bounds the closing of each thing."""
        self._made: list[Owned] = []
        self._seconds = seconds

    def own(self, name: str, close: Callable[[], Awaitable[None]]) -> None:
        """From now on `close` is called if the block is left without `release`."""
        self._made.append(Owned(name, close))

    def release(self) -> tuple[Owned, ...]:
        """Hand everything to its owner, in the order of closing: last made first."""
        made, self._made = self._made, []
        return tuple(reversed(made))

    async def __aenter__(self) -> Ownership:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if made := self.release():
            await to_the_end(asyncio.ensure_future(close_all(made, self._seconds)))


async def to_the_end(work: asyncio.Future[None]) -> None:
    """Wait until `work` is over, also when this task is cancelled meanwhile.

    For closing alone, and for work that is bounded: what would be left open half-way has no other
    owner. The cancellation passes on when the work is over.
    """
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    await work


async def close_all(owned: Sequence[Owned], seconds: float = CLOSE_SECONDS) -> None:
    """Close everything in the given order, each within `seconds`.

    A failure is logged and the rest still closes.
    """
    cancelled: asyncio.CancelledError | None = None
    for thing in owned:
        try:
            async with asyncio.timeout(seconds):
                await thing.close()
        except asyncio.CancelledError as error:
            # The loop is being shut down: this thing had its chance, the others get theirs.
            _log.warning("closing %s was cancelled", thing.name)
            cancelled = error
        except Exception as error:  # noqa: BLE001 - logged, and the rest still closes
            # Only our own errors are sure to hold no secret.
            detail = f": {error}" if isinstance(error, LockgateError) else ""
            _log.warning("closing %s failed: %s%s", thing.name, type(error).__name__, detail)
    if cancelled is not None:
        raise cancelled
