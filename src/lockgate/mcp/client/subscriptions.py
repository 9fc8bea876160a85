"""What one server is asked to say unasked: changes of its lists, and of single resources.

Legacy servers are told of each resource by a request (2025-11-25, server/resources: Subscriptions)
and say the rest by themselves. Modern ones say only what a `subscriptions/listen` wants, which is a
request that stays open (2026-07-28, basic/patterns/subscriptions). What they say arrives as
notifications like all others, so nothing of it passes through here.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, cast

from lockgate.errors import PeerError
from lockgate.mcp.client.asking import require
from lockgate.mcp.client.pending import Answer
from lockgate.mcp.client.prompts import PROMPTS
from lockgate.mcp.client.resources import RESOURCES
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.jsonrpc import METHOD_NOT_FOUND, Failure, Outgoing
from lockgate.mcp.protocol.outgoing import CANCELLED, LISTEN
from lockgate.mcp.protocol.resources import SUBSCRIBE, UNSUBSCRIBE

ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a modern server is to say; also what it grants of that."""

    tools: bool = False
    """That its list of tools changed; of the other lists likewise."""
    prompts: bool = False
    resources: bool = False
    uris: tuple[str, ...] = ()
    """Resources whose changes are to be told."""

    def __bool__(self) -> bool:
        return self.tools or self.prompts or self.resources or bool(self.uris)

    def params(self) -> dict[str, Any]:
        """The filter of the request."""
        lists = {
            "toolsListChanged": self.tools,
            "promptsListChanged": self.prompts,
            "resourcesListChanged": self.resources,
        }
        found: dict[str, Any] = {name: True for name, wanted in lists.items() if wanted}
        if self.uris:
            found["resourceSubscriptions"] = list(self.uris)
        return found

    def granted(self, said: Any) -> Wanted:
        """What of it a server acknowledges by that filter; the rest it will not say."""
        fields = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
        uris = fields.get("resourceSubscriptions")
        named = cast("list[Any]", uris) if isinstance(uris, list) else []
        return Wanted(
            self.tools and fields.get("toolsListChanged") is True,
            self.prompts and fields.get("promptsListChanged") is True,
            self.resources and fields.get("resourcesListChanged") is True,
            tuple(uri for uri in self.uris if uri in named),
        )


class Subscriptions:
    """Subscriptions over one session. Holds no state; any number of tasks may use it."""

    __slots__ = ("_session",)

    def __init__(self, session: ServerSession) -> None:
        self._session = session

    @property
    def lists(self) -> Wanted:
        """The lists whose changes the server says it announces, in either era."""
        tools, prompts, resources = (
            self._can(name, "listChanged") for name in ("tools", PROMPTS, RESOURCES)
        )
        return Wanted(tools, prompts, resources)

    @property
    def watches(self) -> bool:
        """Whether the server says that it tells when a single resource changes."""
        return self._can(RESOURCES, "subscribe")

    async def subscribe(self, uri: str) -> None:
        """Have a legacy server tell when that resource changes, until the session ends. Raises
        `PeerError`."""
        await self._ask(SUBSCRIBE, uri)

    async def unsubscribe(self, uri: str) -> None:
        """Take it back."""
        await self._ask(UNSUBSCRIBE, uri)

    def listen(self, wanted: Wanted) -> ListenStream:
        """Have a modern server say these things, for as long as the stream is entered."""
        return ListenStream(self._session, wanted)

    async def _ask(self, method: str, uri: str) -> None:
        require(self._session, RESOURCES)
        await self._session.connection.request(method, {"uri": uri})

    def _can(self, capability: str, feature: str) -> bool:
        declared: Any = self._session.profile.capabilities.get(capability)
        if not isinstance(declared, dict):
            return False
        return cast("dict[str, Any]", declared).get(feature) is True


class ListenStream:
    """One `subscriptions/listen`, from its request to its end. Entered once; `hear` has to be told
    of every notification of the server."""

    def __init__(self, session: ServerSession, wanted: Wanted) -> None:
        self._session = session
        self._wanted = wanted
        self._identity: int | None = None
        self._granted: Wanted | None = None
        self._cancelled = False
        self._news = asyncio.Event()
        self._asking: asyncio.Task[Answer] | None = None

    def hear(self, method: str, params: Any) -> None:
        """A notification of the server, whatever it is about."""
        if method not in (ACKNOWLEDGED, CANCELLED) or not isinstance(params, dict):
            return
        said = cast("dict[str, Any]", params)
        if method == ACKNOWLEDGED and self._is_ours(_inside(said, "_meta", SUBSCRIPTION_ID)):
            self._granted = self._wanted.granted(said.get("notifications"))
        elif method == CANCELLED and self._is_ours(said.get("requestId")):
            self._cancelled = True
        self._news.set()

    async def opened(self) -> Wanted | None:
        """What the server grants; None if the stream has ended before it said. Bounded by the
        request timeout: raises `TimeoutError`."""
        async with asyncio.timeout(self._session.connection.request_timeout):
            await self._until(lambda: self._granted is not None or self._over)
        return self._granted

    async def ended(self) -> None:
        """Wait until the server ends it, in good order or not."""
        await self._until(lambda: self._over)

    @property
    def failure(self) -> PeerError | None:
        """With what error it has ended; None if it has not, or in good order."""
        asking = self._asking
        if asking is None or not asking.done() or asking.cancelled():
            return None
        error = asking.exception()
        if error is not None:
            if not isinstance(error, PeerError):
                raise error
            return error
        answer = asking.result()
        if not isinstance(answer, Failure):
            return None
        try:
            self._session.connection.result_of(answer)
        except PeerError as refused:
            return refused
        return None

    @property
    def unknown(self) -> bool:
        """Whether it has ended because the server knows no such method."""
        failure = self.failure
        return failure is not None and failure.code == METHOD_NOT_FOUND

    async def __aenter__(self) -> ListenStream:
        session = self._session
        self._asking = asyncio.get_running_loop().create_task(
            session.connection.exchange(self._request, timeout=math.inf),
            name=f"lockgate {session.name} listens",
        )
        self._asking.add_done_callback(lambda _: self._news.set())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait((self._asking,))

    @property
    def _over(self) -> bool:
        return self._cancelled or self._asking is None or self._asking.done()

    async def _until(self, over: Callable[[], bool]) -> None:
        while not over():
            await self._news.wait()
            self._news.clear()

    def _request(self, identity: int) -> Outgoing:
        self._identity = identity
        dialect = self._session.connection.dialect
        return dialect.request(identity, LISTEN, {"notifications": self._wanted.params()})

    def _is_ours(self, identity: Any) -> bool:
        return type(identity) is int and identity == self._identity


def _inside(value: dict[str, Any], member: str, name: str) -> Any:
    held = value.get(member)
    return cast("dict[str, Any]", held).get(name) if isinstance(held, dict) else None
