"""What is said about a server's tasks that nobody waits for an answer to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from lockgate.mcp.client.outbox import Outbox
from lockgate.mcp.client.pending import PendingRequests
from lockgate.mcp.protocol.jsonrpc import Outgoing
from lockgate.mcp.transport.base import Link


class TaskNews:
    """Who waits for news of which task, on one connection; and the last word on a task."""

    __slots__ = ("_link", "_outbox", "_pending", "_waiting")

    def __init__(
        self, outbox: Outbox, pending: PendingRequests, link: Callable[[], Link | None]
    ) -> None:
        """`link` gives the one that is open, if there is one."""
        self._outbox = outbox
        self._pending = pending
        self._link = link
        self._waiting: dict[str, asyncio.Event] = {}

    def listen(self, task: str, news: asyncio.Event) -> None:
        """Have `news` set whenever something is said about the task."""
        self._waiting[task] = news

    def forget(self, task: str) -> None:
        """Take it back."""
        self._waiting.pop(task, None)

    def changed(self, params: Any) -> None:
        """A notification came, whatever it holds."""
        said = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
        news = self._waiting.get(str(said.get("taskId")))
        if news is not None:
            news.set()

    def dismiss(self, make: Callable[[int], Outgoing], patience: float) -> None:
        """Send a request whose answer nobody waits for, if there is a connection. Best effort: an
        answer within `patience` seconds is passed over, and none is cared for after that."""
        link = self._link()
        if link is not None:
            identity = self._pending.next_id()
            self._outbox.put(make(identity))
            asyncio.get_running_loop().call_later(patience, link.abandon, identity)
