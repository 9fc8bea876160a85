"""A suspended call is resumed through another gate, under that gate's configuration (B-14)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import lockgate
from lockgate.calls.call import Suspended
from lockgate.policy.approval import Later
from lockgate.settings.config import AgentSettings, Config
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.function import tool
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

READ = SideEffectLevel.READ_ONLY


@tool
def erase(path: str) -> str:
    """Erase a file; blocks, so it runs in the gate's threads."""
    return f"erased {path}"


async def suspend(state: Path) -> str:
    """The ticket of a call that waits."""
    later = ScriptedApprover([Later()])
    config = Config(state_dir=state)
    async with lockgate.open(config, tools=[erase], approvers=[later]) as gate:
        waiting = await gate.call("erase", {"path": "notes"})
    assert isinstance(waiting, Suspended)
    return waiting.ticket


@pytest.mark.req("B-14")
async def test_it_runs_in_the_threads_of_the_gate_that_resumes(tmp_path: Path) -> None:
    """What belongs to a process comes from the one that resumes: the call runs as it would."""
    ticket = await suspend(tmp_path)
    async with lockgate.open(Config(state_dir=tmp_path), tools=[erase], attended=False) as gate:
        result = await gate.resume(ticket, True)
    assert isinstance(result, ToolResult)
    assert result.text == "erased notes"


@pytest.mark.req("B-14")
@pytest.mark.parametrize(
    ("agent", "kind"),
    [
        (AgentSettings(ceiling=READ), ErrorKind.ABOVE_CEILING),
        (AgentSettings(offer=()), ErrorKind.NOT_OFFERED),
    ],
)
async def test_the_bounds_of_today_hold(
    tmp_path: Path, agent: AgentSettings, kind: ErrorKind
) -> None:
    """A ceiling that was lowered, or an offer narrowed, since the question refuses the call."""
    ticket = await suspend(tmp_path)
    config = Config(state_dir=tmp_path, agent=agent)
    async with lockgate.open(config, tools=[erase], attended=False) as gate:
        result = await gate.resume(ticket, True)
    assert isinstance(result, ToolResult)
    assert result.kind is kind


@pytest.mark.req("B-14")
async def test_a_program_without_the_tool_leaves_the_question_open(tmp_path: Path) -> None:
    """Its yes is told that there is no such tool, and the one with the tool can still give it."""
    ticket = await suspend(tmp_path)
    async with lockgate.open(Config(state_dir=tmp_path), attended=False) as gate:
        result = await gate.resume(ticket, True)
        assert isinstance(result, ToolResult)
        assert result.kind is ErrorKind.UNKNOWN_TOOL
    async with lockgate.open(Config(state_dir=tmp_path), tools=[erase], attended=False) as gate:
        result = await gate.resume(ticket, True)
        assert isinstance(result, ToolResult)
        assert result.text == "erased notes"
        with pytest.raises(lockgate.LocalError, match="answered before"):
            await gate.resume(ticket, True)


async def test_a_result_outlives_its_gate(tmp_path: Path) -> None:
    """A program that leaves the gate while a resumed call runs still has the call's result."""
    config, held = Config(state_dir=tmp_path), ScriptedTool("hold", hold=True)
    later = ScriptedApprover([Later()])
    async with lockgate.open(config, tools=[held], approvers=[later]) as gate:
        waiting = await gate.call("hold")
    assert isinstance(waiting, Suspended)
    async with lockgate.open(config, tools=[held], attended=False) as gate:
        resumed = asyncio.create_task(gate.resume(waiting.ticket, True))
        await held.started.wait()
    held.release()
    async with asyncio.timeout(5):
        result = await resumed
    assert isinstance(result, ToolResult)
    assert result.text == "ok"
