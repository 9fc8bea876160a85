"""The stream on which a modern server says that its tools have changed.

2026-07-28, basic/patterns/subscriptions. `subscriptions/listen` is a request that stays open; what
it brings arrives as notifications like all others, so here it is only kept open: opened, waited
for, and opened again with growing waits after it has ended. A server that has no such method, or
does not grant what is asked for, is left in peace.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from lockgate.errors import PeerError
from lockgate.mcp.client.pending import Answer
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.host.pause import Pause, pause
from lockgate.mcp.host.reconnect import Backoff
from lockgate.mcp.protocol.jsonrpc import METHOD_NOT_FOUND, Failure, Outgoing

LISTEN: Final = "subscriptions/listen"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
CANCELLED: Final = "notifications/cancelled"
SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"

RELISTEN: Final = Backoff(1.0, 60.0)
"""Seconds after which a stream that ended is opened again."""
LASTING: Final = 30.0
"""Seconds that a stream has to last for the waits to begin anew."""

_WANTED: Final[Mapping[str, bool]] = MappingProxyType({"toolsListChanged": True})


def announces(session: ServerSession) -> bool:
    """Whether a server has to be listened to, so that it says when its tools change."""
    tools: Any = session.profile.capabilities.get("tools")
    if not session.revision.modern or not isinstance(tools, dict):
        return False
    return cast("dict[str, Any]", tools).get("listChanged") is True


class Subscription:
    """Holds one stream open on one connection, for as long as `keep` runs."""

    def __init__(
        self,
        session: ServerSession,
        *,
        missed: Callable[[], None],
        clock: Callable[[], float],
        pause: Pause = pause,
        chance: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`missed` is told when a stream is open again: changes before it were not heard."""
        self._session = session
        self._missed = missed
        self._clock = clock
        self._pause = pause
        self._chance = chance
        self._identity: int | None = None
        self._granted: bool | None = None
        """What the server said to the newest request; None before it said anything."""
        self._cancelled = False
        self._news = asyncio.Event()
        self._never = asyncio.Event()

    def hear(self, method: str, params: Any) -> None:
        """A notification of the server, whatever it is about."""
        if method not in (ACKNOWLEDGED, CANCELLED) or not isinstance(params, dict):
            return
        said = cast("dict[str, Any]", params)
        if method == ACKNOWLEDGED and self._is_ours(_inside(said, "_meta", SUBSCRIPTION_ID)):
            self._granted = _inside(said, "notifications", "toolsListChanged") is True
        elif method == CANCELLED and self._is_ours(said.get("requestId")):
            self._cancelled = True
        self._news.set()

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
        connection = self._session.connection
        self._identity, self._granted, self._cancelled = None, None, False
        loop = asyncio.get_running_loop()
        asking = loop.create_task(
            connection.exchange(self._request, timeout=math.inf),
            name=f"lockgate {self._session.name} listens",
        )
        asking.add_done_callback(lambda _: self._news.set())
        try:
            try:
                async with asyncio.timeout(connection.request_timeout):
                    granted = await self._answered(asking)
            except TimeoutError:
                return True  # it was not acknowledged
            if granted:
                self._missed()
                await self._until(lambda: self._cancelled or asking.done())
            elif granted is not None:
                return False
        finally:
            asking.cancel()
            await asyncio.wait((asking,))
        return not _has_no_such_method(asking)

    async def _answered(self, asking: asyncio.Task[Answer]) -> bool | None:
        """Whether what was asked for is granted; None if the stream ended before."""
        await self._until(lambda: self._granted is not None or asking.done())
        return self._granted

    async def _until(self, over: Callable[[], bool]) -> None:
        while not over():
            await self._news.wait()
            self._news.clear()

    def _request(self, identity: int) -> Outgoing:
        self._identity = identity
        dialect = self._session.connection.dialect
        return dialect.request(identity, LISTEN, {"notifications": dict(_WANTED)})

    def _is_ours(self, identity: Any) -> bool:
        return type(identity) is int and identity == self._identity


def _has_no_such_method(asking: asyncio.Task[Answer]) -> bool:
    if asking.cancelled():
        return False
    error = asking.exception()
    if error is not None and not isinstance(error, PeerError):
        raise error
    if error is not None:
        return error.code == METHOD_NOT_FOUND
    answer = asking.result()
    return isinstance(answer, Failure) and answer.code == METHOD_NOT_FOUND


def _inside(value: dict[str, Any], member: str, name: str) -> Any:
    held = value.get(member)
    return cast("dict[str, Any]", held).get(name) if isinstance(held, dict) else None
