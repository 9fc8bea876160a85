"""A client of a server with one task, whose waits take no time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from lockgate.content import Text
from lockgate.errors import PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.services import Services
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tasks import Following
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.protocol.results import CallResult
from lockgate.testing.clock import FakeClock
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.pauses import SkippedPauses
from lockgate.testing.script import MODERN, ScriptedServer, When
from lockgate.testing.task_book import CAPABLE, HANDLE, TaskBook


class TaskBench:
    """The client, the server and its tasks, and the clock that they go by."""

    def __init__(self, book: TaskBook, server: LoopServer, session: ServerSession) -> None:
        self.book = book
        self.server = server
        self.session = session
        self.clock = FakeClock(0.0)
        self.pauses = SkippedPauses(self.clock)
        self.heard: list[tuple[float, str | None]] = []

    def client(self, **more: Any) -> ToolClient:
        """`more` are fields of `Following`."""
        fields: dict[str, Any] = {"pause": self.pauses, "clock": self.clock, **more}
        return ToolClient(self.session, following=Following(**fields))

    async def call(self, **more: Any) -> CallResult:
        """Make the call; `more` are arguments of `ToolClient.call`."""

        def tell(progress: float, total: float | None, words: str | None) -> None:
            self.heard.append((progress, words))

        return await self.client().call("build", {}, progress=tell, **more)

    async def fails(self, **more: Any) -> PeerError:
        """Make the call; what it fails with."""
        try:
            result = await self.call(**more)
        except PeerError as error:
            if HANDLE in str(error):
                raise AssertionError("the handle of a task stands in an error") from None
            return error
        raise AssertionError(f"the call came to {result}")


@asynccontextmanager
async def task_bench(
    *stages: Any,
    created: Mapping[str, Any] | None = None,
    services: Services | None = None,
    rules: Sequence[When] = (),
    capabilities: Mapping[str, Any] = CAPABLE,
) -> AsyncGenerator[TaskBench, None]:
    """The task of the server goes through these `stages`."""
    book = TaskBook(*stages, created=created)
    script = ScriptedServer(
        revisions=MODERN,
        name="fake",
        rules=(*rules, *book.rules()),
        capabilities=dict(capabilities),
    )
    server = LoopServer(script)
    identity, services = ClientIdentity("test", "1"), services or Services()
    session = await connect(
        server.transport(), peer="fake", client=identity, services=services, request_timeout=5
    )
    try:
        yield TaskBench(book, server, session)
    finally:
        await session.close()


def text_of(result: CallResult) -> str:
    """The text of a result."""
    return "".join(block.text for block in result.content if isinstance(block, Text))
