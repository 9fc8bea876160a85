"""`Task`: what it is declared as, what its child gets, and how each end is told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from lockgate.agent.children import Children
from lockgate.agent.instructions import BASE
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import ModelReply, UserMessage
from lockgate.agent.run import RunResult, RunStatus
from lockgate.agent.subagents.answer import MAX_ANSWER, answer_of
from lockgate.agent.subagents.background import Background
from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.agent.subagents.task import Task
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.policy.approval import Later
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import FakeModel, answers_in, asking
from lockgate.testing.office import calling, office, task
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import ConcurrencyBehavior, InterruptBehavior, SideEffectLevel

READ_ONLY = SideEffectLevel.READ_ONLY
READER = AgentDefinition("reader", "Reads\nthings.", "You read.", ("look",), READ_ONLY)


def result_of(result: RunResult) -> ToolResult:
    """The result of the first call of a turn."""
    found = result.calls[0].result
    assert isinstance(found, ToolResult)
    return found


@pytest.mark.req("S0-16")
def test_every_axis_is_declared() -> None:
    """It reads only and overlaps: a child must not wait for the lane of its parent."""
    children = Children()
    tool = Task({}, children, Background(children))
    assert (tool.is_read_only, tool.is_destructive, tool.is_idempotent) == (True, False, False)
    assert tool.concurrency_behavior is ConcurrencyBehavior.CONCURRENT_SAFE
    assert tool.interrupt_behavior is InterruptBehavior.NON_INTERRUPTIBLE
    assert len(tool.definition.origin.reasons) == 5


def test_the_model_is_told_who_there_is() -> None:
    """Names and descriptions, one line each; `general` is there unless one takes its place."""
    children = Children()
    tool = Task({"reader": READER}, children, Background(children))
    assert "- reader: Reads things.\n- general: Does a piece" in tool.definition.description
    assert tool.definition.input_schema["properties"]["agent"]["enum"] == ["reader", "general"]
    mine = AgentDefinition("general", "Mine.", "You are mine.")
    tool = Task({"general": mine}, children, Background(children))
    assert tool.definitions == {"general": mine}


@pytest.mark.req("B-04")
async def test_a_sub_agent_works_by_its_definition(tmp_path: Path) -> None:
    """Its own instructions and prompt, its own tools, and nothing of the parent's transcript."""
    tools = ScriptedTool("look", level=READ_ONLY), ScriptedTool("write")
    async with office(tmp_path, tools, [READER]) as o:
        model = FakeModel([task("reader", "find it"), asking("look"), ModelReply("found")])
        result = await o.bench.agent(model).run("go")
        assert result_of(result).text == "found"
        shown = model.seen[1]
        assert shown.names == ("look",)
        assert shown.instructions == f"{BASE}\n\nYou read."
        assert shown.transcript == (UserMessage("find it"),)


async def test_a_name_that_is_none_is_told_with_those_that_are(tmp_path: Path) -> None:
    """Before anything is started; and an empty prompt is none."""
    async with office(tmp_path, (), [READER]) as o:
        model = FakeModel([task("redaer"), task("reader", " ")])
        result = await o.bench.agent(model).run("go")
        first, second = (made.result for made in result.calls)
        assert isinstance(first, ToolResult)
        assert isinstance(second, ToolResult)
        assert first.kind is second.kind is ErrorKind.INVALID_ARGUMENTS
        assert "reader" in first.text


async def test_another_model_where_the_definition_names_one(tmp_path: Path) -> None:
    """One that can not be had is a result with its reason, and nothing is started."""
    other = AgentDefinition("other", "x", "y", model="nobody:nothing")
    async with office(tmp_path, (), [other]) as o:
        result = await o.bench.agent(FakeModel([task("other")])).run("go")
        told = result_of(result)
        assert (told.kind, told.reason) == (ErrorKind.TOOL_ERROR, "unusable")
        assert "other can not be started" in told.text


def ended(status: RunStatus, reason: str, **more: Any) -> RunResult:
    """A turn that ended so."""
    return RunResult("half", status, "e", reason, "it came to its end", **more)


@pytest.mark.parametrize(
    ("status", "reason", "kind"),
    [
        (RunStatus.BOUND, "iterations", ErrorKind.TOOL_ERROR),
        (RunStatus.INTERRUPTED, "interrupted", ErrorKind.INTERRUPTED),
        (RunStatus.MODEL_FAILED, "timeout", ErrorKind.TOOL_ERROR),
        (RunStatus.SUSPENDED, "waiting", ErrorKind.NOT_APPROVED),
    ],
)
def test_no_answer_is_an_error_that_says_why(
    status: RunStatus, reason: str, kind: ErrorKind
) -> None:
    """The kind and the reason for programs, the words and what it said last for the model."""
    told = answer_of("reader", ended(status, reason))
    assert (told.kind, told.reason) == (kind, reason)
    assert "reader gave no answer: it came to its end." in told.text
    assert "It said last: half" in told.text


def test_an_answer_is_bounded() -> None:
    """What is left out is counted; head and tail stay."""
    told = answer_of("r", RunResult("a" + "x" * 100_000 + "z", RunStatus.ANSWERED, "e")).text
    assert len(told) < MAX_ANSWER + 100
    assert told[0] == "a"
    assert told[-1] == "z"
    assert "40,002 characters left out" in told


async def test_a_child_that_waits_tells_its_tickets(tmp_path: Path) -> None:
    """The parent goes on, and knows what waits."""
    approver = ScriptedApprover([Later()])
    async with office(tmp_path, [ScriptedTool("wipe")], approvers=[approver]) as o:
        model = FakeModel([task("general"), asking("wipe")])
        result = await o.bench.agent(model).run("go")
        told = result_of(result)
        assert (told.kind, told.reason) == (ErrorKind.NOT_APPROVED, "waiting")
        assert "- wipe, ticket " in told.text
        assert "It had made" not in told.text  # what waits has done nothing
        assert result.answered


async def test_a_model_that_fails_fails_the_child_alone(tmp_path: Path) -> None:
    """The parent hears of it and goes on."""
    down = PeerError(
        "no reply", peer="m", phase=Phase.REQUEST, fault=Fault.TIMEOUT, fate=Fate.UNKNOWN
    )
    async with office(tmp_path) as o:
        result = await o.bench.agent(FakeModel([task("general"), down])).run("go")
        assert result.answered
        assert result_of(result).reason == "timeout"


async def test_a_call_with_a_time_of_its_own_bounds_the_child(tmp_path: Path) -> None:
    """The child's turn ends in time by itself, with a result for each of its calls."""
    slow = ScriptedTool("slow", level=READ_ONLY, interruptible=True, hold=True)
    async with office(tmp_path, [slow], model=FakeModel([asking("slow")])) as o:
        call = o.bench.road.call("Task", {"agent": "general", "prompt": "x"}, timeout=0.05)
        async with asyncio.timeout(5):
            result = await o.bench.road.invoke(call)
        assert result.is_error
        assert result.reason in ("seconds", "timeout", "deadline")


async def test_limits_are_never_over_the_parents(tmp_path: Path) -> None:
    """A definition can only ask for less."""
    greedy = AgentDefinition("greedy", "x", "y", iterations=1000)
    async with office(tmp_path, [ScriptedTool("look", level=READ_ONLY)], [greedy]) as o:
        model = FakeModel([task("greedy"), *[asking("look")] * 3])
        result = await o.bench.agent(model, limits=TurnLimits(iterations=2)).run("go")
        assert result_of(result).reason == "iterations"
        assert len(answers_in(model.seen[-1].transcript)) >= 1


async def test_a_lane_is_no_deadlock(tmp_path: Path) -> None:
    """A SEQUENTIAL tool that the parent calls in the same reply is there for the child after it."""
    one = ScriptedTool("one", level=READ_ONLY)
    async with office(tmp_path, [one]) as o:
        both = calling(("one", {}), ("Task", {"agent": "general", "prompt": "x"}), ("one", {}))
        async with asyncio.timeout(5):
            result = await o.bench.agent(FakeModel([both, asking("one")])).run("go")
        assert result.answered
        assert len(one.runs) == 3
