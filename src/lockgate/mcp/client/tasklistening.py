"""Being told when a task has changed: whoever waits for it looks at once.

The tasks extension, Task Status Notifications: they are sent where a `subscriptions/listen` names
the task. That is a help and no more: a task is looked at all the same, and what it came to is read
from the answer to that.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Any, Final

from lockgate.errors import PeerError
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.jsonrpc import Outgoing
from lockgate.mcp.protocol.outgoing import LISTEN
from lockgate.mcp.protocol.tasks import EXTENSION

WORTH: Final = 2.0
"""Seconds between two looks from which on it is worth a request to be told."""


class Ear:
    """Listens for one task on one session."""

    def __init__(self, session: ServerSession, task: str, news: asyncio.Event) -> None:
        """`news` is set when the server says something about the task."""
        self._session = session
        self._task = task
        self._news = news
        self._listening: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, session: ServerSession, task: str, news: asyncio.Event, wanted: float) -> Ear:
        """One that has begun to listen, where the server has such a thing and it is worth it."""
        ear = cls(session, task, news)
        if wanted >= WORTH and _offers(session):
            session.connection.tasks.listen(task, news)
            loop = asyncio.get_running_loop()
            ear._listening = loop.create_task(
                ear._listen(), name=f"lockgate {session.name} listens for a task"
            )
        return ear

    async def close(self) -> None:
        """Listen no more."""
        if self._listening is not None:
            self._session.connection.tasks.forget(self._task)
            self._listening.cancel()
            await asyncio.wait((self._listening,))

    async def _listen(self) -> None:
        connection = self._session.connection
        dialect = connection.dialect

        def made(id: int) -> Outgoing:
            return dialect.request(id, LISTEN, {"notifications": {"taskIds": [self._task]}})

        try:
            await connection.exchange(made, timeout=math.inf)
        except PeerError:
            pass  # then nothing is said, and looking has to do


def _offers(session: ServerSession) -> bool:
    declared: Any = session.profile.capabilities.get("extensions")
    return isinstance(declared, Mapping) and EXTENSION in declared
