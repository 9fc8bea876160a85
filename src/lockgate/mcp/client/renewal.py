"""A new session in place of one that the server forgot: one for everybody who finds that out.

2025-11-25, basic/transports: Session Management. Whoever was told that its message was of no
session any more (`SessionEnded`) comes here; the first one opens a new session, all others wait for
it, and one who comes late finds it open already (PB-055, PB-056).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from msgspec import Raw

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.pending import Answer
from lockgate.mcp.protocol import outgoing
from lockgate.mcp.protocol.jsonrpc import Failure, Outgoing, Unreadable
from lockgate.mcp.protocol.outgoing import Dialect
from lockgate.mcp.protocol.profile import parse_initialize
from lockgate.process.hidden import Hidden


class Speaker(Protocol):
    """The connection, as far as a session needs it."""

    peer: str
    hidden: Hidden
    """What no error may hold."""
    renewed: list[Callable[[], None]]
    """Whom to tell of each new session."""

    async def initialize_again(self, dialect: Dialect) -> Answer:
        """Send `initialize` as it was sent first, and nothing else about a session that ends."""
        ...

    async def tell(self, message: Outgoing) -> None:
        """Send a notification; see `Connection.tell`."""
        ...


class Renewal:
    """Opens sessions again for one connection, in the revision that was agreed upon."""

    def __init__(self, speaker: Speaker, dialect: Dialect) -> None:
        self.generation = 0
        """How many sessions there were before this one."""
        self._speaker = speaker
        self._dialect = dialect
        self._opening: asyncio.Task[None] | None = None

    async def after(self, generation: int) -> None:
        """Return when there is a session later than that of `generation`.

        A caller that is cancelled leaves the others their session. Raises `PeerError` (NOT_SENT)
        if none can be opened.
        """
        if generation != self.generation:
            return
        opening = self.begin()
        await asyncio.wait((opening,))
        if opening.cancelled():
            raise self._failed("the connection was closed", Fault.CLOSED)
        error = opening.exception()
        if isinstance(error, PeerError):
            raise self._failed(str(error), error.fault)
        if error is not None:
            raise error

    def begin(self) -> asyncio.Task[None]:
        """Open a new session, unless that is under way; whether anybody waits for it or not."""
        opening = self._opening
        if opening is None:
            name = f"lockgate {self._speaker.peer} opens a new session"
            opening = asyncio.get_running_loop().create_task(self._open(), name=name)
            opening.add_done_callback(self._done)
            self._opening = opening
        return opening

    def end(self) -> None:
        """Give up whatever is under way."""
        if self._opening is not None:
            self._opening.cancel()

    async def ended(self) -> None:
        """The same, and wait for it."""
        opening = self._opening
        if opening is not None:
            opening.cancel()
            await asyncio.wait((opening,), timeout=1)

    def _done(self, opening: asyncio.Task[None]) -> None:
        self._opening = None
        if not opening.cancelled():
            opening.exception()  # told to whoever waits; nobody may be left

    async def _open(self) -> None:
        revision = self._dialect.revision
        answer = await self._speaker.initialize_again(self._dialect)
        if isinstance(answer, Failure):
            words = self._speaker.hidden.line(answer.message[:2000], 200)
            told = f"it refuses to be initialized again: {words} ({answer.code})"
            raise self._failed(told, Fault.REFUSED)
        version = self._version(answer)
        if version != revision.name:
            told = f"it came back with protocol version {version!r:.40}, and had {revision.name}"
            raise self._failed(told, Fault.UNSUPPORTED)
        await self._speaker.tell(outgoing.initialized(revision))
        self.generation += 1
        for listener in tuple(self._speaker.renewed):
            listener()

    def _version(self, answer: Raw) -> str | None:
        try:
            return parse_initialize(answer).version
        except Unreadable as problem:
            told = f"its answer to being initialized again is {problem.reason}"
            raise self._failed(told, Fault.MALFORMED) from None

    def _failed(self, why: str, fault: Fault) -> PeerError:
        peer = self._speaker.peer
        why = why.removeprefix(f"{_PREFIX.format(peer)}: ")
        return PeerError(
            self._speaker.hidden.hide(f"{_PREFIX.format(peer)}: {why}"),
            peer=peer,
            phase=Phase.REQUEST,
            fault=fault,
            fate=Fate.NOT_SENT,
        )


_PREFIX = "the session with {} has ended and no new one can be opened"
