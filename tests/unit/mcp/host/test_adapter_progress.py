"""How far a call of a server's tool is: who is told, and what time it gives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lockgate.errors import Fate
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer
from lockgate.testing.steps import Answer, Do, Message, Send, Sleep, Step
from lockgate.tools.context import Bounds, Environment, Execution, ToolContext
from lockgate.tools.permit import Permit
from lockgate.tools.registry import Registry
from lockgate.tools.result import ErrorKind, Outcome
from lockgate.tools.tool import Tool
from lockgate.traits import SideEffectLevel

SETTINGS = ServerSettings("files", StdioEndpoint("run"))


@pytest.fixture
def server() -> LoopServer:
    """A legacy one."""
    return LoopServer(ScriptedServer(revisions=LEGACY, name="files"))


@asynccontextmanager
async def _started(server: LoopServer, settings: ServerSettings) -> AsyncGenerator[Tool]:
    """The tool of that server, behind a manager."""
    registry = Registry()
    manager = Manager([settings], connect=lambda _: server.transport())
    await manager.start(registry)
    (only,) = registry.snapshot().tools
    try:
        yield only
    finally:
        await manager.close()


async def _execute(tool: Tool, **context: Any) -> Outcome:
    execution = Execution(
        "e", "test", Bounds(SideEffectLevel.MUTATING, None), False, Environment(Path())
    )
    return await tool.execute({}, Permit(ToolContext(execution, "call", **context)))


def _long(server: LoopServer, every: float, times: int) -> None:
    """Let its calls report so often before they are answered."""

    async def work(message: Message) -> tuple[Step, ...]:
        token = message["params"]["_meta"]["progressToken"]
        steps: list[Step] = []
        for so_far in range(times):
            params = {"progressToken": token, "progress": so_far, "total": times}
            note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
            steps += (Sleep(every), Send(note))
        return (*steps, Answer({"content": []}))

    server.on("tools/call", Do(work))


async def test_progress_extends_a_call_where_the_operator_says_so(server: LoopServer) -> None:
    """`progressExtends`: longer than the request timeout, in which it reports all the time."""
    _long(server, 0.15, 12)
    settings = replace(SETTINGS, request_timeout=1.0, progress_extends=60.0)
    async with _started(server, settings) as tool:
        outcome = await _execute(tool)
    assert not outcome.result.is_error


async def test_progress_never_extends_past_the_callers_deadline(server: LoopServer) -> None:
    """Whoever waits no longer gets its answer then, whatever the server reports."""
    _long(server, 0.02, 1000)
    settings = replace(SETTINGS, request_timeout=30.0, progress_extends=60.0)
    async with _started(server, settings) as tool:
        outcome = await _execute(tool, deadline=asyncio.get_running_loop().time() + 0.3)
    assert outcome.result.kind is ErrorKind.OUTCOME_UNKNOWN
    assert "timeout" in outcome.result.text


async def test_progress_never_extends_past_its_cap_over_two_tries(server: LoopServer) -> None:
    """`progressExtends` is for all of a call: a further try has what the first one left of it."""
    _long(server, 0.02, 1000)
    settings = replace(SETTINGS, request_timeout=4.0, progress_extends=60.0)
    async with _started(server, settings) as tool, asyncio.timeout(3):
        outcome = await _execute(tool, begun=asyncio.get_running_loop().time() - 59.7)
    assert outcome.result.kind is ErrorKind.OUTCOME_UNKNOWN
    assert len(server.heard("tools/call")) == 1


async def test_a_further_try_is_not_made_where_the_cap_is_reached(server: LoopServer) -> None:
    """Nothing is sent then."""
    settings = replace(SETTINGS, request_timeout=5.0, progress_extends=60.0)
    async with _started(server, settings) as tool:
        outcome = await _execute(tool, begun=asyncio.get_running_loop().time() - 60)
    assert (outcome.result.kind, outcome.fate) == (ErrorKind.TIMEOUT, Fate.NOT_SENT)
    assert server.heard("tools/call") == []


async def test_progress_is_told_to_whoever_made_the_call(server: LoopServer) -> None:
    """What the context asks for: each report as it comes."""
    told: list[tuple[float, float | None, str | None]] = []

    def sink(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    _long(server, 0.0, 3)
    async with _started(server, SETTINGS) as tool:
        await _execute(tool, progress=sink)
    assert told == [(0.0, 3.0, None), (1.0, 3.0, None), (2.0, 3.0, None)]


@pytest.mark.parametrize("seconds", [29.9, 0.0, 86_401.0])
def test_a_cap_that_is_none_is_refused(seconds: float) -> None:
    """It is at least the request timeout, and at most a day."""
    with pytest.raises(ValueError, match="progressExtends must be at least requestTimeout"):
        replace(SETTINGS, progress_extends=seconds)
