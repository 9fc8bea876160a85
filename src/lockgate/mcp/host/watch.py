"""One watcher of one resource, and what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from lockgate.errors import PeerError

MAX_PENDING: Final = 1000
"""Different resources below a watched one whose changes wait for the watcher to look."""


@dataclass(frozen=True, slots=True)
class ResourceUpdate:
    """A resource is not what it was, or may not be."""

    server: str
    """The configured name of its server."""
    uri: str
    """What changed: the resource that is watched, or one below it."""
    missed: bool = False
    """Whether nobody said so: for a while nothing could be heard."""


class Watch:
    """One watcher of one resource: updates, each once however often it was told meanwhile.

    async for update in watch: ...

    Ends when the server is closed. Raises `PeerError` once the server does not tell any more.
    """

    def __init__(self, server: str, uri: str, leave: Callable[[Watch], None]) -> None:
        """`leave` is told when it is closed."""
        self.server = server
        self.uri = uri
        self._leave = leave
        self._pending: dict[str, bool] = {}
        """By URI, whether the change was missed."""
        self._news = asyncio.Event()
        self._reason: PeerError | None = None
        self._over = False

    def tell(self, uri: str, *, missed: bool = False) -> None:
        """Something changed."""
        if len(self._pending) >= MAX_PENDING and uri not in self._pending:
            uri, missed = self.uri, True
        self._pending[uri] = self._pending.get(uri, True) and missed
        self._news.set()

    def end(self, reason: PeerError | None) -> None:
        """Nothing more is told, for that reason; None in good order. What waits is still given."""
        if not self._over:
            self._over, self._reason = True, reason
            self._news.set()

    def close(self) -> None:
        """Watch no more. Idempotent."""
        self.end(None)
        self._leave(self)

    def __aiter__(self) -> Watch:
        return self

    async def __anext__(self) -> ResourceUpdate:
        while not self._pending:
            if self._over:
                if self._reason is not None:
                    raise self._reason
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        uri = next(iter(self._pending))
        return ResourceUpdate(self.server, uri, self._pending.pop(uri))

    def __repr__(self) -> str:
        return f"<Watch on a resource of {self.server}, {len(self._pending)} pending>"
