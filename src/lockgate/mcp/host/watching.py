"""Resources of one server that somebody watches, over all its connections.

What the server is told, and how, is in `watch_keeping`; here is who watches what, and who has to
hear what it says. What may have been missed, on a new connection say, is told as such, so that a
watcher never believes in what is old (S3-17, S3-19).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final, cast

from lockgate.errors import Fate, Fault, LocalError, PeerError, Phase
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.subscriptions import Subscriptions
from lockgate.mcp.host.watch import Watch
from lockgate.mcp.host.watch_keeping import Listening, Timing, subscribing
from lockgate.mcp.protocol.resources import RESOURCE_UPDATED

MAX_WATCHED: Final = 200
"""Resources of one server that can be watched at once."""


class Watching:
    """All watchers of one server."""

    def __init__(self, server: str, timing: Timing) -> None:
        """`server` is its configured name."""
        self.server = server
        self.told: set[str] = set()
        """What the server was told of on this connection."""
        self.changed = asyncio.Event()
        """Set when what is watched is not what the server was told of."""
        self._timing = timing
        self._watches: dict[str, list[Watch]] = {}
        """By URI."""
        self._known: set[str] = set()
        """What the server was told of on any connection, and is watched still."""
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}
        """Who waits for a URI to be told."""
        self._listening: Listening | None = None

    @property
    def uris(self) -> tuple[str, ...]:
        """What is watched."""
        return tuple(self._watches)

    async def watch(self, session: ServerSession, uri: str) -> Watch:
        """Begin to watch; returns once the server knows, on `session`, which `keep` runs on.

        Raises `PeerError` for a server that does not tell of changes, refuses, or does not answer,
        and `LocalError` for more than `MAX_WATCHED` resources.
        """
        if not Subscriptions(session).watches:
            raise self.failed("does not tell when a resource changes", Fate.NOT_SENT)
        if uri not in self._watches and len(self._watches) >= MAX_WATCHED:
            raise LocalError(f"{MAX_WATCHED} resources of {self.server} are watched already")
        watch = Watch(self.server, uri, self._left)
        self._watches.setdefault(uri, []).append(watch)
        if uri in self.told:
            self.changed.set()  # it may be about to be taken back
            return watch
        told: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(uri, []).append(told)
        self.changed.set()
        bound = 2 * session.connection.request_timeout
        try:
            async with asyncio.timeout(bound):
                await told
        except TimeoutError:
            watch.close()
            raise self.failed(f"was not told of a resource to watch within {bound:g} s") from None
        except BaseException:
            watch.close()
            raise
        return watch

    def hear(self, method: str, params: Any) -> None:
        """A notification of the server, whatever it is about."""
        if method != RESOURCE_UPDATED:
            if self._listening is not None:
                self._listening.hear(method, params)
            return
        uri = cast("dict[str, Any]", params).get("uri") if isinstance(params, dict) else None
        if isinstance(uri, str):
            for watch in self._concerned(uri):
                watch.tell(uri)

    async def keep(self, session: ServerSession) -> None:
        """Have the server know what is watched, for as long as this runs: one connection."""
        self.told.clear()
        if not Subscriptions(session).watches:
            self.refused(self.uris, self.failed("does not tell when a resource changes any more"))
            return
        self.changed.set()
        session.connection.renewed.append(self._forgotten)
        try:
            if session.revision.modern:
                self._listening = Listening(session, self, self._timing)
                await self._listening.keep()
            else:
                await subscribing(session, self)
        finally:
            self._listening = None
            session.connection.renewed.remove(self._forgotten)
            self.told.clear()
            lost = self.failed("was lost before it knew what to tell", Fate.UNKNOWN)
            for uri in tuple(self._waiting):
                self._settle(uri, lost)

    def end(self, reason: PeerError | None) -> None:
        """The server is closed, or does not come back: nobody is told anything any more."""
        for watch in [watch for watches in self._watches.values() for watch in watches]:
            watch.end(reason)
        self._watches.clear()
        self._known.clear()
        nobody = reason or self.failed("was closed before it knew what to tell", Fate.UNKNOWN)
        for uri in tuple(self._waiting):  # somebody came when nothing was told any more
            self._settle(uri, nobody)

    def accepted(self, uris: Iterable[str], *, missed: bool = False) -> None:
        """The server knows of these now; `missed` is whether it knew before, and could not tell."""
        for uri in uris:
            if missed or (uri in self._known and uri not in self.told):
                for watch in self._watches.get(uri, ()):
                    watch.tell(uri, missed=True)
            self.told.add(uri)
            if uri in self._watches:
                self._known.add(uri)
            self._settle(uri, None)

    def refused(self, uris: Iterable[str], error: PeerError) -> None:
        """The server does not tell of these, so nobody watches them any more."""
        for uri in uris:
            self.told.discard(uri)
            self._known.discard(uri)
            for watch in self._watches.pop(uri, []):
                watch.end(error)
            self._settle(uri, error)

    def failed(self, what: str, fate: Fate = Fate.ANSWERED) -> PeerError:
        """The error for what the server does; `what` goes on from its name."""
        return PeerError(
            f"{self.server} {what}",
            peer=self.server,
            phase=Phase.REQUEST,
            fault=Fault.CLOSED if fate is Fate.UNKNOWN else Fault.UNSUPPORTED,
            fate=fate,
        )

    def _forgotten(self) -> None:
        """The session is a new one: everything has to be told again in it."""
        self.told.clear()
        self.changed.set()

    def _settle(self, uri: str, error: PeerError | None) -> None:
        for told in self._waiting.pop(uri, []):
            if told.done():
                continue  # cancelled, or too late
            if error is None:
                told.set_result(None)
            else:
                told.set_exception(error)

    def _left(self, watch: Watch) -> None:
        """A watcher goes."""
        watches = self._watches.get(watch.uri, [])
        if watch in watches:
            watches.remove(watch)
        if not watches and self._watches.pop(watch.uri, None) is not None:
            self._known.discard(watch.uri)
            self.changed.set()

    def _concerned(self, uri: str) -> list[Watch]:
        """Whoever watches it, or else something that it lies below (2026-07-28, schema: an update
        may name a part of what was subscribed to)."""
        exact = self._watches.get(uri)
        if exact:
            return list(exact)
        plain = uri.rstrip("/")
        return [
            watch
            for watched, watches in self._watches.items()
            if plain == watched.rstrip("/") or plain.startswith(f"{watched.rstrip('/')}/")
            for watch in watches
        ]
