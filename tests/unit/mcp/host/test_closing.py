"""The end of a manager: everything it made, from any task, at any moment (S3-06, S3-07, S3-24)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from lockgate.errors import LocalError
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.host.status import ServerState
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer, When, tool
from lockgate.tools.registry import Registry

MakeManager = Callable[..., Manager]
GOOD = ScriptedServer((tool("t"),), revisions=LEGACY)


def _hangs(method: str) -> LoopServer:
    """A legacy server that never answers that."""
    return LoopServer(ScriptedServer((), rules=(When(method),), revisions=LEGACY))


@pytest.mark.req("S3-06")
async def test_closing_is_idempotent_and_withdraws_the_tools(
    managed: MakeManager, registry: Registry
) -> None:
    """Twice at once, then again: one close; the states say so and nothing runs any more."""
    before = Belongings.now()
    manager = managed({"a": GOOD, "b": GOOD})
    await manager.start(registry)
    await asyncio.gather(manager.close(), manager.close())
    await manager.close()
    assert [status.state for status in manager.statuses] == [ServerState.CLOSED] * 2
    assert registry.snapshot().tools == ()
    assert await left_since(before) == ()


@pytest.mark.req("S3-24")
async def test_starting_and_closing_in_different_tasks_works(
    managed: MakeManager, registry: Registry
) -> None:
    """PB-085: no task that a server depends on belongs to whoever started it."""
    manager = managed({"a": GOOD})
    await asyncio.create_task(manager.start(registry))
    assert manager.statuses[0].state is ServerState.READY
    await asyncio.create_task(manager.close())
    assert manager.statuses[0].state is ServerState.CLOSED


@pytest.mark.req("S3-07")
@pytest.mark.parametrize("method", ["server/discover", "initialize", "tools/list"])
async def test_a_cancelled_start_leaves_nothing(
    managed: MakeManager, registry: Registry, method: str
) -> None:
    """Cancellation passes, after everything that was begun is closed, ready servers too."""
    before = Belongings.now()
    hangs = _hangs(method)
    manager = managed({"hangs": hangs, "good": GOOD}, probe_patience=5)
    starting = asyncio.create_task(manager.start(registry))
    await hangs.hears(method)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert registry.snapshot().tools == ()
    assert await left_since(before) == ()


async def test_closed_while_it_starts_the_start_says_so(
    managed: MakeManager, registry: Registry
) -> None:
    """PB-085: close during connect, from another task: no hang, nothing registered, one error."""
    before = Belongings.now()
    hangs = _hangs("initialize")
    manager = managed({"hangs": hangs, "good": GOOD})
    starting = asyncio.create_task(manager.start(registry))
    await hangs.hears("initialize")
    await manager.close()
    with pytest.raises(LocalError, match="closed while it was starting"):
        await starting
    assert registry.snapshot().tools == ()
    assert await left_since(before) == ()


@pytest.mark.req("S3-06")
async def test_what_fails_to_close_is_logged_and_the_rest_still_closes(
    managed: MakeManager, registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """One transport that raises on the way out is that server's trouble."""

    class Sticky:
        def __init__(self) -> None:
            self._inner = LoopServer(GOOD)

        def describe(self) -> str:
            return "sticky"

        def open(self, receiver: Any) -> Any:
            return _RaisingExit(self._inner.transport().open(receiver))

    manager = managed({"sticky": Sticky(), "good": GOOD})
    await manager.start(registry)
    await manager.close()
    assert [status.state for status in manager.statuses] == [ServerState.CLOSED] * 2
    assert "sticky: the transport failed" in caplog.text


class _RaisingExit:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aenter__(self) -> Any:
        return await self._inner.__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        await self._inner.__aexit__(*error)
        raise OSError("no way out")


@pytest.mark.req("S3-24")
async def test_closing_on_another_loop_is_refused(managed: MakeManager, registry: Registry) -> None:
    """PB-090: with a plain message, and the manager is as it was."""
    manager = managed({"a": GOOD})
    await manager.start(registry)
    errors: list[str] = []

    def elsewhere() -> None:
        try:
            asyncio.run(manager.close())
        except LocalError as error:
            errors.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    await asyncio.to_thread(thread.join, 5)
    assert errors == ["the manager belongs to another event loop: close it where it started"]
    assert manager.statuses[0].state is ServerState.READY


def test_a_manager_per_run_of_a_loop_works() -> None:
    """PB-090: asyncio.run for each use, one after the other, each with a manager of its own; left
    open, the end of the loop closes it and nothing complains."""

    async def use(*, close: bool) -> int:
        server = LoopServer(GOOD)
        manager = Manager(
            [_settings()], connect=lambda settings: server.transport(), probe_patience=0.5
        )
        registry = Registry()
        await manager.start(registry)
        if close:
            await manager.close()
        return len(registry.snapshot().tools)

    assert [asyncio.run(use(close=True)) for _ in range(2)] == [0, 0]
    assert asyncio.run(use(close=False)) == 1


def _settings() -> ServerSettings:
    return ServerSettings("s", StdioEndpoint("x"))
