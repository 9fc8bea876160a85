"""How the executions of skills end: interrupted, cancelled, waiting for an answer."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.agent.model import ModelReply, ToolCall
from lockgate.bridges.queue import QueueApprover
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.settings.config import AgentSettings
from lockgate.testing.belongings import nothing_left
from lockgate.testing.model import FakeModel, answers_in
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel

APART = lockgate.SkillDefinition("apart", "Apart.", "Go.", context=lockgate.SkillContext.FORK)


def asks(name: str, **arguments: Any) -> ModelReply:
    """A reply that asks for one call."""
    return ModelReply(calls=(ToolCall(f"call-{name}", name, arguments),))


def config(directory: Path, skill: lockgate.SkillDefinition = APART) -> lockgate.Config:
    """A configuration with one skill."""
    return lockgate.Config(agent=AgentSettings(skills=(skill,)), state_dir=directory / "state")


async def test_an_interrupt_ends_the_skill_with_its_turn(tmp_path: Path) -> None:
    """It is passed on: what the skill was at gets its result, and so does the skill."""
    tool = ScriptedTool("look", level=SideEffectLevel.READ_ONLY, hold=True, interruptible=True)
    model = FakeModel([asks("Skill", skill="apart"), asks("look")])
    token = InterruptToken()
    async with lockgate.open(config(tmp_path), tools=[tool], attended=False) as gate:
        agent = gate.agent(model=model)
        turn = asyncio.create_task(agent.run("go", interrupt=token))
        await tool.started.wait()
        token.interrupt()
        async with asyncio.timeout(10):
            result = await turn
        assert result.status is lockgate.RunStatus.INTERRUPTED
        (answer,) = answers_in(result.transcript)
        assert answer.result.kind is ErrorKind.INTERRUPTED
        assert (await agent.run("and now?")).answered


async def test_a_cancelled_turn_leaves_nothing_of_its_skill(tmp_path: Path) -> None:
    """Neither a task nor a descriptor nor an execution that is under way."""
    tool = ScriptedTool("look", level=SideEffectLevel.READ_ONLY, hold=True)
    model = FakeModel([asks("Skill", skill="apart"), asks("look")])
    async with (
        nothing_left(),
        lockgate.open(config(tmp_path), tools=[tool], attended=False) as gate,
    ):
        turn = asyncio.create_task(gate.agent(model=model).run("go"))
        await tool.started.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn


async def test_a_call_that_waits_ends_the_skill_and_keeps_its_hooks(tmp_path: Path) -> None:
    """The ticket is told; who answers it has the call made, and the skill's hooks hear of it."""
    heard: list[tuple[str | None, str]] = []

    async def hear(told: HookInput) -> None:
        heard.append((told.agent, str(told.tool_name)))

    skill = replace(APART, hooks=(Hook(HookEvent.POST_TOOL, hear, "listener"),))
    waits = FakeModel([asks("Skill", skill="apart"), asks("drop"), ModelReply("it waits")])
    async with lockgate.open(
        config(tmp_path, skill),
        tools=[ScriptedTool("drop")],
        approvers=[QueueApprover()],
        attended=True,
    ) as gate:
        result = await gate.agent(model=waits).run("go")
        (answer,) = answers_in(result.transcript)
        assert answer.result.kind is ErrorKind.NOT_APPROVED
        assert "ticket" in answer.result.text
        ticket = answer.result.text.partition("(ticket ")[2].partition(")")[0]
        done = await gate.resume(ticket, True)
        assert isinstance(done, lockgate.ToolResult)
        assert not done.is_error
    assert heard == [("apart", "drop")]
