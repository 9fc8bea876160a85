"""After every kind of failure nothing is left: no process, task, thread, socket or descriptor."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NoReturn

import pytest

import lockgate
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import ModelReply, ToolCall
from lockgate.agent.run import RunStatus
from lockgate.app.build import Surroundings
from lockgate.app.gate import Gate
from lockgate.errors import Fate, Fault, LocalError, LockgateError, PeerError, Phase
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.settings.config import Config, SessionSettings
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.belongings import Belongings, left_since, nothing_left
from lockgate.testing.model import FakeModel, asking
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Kill
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.turns import turns
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ToolResult
from lockgate.traits import SideEffectLevel

READS = {"readOnlyHint": True}
LOOK = "mcp__s__look"
SERVER = ScriptedServer(
    tools=tuple(tool(name, annotations=READS) for name in ("look", "hang", "die")),
    rules=(When("tools/call", tool="hang"), When("tools/call", Kill(), tool="die")),
)
HERE = PeerError("no answer", peer="m", phase=Phase.REQUEST, fault=Fault.CLOSED, fate=Fate.UNKNOWN)


class Boom(Exception):
    """What nobody expects."""


@asynccontextmanager
async def a_gate(project: Project, **options: Any) -> AsyncGenerator[Gate]:
    """A gate with a server that is a process, a tool of a thread, sub-agents, hooks, sessions."""
    project.add("s", SERVER, annotationTrust="trust")
    project.sections |= {"builtin": ["Task", "list_agents"]}
    local = ScriptedTool("add", level=SideEffectLevel.READ_ONLY, replies=[Boom("no")])

    @lockgate.tool(level="read-only")
    def blocks() -> str:
        """Runs in a thread."""
        return "done"

    given: dict[str, Any] = {
        "tools": [local, blocks],
        "approvers": [ScriptedApprover.always(True)],
        "surroundings": Surroundings(environ=project.environ(), cwd=project.root),
        **options,
    }
    async with lockgate.open(project.write(), **given) as gate:
        yield gate


async def model_fails(gate: Gate) -> None:
    """Its provider does."""
    result = await gate.agent(model=FakeModel([HERE])).run("go")
    assert result.status is RunStatus.MODEL_FAILED


async def model_breaks(gate: Gate) -> None:
    """The model raises what it must not."""
    result = await gate.agent(model=FakeModel([Boom()])).run("go")
    assert (result.status, result.reason) == (RunStatus.MODEL_FAILED, "model_error")


async def tool_raises(gate: Gate) -> None:
    """A local tool; the turn goes on."""
    result = await gate.agent(model=FakeModel([asking("add", "blocks", LOOK)])).run("go")
    assert result.answered
    assert [
        call.result.is_error for call in result.calls if isinstance(call.result, ToolResult)
    ] == [
        True,
        False,
        False,
    ]


async def server_dies(gate: Gate) -> None:
    """In the middle of a call."""
    assert (await gate.agent(model=FakeModel([asking("mcp__s__die")])).run("go")).answered


async def turn_takes_too_long(gate: Gate) -> None:
    """With a call that is never answered."""
    limits = TurnLimits(seconds=0.2)
    agent = gate.agent(model=FakeModel([asking("mcp__s__hang")]), limits=limits)
    assert (await agent.run("go")).status is RunStatus.BOUND


async def turn_is_interrupted(gate: Gate) -> None:
    """While its model is asked."""
    model, token = FakeModel(hold=True), InterruptToken()
    turn = asyncio.create_task(gate.agent(model=model).run("go", interrupt=token))
    await model.asked.wait()
    token.interrupt()
    assert (await turn).status is RunStatus.INTERRUPTED


async def turn_is_cancelled(gate: Gate) -> None:
    """While its model is asked, and while a call of it is made."""
    for model in (FakeModel(hold=True), FakeModel([asking("mcp__s__hang", "blocks")])):
        turn = asyncio.create_task(gate.agent(model=model).run("go"))
        await model.asked.wait()
        await turns(20)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn


async def turn_is_left_running(gate: Gate) -> None:
    """The gate is closed under it."""
    model = FakeModel([asking("mcp__s__hang")])
    task = asyncio.create_task(gate.agent(model=model).run("go"))
    task.set_name("left running")
    await model.asked.wait()


async def session_is_closed_in_a_turn(gate: Gate) -> None:
    """And another one goes on."""
    model = FakeModel(hold=True)
    agent, other = gate.agent(model=model), gate.agent(model=FakeModel())
    turn = asyncio.create_task(agent.run("go"))
    await model.asked.wait()
    await agent.close()
    assert (await turn).status is RunStatus.INTERRUPTED
    assert (await other.run("go")).answered


async def child_is_left_running(gate: Gate) -> None:
    """A sub-agent in the background, whose model never answers."""
    call = ToolCall("1", "Task", {"agent": "general", "prompt": "work", "background": True})
    replies = [ModelReply("", (call,)), ModelReply("it works")]
    child = FakeModel(hold=True)

    class Both(FakeModel):
        """The parent's script, and for the child one that never answers."""

        async def reply(self, request: Any, heard: Any = None) -> ModelReply:
            first = request.transcript[0].text
            return await (child.reply(request) if first == "work" else super().reply(request))

    result = await gate.agent(model=Both(replies)).run("go")
    assert result.answered
    await child.asked.wait()


async def child_is_interrupted(gate: Gate) -> None:
    """A sub-agent in the foreground, with its parent's turn."""
    call = ToolCall("1", "Task", {"agent": "general", "prompt": "work"})
    asked, token = asyncio.Event(), InterruptToken()

    class Both(FakeModel):
        """Asks for a sub-agent, which hears nothing from its own model."""

        async def reply(self, request: Any, heard: Any = None) -> ModelReply:
            if request.transcript[0].text == "work":
                asked.set()
                await asyncio.Event().wait()
            return await super().reply(request)

    agent = gate.agent(model=Both([ModelReply("", (call,))]))
    turn = asyncio.create_task(agent.run("go", interrupt=token))
    await asked.wait()
    token.interrupt()
    assert (await turn).status is RunStatus.INTERRUPTED


async def body_raises(gate: Gate) -> None:
    """The program itself."""
    await gate.agent(model=FakeModel([asking(LOOK)])).run("go")
    raise Boom


async def closed_twice(gate: Gate) -> None:
    """And a session that was forgotten."""
    agent = gate.agent(model=FakeModel())
    await agent.run("go")
    await asyncio.gather(agent.close(), agent.close())
    with pytest.raises(LocalError, match="closed"):
        await agent.run("go")
    await gate.agent(model=FakeModel()).run("go")


FAILURES: tuple[Callable[[Gate], Awaitable[None]], ...] = (
    model_fails,
    model_breaks,
    tool_raises,
    server_dies,
    turn_takes_too_long,
    turn_is_interrupted,
    turn_is_cancelled,
    turn_is_left_running,
    session_is_closed_in_a_turn,
    child_is_left_running,
    child_is_interrupted,
    body_raises,
    closed_twice,
)


@pytest.mark.req("S3-06", "S3-07")
@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.__name__)
async def test_a_failure_leaves_nothing(
    project: Project, failure: Callable[[Gate], Awaitable[None]]
) -> None:
    """Whatever fails while a gate is open: when it is closed, all that it began is over."""
    async with nothing_left():
        with suppress(Boom):
            async with a_gate(project) as gate:
                await failure(gate)
    await project.none_left_running()


@pytest.mark.req("S3-06")
async def test_a_hook_that_fails_leaves_nothing(project: Project) -> None:
    """At each event of a session, by raising and by never ending."""

    async def raises(said: HookInput) -> NoReturn:
        raise Boom

    async def hangs(said: HookInput) -> None:
        await asyncio.Event().wait()

    events = (
        HookEvent.SESSION_START,
        HookEvent.TURN_START,
        HookEvent.PRE_TOOL,
        HookEvent.POST_TOOL,
        HookEvent.TURN_STOP,
        HookEvent.SESSION_END,
    )
    hooks = [
        Hook(event, run, f"{event} {run.__name__}", timeout=0.05)
        for event in events
        for run in (raises, hangs)
    ]
    async with nothing_left(), a_gate(project, hooks=hooks) as gate:
        assert (await gate.agent(model=FakeModel([asking(LOOK)])).run("go")).answered
    await project.none_left_running()


@pytest.mark.req("S3-06")
async def test_a_session_that_can_not_be_kept_leaves_nothing(project: Project) -> None:
    """Its bound is reached in the middle of a turn."""
    config = Config(sessions=SessionSettings(max_bytes=200))
    around = Surroundings(environ=project.environ(), cwd=project.root)
    async with nothing_left(), lockgate.open(config, surroundings=around) as gate:
        agent = gate.agent(model=FakeModel([ModelReply("x" * 300)]))
        with pytest.raises(LockgateError, match=r"sessions\.maxBytes"):
            await agent.run("go")


async def test_sessions_that_are_forgotten_hold_nothing(project: Project) -> None:
    """A program may make an agent for each request: their locks do not pile up while it is open."""
    around = Surroundings(environ=project.environ(), cwd=project.root)
    async with lockgate.open(Config(), surroundings=around) as gate:
        await gate.agent(model=FakeModel()).run("go")
        before = Belongings.now()
        for _ in range(10):
            await gate.agent(model=FakeModel()).run("go")
        gc.collect()
        assert await left_since(before) == ()
