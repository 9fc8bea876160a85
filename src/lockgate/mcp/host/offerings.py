"""What one server offers beside its tools, over all its connections: resources and prompts.

Answers are kept for as long as the server says, and no longer than its notifications let them
(2026-07-28, server/utilities/caching). Nothing is asked before somebody wants it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar, cast

from lockgate.content import EmbeddedResource
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.completion import Completion
from lockgate.mcp.client.pages import Listed
from lockgate.mcp.client.prompts import PromptClient
from lockgate.mcp.client.resources import ResourceClient
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.standing import Bound
from lockgate.mcp.host.kept import Kept, Key
from lockgate.mcp.host.watch import Watch
from lockgate.mcp.host.watch_keeping import Timing
from lockgate.mcp.host.watching import Watching
from lockgate.mcp.protocol.prompts import (
    LIST_PROMPTS,
    PROMPTS_CHANGED,
    ListedPrompt,
    PromptResult,
)
from lockgate.mcp.protocol.resources import (
    LIST_RESOURCES,
    LIST_TEMPLATES,
    READ_RESOURCE,
    RESOURCE_UPDATED,
    RESOURCES_CHANGED,
    ListedResource,
    ListedTemplate,
    ReadResult,
)

T = TypeVar("T")

LARGEST_KEPT: Final = 100_000
"""Characters of one resource that is kept; a larger one is read each time. With `MAX_KEPT` of them
it bounds what a server can have kept here."""


class Offerings:
    """Resources and prompts of one server. Any number of tasks may use it."""

    def __init__(self, server: str, timing: Timing, missing: Callable[[], str | None]) -> None:
        """`server` is its configured name; `missing` says why it is not there, None if it is."""
        self.server = server
        self.watching = Watching(server, timing)
        self._missing = missing
        self._session: ServerSession | None = None
        self._kept = Kept(timing.clock)

    @property
    def session(self) -> ServerSession:
        """The connection of now. Raises `PeerError` (NOT_CONNECTED) if there is none."""
        session = self._session
        if session is not None and session.connection.usable:
            return session
        raise self._gone(self._missing() or "it is not connected")

    def connected(self, session: ServerSession) -> None:
        """It is reached by this session from now on; nothing of another one is believed."""
        self._session = session
        self._kept.drop()

    def forget(self) -> None:
        """Keep nothing any more: changes may not have been heard."""
        self._kept.drop()

    def end(self) -> None:
        """The server is not held any more."""
        self._session = None
        self._kept.drop()
        reason = self._missing()
        self.watching.end(None if reason is None else self._gone(reason))

    def hear(self, method: str, params: Any) -> None:
        """The server notifies: what is kept is only as good as it says."""
        if method == RESOURCES_CHANGED:
            self._kept.drop(lambda key: key[0] in (LIST_RESOURCES, LIST_TEMPLATES))
        elif method == PROMPTS_CHANGED:
            self._kept.drop(lambda key: key[0] == LIST_PROMPTS)
        elif method == RESOURCE_UPDATED:
            uri = cast("dict[str, Any]", params).get("uri") if isinstance(params, dict) else None
            self._kept.drop(lambda key: _concerned(key, uri))
        self.watching.hear(method, params)

    async def resources(self) -> Listed[ListedResource]:
        """What it lists. Raises `PeerError`, as all of these do."""
        client = ResourceClient(self.session)
        return await self._list(LIST_RESOURCES, client.list)

    async def templates(self) -> Listed[ListedTemplate]:
        """Its templates."""
        client = ResourceClient(self.session)
        return await self._list(LIST_TEMPLATES, client.templates)

    async def prompts(self) -> Listed[ListedPrompt]:
        """Its prompts."""
        client = PromptClient(self.session)
        return await self._list(LIST_PROMPTS, client.list)

    async def read(
        self, uri: str, *, timeout: float | None, occasion: Occasion, bound: Bound | None = None
    ) -> ReadResult:
        """Read one resource; see `ResourceClient.read`."""
        client = ResourceClient(self.session)

        async def ask() -> tuple[ReadResult, float]:
            reading = await client.read(uri, timeout=timeout, occasion=occasion, bound=bound)
            kept = reading.ttl > 0 and _size(reading.result) <= LARGEST_KEPT
            return reading.result, reading.ttl if kept else 0.0

        return await self._kept.through((READ_RESOURCE, uri), ask)

    async def get(
        self,
        name: str,
        arguments: Mapping[str, str],
        *,
        timeout: float | None,
        occasion: Occasion,
    ) -> PromptResult:
        """The messages of one prompt; see `PromptClient.get`. Never kept."""
        client = PromptClient(self.session)
        return await client.get(name, arguments, timeout=timeout, occasion=occasion)

    @property
    def completion(self) -> Completion:
        """Suggestions for arguments. Raises `PeerError` if it is not there."""
        return Completion(self.session)

    async def watch(self, uri: str) -> Watch:
        """Be told when a resource changes; see `Watching.watch`."""
        return await self.watching.watch(self.session, uri)

    def _gone(self, reason: str) -> PeerError:
        return PeerError(
            f"{self.server} is not there: {reason}",
            peer=self.server,
            phase=Phase.REQUEST,
            fault=Fault.NOT_CONNECTED,
            fate=Fate.NOT_SENT,
        )

    async def _list(self, method: str, read: Callable[[], Awaitable[Listed[T]]]) -> Listed[T]:
        modern = self.session.revision.modern

        async def ask() -> tuple[Listed[T], float]:
            listed = await read()
            return listed, (listed.ttl or 0.0) if modern else 0.0

        return await self._kept.through((method, ""), ask)

    def __repr__(self) -> str:
        return f"<Offerings of {self.server}>"


def _concerned(key: Key, uri: object) -> bool:
    """Whether what is kept under `key` is of that resource, or of one above or below it."""
    method, held = key
    if method != READ_RESOURCE:
        return False
    return not isinstance(uri, str) or held.startswith(uri) or uri.startswith(held)


def _size(result: ReadResult) -> int:
    """Characters of it, all that came with it included."""
    return sum(
        len(one.text or one.blob or "") + len(repr((one.uri, one.annotations, one.meta)))
        if isinstance(one, EmbeddedResource)
        else len(repr(one.raw))
        for one in result.contents
    )
