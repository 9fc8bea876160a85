"""Tools whose server takes their calls as tasks, under a manager."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from lockgate.errors import Fate
from lockgate.mcp.host.manager import Manager
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.pauses import ScriptedPauses
from lockgate.testing.script import MODERN, ScriptedServer, tool
from lockgate.testing.task_book import CAPABLE, TaskBook, completed, working
from lockgate.tools.registry import Registry
from lockgate.tools.result import Outcome

MakeManager = Callable[..., Manager]
RunTool = Callable[..., Coroutine[Any, Any, Outcome]]


def serving(book: TaskBook) -> LoopServer:
    """A server with one tool, whose calls are the tasks of `book`."""
    script = ScriptedServer(
        (tool("t"),), revisions=MODERN, rules=book.rules(), capabilities=dict(CAPABLE), name="s"
    )
    return LoopServer(script)


@pytest.mark.req("S3-17")
@pytest.mark.req("B-03")
async def test_a_task_is_asked_about_over_the_connection_that_comes_next(
    managed: MakeManager, registry: Registry, run_tool: RunTool
) -> None:
    """The server is lost while a task is waited for, comes back, and says what it came to."""
    book = TaskBook(working(), completed("there"))
    server, pauses = serving(book), ScriptedPauses()
    manager = managed({"s": server}, pause=pauses, chance=lambda: 0.0)
    await manager.start(registry)
    calling = asyncio.create_task(run_tool(registry, "mcp__s__t"))
    await pauses.release()  # the first look
    await pauses.begins()
    server.hang_up()

    async def go_on() -> None:
        while True:  # the wait for the second one, and that of who brings the server back
            await pauses.release()

    going = asyncio.create_task(go_on())
    outcome = await calling
    going.cancel()
    await asyncio.wait((going,))
    assert (outcome.result.text, outcome.fate) == ("there", Fate.ANSWERED)
    assert (book.begun, server.connections) == (1, 2)


@pytest.mark.req("B-03")
async def test_a_task_ends_with_its_manager(
    managed: MakeManager, registry: Registry, run_tool: RunTool
) -> None:
    """Nobody brings the server back: the outcome is unknown, at once."""
    book, pauses = TaskBook(working()), ScriptedPauses()
    manager = managed({"s": serving(book)}, pause=pauses)
    await manager.start(registry)
    calling = asyncio.create_task(run_tool(registry, "mcp__s__t"))
    await pauses.begins()
    await manager.close()
    await pauses.release()
    async with asyncio.timeout(5):
        outcome = await calling
    assert outcome.fate is Fate.UNKNOWN
    assert "can not be learnt" in outcome.result.text
    assert book.begun == 1
