"""A server that asks a person in the middle of a call: who is told, and whose time it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.client.services import Occasion, Services
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.clock import passing
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.road import Road
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, tool
from lockgate.testing.steps import Answer, Ask, Step
from lockgate.tools.context import Bounds, Environment, Execution, InterruptToken, ToolContext
from lockgate.tools.deadline import Deadline
from lockgate.tools.permit import Permit
from lockgate.tools.registry import Registry
from lockgate.tools.result import ErrorKind, Outcome
from lockgate.tools.tool import Tool
from lockgate.traits import SideEffectLevel

FORM: dict[str, Any] = {"message": "m", "requestedSchema": {"properties": {}}}
ERAS = pytest.mark.parametrize("revisions", [LEGACY, MODERN], ids=["legacy", "modern"])


def _asking(revisions: tuple[str, ...]) -> LoopServer:
    """A server whose tool asks first, in the way of its era."""
    server = LoopServer(ScriptedServer((tool("ask"),), revisions=revisions, name="files"))
    if revisions is LEGACY:
        steps: tuple[Step, ...] = (Ask("elicitation/create", FORM), Answer(text="done"))
        return server.on("tools/call", *steps, tool="ask")
    request: dict[str, Any] = {"method": "elicitation/create", "params": FORM}
    wants = Answer({"resultType": "input_required", "inputRequests": {"a": request}})
    return server.on("tools/call", Answer(text="done"), tool="ask").on(
        "tools/call", wants, tool="ask", nth=1
    )


@asynccontextmanager
async def _started(server: LoopServer, services: Services) -> AsyncGenerator[Tool]:
    """The tool of that server, behind a manager."""
    registry = Registry()
    settings = ServerSettings("files", StdioEndpoint("run"))
    manager = Manager(
        [settings], connect=lambda _: server.transport(), services=lambda of: services
    )
    await manager.start(registry)
    (only,) = registry.snapshot().tools
    try:
        yield only
    finally:
        await manager.close()


async def _execute(tool: Tool, *, attended: bool = True, **context: Any) -> Outcome:
    execution = Execution(
        "e", "test", Bounds(SideEffectLevel.MUTATING, None), attended, Environment(Path())
    )
    return await tool.execute({}, Permit(ToolContext(execution, "call-1", **context)))


@ERAS
async def test_whoever_is_asked_knows_the_call(revisions: tuple[str, ...]) -> None:
    """Server, tool, call, and that somebody is there."""
    told: list[Occasion] = []

    async def elicit(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        told.append(occasion)
        return ElicitAnswer(Action.ACCEPT, {})

    async with _started(_asking(revisions), Services(elicit=elicit)) as only:
        outcome = await _execute(only)
    assert not outcome.result.is_error
    (one,) = told
    assert (one.server, one.tool, one.call_id, one.attended) == ("files", "ask", "call-1", True)


@ERAS
@pytest.mark.req("S0-09")
async def test_in_an_unattended_execution_nobody_is_asked(revisions: tuple[str, ...]) -> None:
    """The server is told that there was no answer, and the call goes on."""
    told: list[Occasion] = []

    async def elicit(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        told.append(occasion)
        return ElicitAnswer(Action.ACCEPT, {})

    server = _asking(revisions)
    async with _started(server, Services(elicit=elicit)) as only:
        outcome = await _execute(only, attended=False)
    assert not outcome.result.is_error
    assert told == []
    if revisions is LEGACY:
        assert server.answered("ask-1")[0]["result"] == {"action": "cancel"}
    else:
        second = server.heard("tools/call")[1]["params"]
        assert second["inputResponses"] == {"a": {"action": "cancel"}}


@ERAS
@pytest.mark.req("S3-21")
async def test_the_callers_deadline_stands_still_meanwhile(revisions: tuple[str, ...]) -> None:
    """A call with a quarter of a second may be about a question of half a second."""
    clock = asyncio.get_running_loop().time
    limit = Deadline(clock() + 0.25, clock)
    stood: list[float] = []

    async def elicit(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        stood.append(limit.at)
        await passing(0.5)
        return ElicitAnswer(Action.ACCEPT, {})

    async with _started(_asking(revisions), Services(elicit=elicit)) as only:
        outcome = await _execute(only, deadline=limit.at, limit=limit)
    assert not outcome.result.is_error
    assert stood == [float("inf")]
    assert limit.at < float("inf")


@ERAS
async def test_a_call_whose_time_is_over_after_the_question_ends(
    revisions: tuple[str, ...],
) -> None:
    """The time that was left before the question is what is left after it."""
    clock = asyncio.get_running_loop().time
    limit = Deadline(clock() + 0.2, clock)

    async def elicit(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        return ElicitAnswer(Action.ACCEPT, {})

    server = _asking(revisions)
    if revisions is LEGACY:
        server.on("tools/call", Ask("elicitation/create", FORM), tool="ask")
    else:
        server.on("tools/call", tool="ask", nth=2)
    async with _started(server, Services(elicit=elicit)) as only:
        async with asyncio.timeout(5):
            outcome = await _execute(only, deadline=limit.at, limit=limit)
    assert outcome.result.kind in (ErrorKind.TIMEOUT, ErrorKind.OUTCOME_UNKNOWN)


@ERAS
async def test_a_turns_interrupt_reaches_a_call_that_waits_for_a_person(
    revisions: tuple[str, ...], tmp_path: Path
) -> None:
    """On the whole road: the person is asked no more, and the call has its result."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def elicit(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    token = InterruptToken()
    approver = ScriptedApprover.always(True)
    async with _started(_asking(revisions), Services(elicit=elicit)) as only:
        with Road(tmp_path, [only], attended=[approver]) as road:
            wanted = road.call(only.definition.name, interrupt=token, timeout=60.0, attended=True)
            call = asyncio.create_task(road.invoke(wanted))
            async with asyncio.timeout(10):
                await begun.wait()
                token.interrupt()
                await ended.wait()
                result = await call
    assert result.kind in (ErrorKind.INTERRUPTED, ErrorKind.OUTCOME_UNKNOWN)
