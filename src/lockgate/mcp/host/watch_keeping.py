"""Telling a server which resources are watched, on one connection.

A legacy server is told of each by a request (2025-11-25, server/resources: Subscriptions), a modern
one by a stream that names them all (2026-07-28, basic/patterns/subscriptions).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from lockgate.errors import PeerError
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.subscriptions import Subscriptions, Wanted
from lockgate.mcp.host.pause import Pause
from lockgate.mcp.host.subscription import Subscription

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Timing:
    """How time passes for streams that end, see `Subscription`."""

    clock: Callable[[], float]
    pause: Pause
    chance: Callable[[], float]


class Register(Protocol):
    """Who watches what, as far as the server's side of it needs that."""

    server: str
    told: set[str]
    changed: asyncio.Event

    @property
    def uris(self) -> Collection[str]:
        """What is watched."""
        ...

    def accepted(self, uris: Iterable[str], *, missed: bool = False) -> None:
        """The server knows of these."""
        ...

    def refused(self, uris: Iterable[str], error: PeerError) -> None:
        """It does not tell of these."""
        ...

    def failed(self, what: str) -> PeerError:
        """The error for what the server does."""
        ...


async def subscribing(session: ServerSession, register: Register) -> None:
    """Tell a legacy server, until cancelled; returns when the connection has ended."""
    subscriptions = Subscriptions(session)
    while True:
        await register.changed.wait()
        register.changed.clear()
        for uri in [uri for uri in register.uris if uri not in register.told]:
            try:
                await subscriptions.subscribe(uri)
            except PeerError as error:
                if not session.connection.usable:
                    return  # it is told on the next one
                register.refused((uri,), error)
            else:
                register.accepted((uri,))
        for uri in [uri for uri in register.told if uri not in register.uris]:
            if uri in register.uris:
                continue  # watched again while another one was taken back
            register.told.discard(uri)
            try:
                await subscriptions.unsubscribe(uri)
            except PeerError:
                continue  # what it tells on is heard by nobody


_Held: TypeAlias = tuple[Subscription, "asyncio.Task[None]"]


class Listening:
    """Tells a modern server, by one stream at a time."""

    def __init__(self, session: ServerSession, register: Register, timing: Timing) -> None:
        self._session = session
        self._register = register
        self._timing = timing
        self._streams: list[_Held] = []
        """The one that is open, and the one that takes its place."""

    def hear(self, method: str, params: Any) -> None:
        """A notification of the server, whatever it is about."""
        for stream, _ in self._streams:
            stream.hear(method, params)

    async def keep(self) -> None:
        """Hold a stream open that names what is watched, until cancelled.

        A new one is open before the old one is let go, so nothing falls between them. What is new
        is added alone: a resource that is refused takes no other with it.
        """
        register = self._register
        try:
            while True:
                await register.changed.wait()
                register.changed.clear()
                for step in self._steps():
                    told = (*(uri for uri in register.uris if uri in register.told), *step)
                    before = tuple(self._streams)
                    if not told or await self._opened(told, step):
                        register.told.intersection_update(told)
                        await self._let_go(before)
        finally:
            await self._let_go(tuple(self._streams))

    def _steps(self) -> list[list[str]]:
        """What is to be added, stream by stream; nothing is added where only something went."""
        told, uris = self._register.told, self._register.uris
        added = [uri for uri in uris if uri not in told]
        if added:
            return [[uri] for uri in added] if told else [added]
        nothing: list[str] = []
        return [nothing] if told.difference(uris) else []

    async def _opened(self, uris: tuple[str, ...], added: Collection[str]) -> bool:
        """Open a stream for these, of which some are `added`. Whether there is one."""
        session, register, timing = self._session, self._register, self._timing
        outcome: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def opened(granted: Wanted) -> None:
            register.accepted(granted.uris, missed=outcome.done())
            left = [uri for uri in uris if uri not in granted.uris]
            register.refused(left, register.failed("does not tell when that resource changes"))
            _done(outcome, granted=bool(granted))

        def failed(error: PeerError | None) -> None:
            if outcome.done():
                return  # it was open before, and is tried again
            if session.connection.usable:
                why = error or register.failed("does not answer when it is to tell of a resource")
                register.refused(added, why)
            _done(outcome, granted=False)

        def ended(keeping: asyncio.Task[None]) -> None:
            was_open = outcome.done() and not outcome.cancelled() and outcome.result()
            _done(outcome, granted=False)
            if not keeping.cancelled():  # it gave up, for what the server said
                _told_of(keeping)
                why = register.failed("does not tell of resources any more")
                register.refused(uris if was_open else added, why)

        stream = Subscription(
            session,
            Wanted(uris=uris),
            opened=opened,
            failed=failed,
            clock=timing.clock,
            pause=timing.pause,
            chance=timing.chance,
        )
        name = f"lockgate server {register.server} tells of resources"
        keeping = asyncio.get_running_loop().create_task(stream.keep(), name=name)
        keeping.add_done_callback(ended)
        made = stream, keeping
        self._streams.append(made)
        if await outcome:
            return True
        await self._let_go((made,))
        return False

    async def _let_go(self, held: Collection[_Held]) -> None:
        """End these streams."""
        for _, keeping in held:
            keeping.cancel()
        if held:
            await asyncio.wait([keeping for _, keeping in held])
        self._streams = [one for one in self._streams if one not in held]


def _done(outcome: asyncio.Future[bool], *, granted: bool) -> None:
    if not outcome.done():
        outcome.set_result(granted)


def _told_of(keeping: asyncio.Task[None]) -> None:
    """A defect of ours is told, and ends what is kept as any other end does."""
    error = keeping.exception()
    if error is not None:
        _log.error("%s failed", keeping.get_name(), exc_info=error)
