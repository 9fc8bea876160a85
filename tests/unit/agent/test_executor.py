"""The loop of one turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lockgate.agent.clip import clip
from lockgate.agent.events import (
    CallDecided,
    CallFinished,
    CallProgress,
    CallStarted,
    Event,
    ModelText,
    ModelWrites,
    TurnFinished,
    TurnStarted,
)
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import Message, ModelReply, ToolAnswer, Usage, UserMessage
from lockgate.agent.run import RunResult, RunStatus
from lockgate.agent.transcript import unanswered
from lockgate.calls.records import DecisionRecord
from lockgate.policy.approval import Answer
from lockgate.policy.ceiling import refusal, whole
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import FakeModel, answers_in, asking
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

READ_ONLY, MUTATING = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING


def _reader(name: str = "look", **options: object) -> ScriptedTool:
    return ScriptedTool(name, level=READ_ONLY, concurrent=True, **options)  # pyright: ignore[reportArgumentType] - options of ScriptedTool, whatever they are


def _kinds(result: RunResult) -> list[ErrorKind | None]:
    return [answer.result.kind for answer in answers_in(result.transcript)]


async def test_a_turn_is_model_calls_results_until_an_answer(tmp_path: Path) -> None:
    """Each reply and each result is in the transcript, in order; the last text is the answer."""
    tool = _reader(replies=["seen"])
    model = FakeModel(
        [asking("look", text="I look."), ModelReply("All is well.", usage=Usage(output=5))]
    )
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(model).run("go")
    assert (result.status, str(result), result.tokens) == (RunStatus.ANSWERED, "All is well.", 5)
    assert [type(message) for message in result.transcript] == [
        UserMessage,
        ModelReply,
        ToolAnswer,
        ModelReply,
    ]
    assert [(call.tool, call.result) for call in result.calls] == [("look", ToolResult.of("seen"))]
    assert model.seen[1].transcript == result.transcript[:3]


async def test_a_reply_is_written_down_before_its_calls_are_made(tmp_path: Path) -> None:
    """Whoever is cancelled in the middle of a call finds the wish for it in the transcript."""
    tool = _reader(hold=True)
    async with Workbench(tmp_path, [tool]) as bench:
        agent = bench.agent(FakeModel([asking("look")]))
        turn = asyncio.create_task(agent.run("go"))
        await tool.started.wait()
        assert agent.transcript[-1] == asking("look")
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert not unanswered(agent.transcript)
        again = await agent.run("and now?")
    assert again.answered
    assert _kinds(again) == [ErrorKind.INTERRUPTED]


async def test_results_come_in_the_order_of_theasking(tmp_path: Path) -> None:
    """Also when the first is the last to finish; one refusal or failure stops no other (S0-05)."""
    slow, quick = _reader("slow", hold=True), _reader("quick")
    failing = _reader("failing", replies=[ValueError("boom")])
    events: list[Event] = []

    def sink(event: Event) -> None:
        events.append(event)
        if sum(isinstance(e, CallFinished) for e in events) == 3:
            slow.release()

    async with Workbench(tmp_path, [slow, quick, failing]) as bench:
        agent = bench.agent(FakeModel([asking("slow", "nothing", "failing", "quick")]))
        result = await agent.run("go", sink=sink)
    assert [answer.name for answer in answers_in(result.transcript)] == [
        "slow",
        "nothing",
        "failing",
        "quick",
    ]
    assert _kinds(result) == [None, ErrorKind.UNKNOWN_TOOL, ErrorKind.TOOL_ERROR, None]
    finished = [event.tool for event in events if isinstance(event, CallFinished)]
    assert finished[-1] == "slow"


@pytest.mark.req("S0-05")
async def test_a_call_above_the_ceiling_does_not_abort_the_others(tmp_path: Path) -> None:
    """The refusal names tool, declared and allowed level; the read beside it is made."""
    look, write = _reader(), ScriptedTool("write")
    async with Workbench(tmp_path, [look, write]) as bench:
        agent = bench.agent(FakeModel([asking("write", "look")]), ceiling=READ_ONLY)
        result = await agent.run("go")
    assert _kinds(result) == [ErrorKind.ABOVE_CEILING, None]
    for word in ("write", "mutating", "read-only"):
        assert word in answers_in(result.transcript)[0].result.text
    assert write.runs == []


@pytest.mark.req("S3-01")
async def test_a_servers_tool_is_treated_as_a_local_one(tmp_path: Path) -> None:
    """Same traits, same way: shown, decided, run and recorded alike, but for its name."""
    seen: list[tuple[object, ...]] = []
    for server in (None, "git"):
        tools = [
            ScriptedTool("log", server=server, level=READ_ONLY),
            ScriptedTool("reset", server=server),
        ]
        model = FakeModel([asking(*(tool.name for tool in tools))])
        async with Workbench(tmp_path / str(server), tools) as bench:
            result = await bench.agent(model).run("go")
        decisions = [c.decision for c in result.calls if c.decision is not None]
        seen.append(
            (
                [name.rpartition("__")[2] for name in model.seen[0].names],
                _kinds(result),
                [(d.decision, [r.code for r in d.reasons]) for d in decisions],
                [len(tool.runs) for tool in tools],
            )
        )
    assert seen[0] == seen[1]
    assert seen[0][1] == [None, ErrorKind.NOT_APPROVED]


@pytest.mark.req("S0-06")
@pytest.mark.parametrize("ceiling", [READ_ONLY, MUTATING])
@pytest.mark.parametrize("offer", [None, (), ("look", "write"), ("add",)])
async def test_what_is_shown_is_exactly_what_is_not_refused_for_its_bounds(
    tmp_path: Path, ceiling: SideEffectLevel, offer: tuple[str, ...] | None
) -> None:
    """Shown and executable sets can not differ: the same function says both."""
    tools = [_reader(), ScriptedTool("write"), ScriptedTool("add", destructive=False)]
    model = FakeModel([asking(*(tool.name for tool in tools))])
    approver = ScriptedApprover.always(True)
    async with Workbench(tmp_path, tools, approvers=[approver]) as bench:
        result = await bench.agent(model, ceiling=ceiling, offer=offer).run("go")
    bounds = whole(ceiling, None if offer is None else frozenset(offer))
    shown = set(model.seen[0].names)
    ran = {answer.name for answer in answers_in(result.transcript) if not answer.result.is_error}
    assert shown == ran == {tool.name for tool in tools if refusal(tool, bounds) is None}


@pytest.mark.req("S3-18")
async def test_a_tool_that_comes_in_the_middle_of_a_turn_is_there_in_the_next(
    tmp_path: Path,
) -> None:
    """Within a turn neither shown nor callable; the definitions are the registry's of that turn."""

    def register() -> ModelReply:
        bench.registry.register(_reader("late"))
        return asking("late")

    model = FakeModel([register, ModelReply("first"), asking("late")])
    async with Workbench(tmp_path, [_reader()]) as bench:
        agent = bench.agent(model)
        first = await agent.run("go")
        second = await agent.run("go on")
    assert _kinds(first) == [ErrorKind.UNKNOWN_TOOL]
    assert [shown.names for shown in model.seen[:2]] == [("look",), ("look",)]
    assert model.seen[2].names == ("look", "late")
    assert [call.result for call in second.calls] == [ToolResult.of("ok")]


# ------------------------------------------------------------------ results and events


async def test_a_long_result_is_cut_for_the_model_and_whole_for_who_watches(
    tmp_path: Path,
) -> None:
    """Transcript and run hold what the model was shown; the event has all of it (PB-125)."""
    long = ToolResult.of("x" * 5_000_000)
    events: list[Event] = []
    async with Workbench(tmp_path, [_reader(replies=[long])]) as bench:
        result = await bench.agent(FakeModel([asking("look")])).run("go", sink=events.append)
    limits = TurnLimits()
    shown = clip(long, limits.result_characters, limits.media_characters)
    assert answers_in(result.transcript)[0].result == result.calls[0].result == shown
    assert [e.result for e in events if isinstance(e, CallFinished)] == [long]


async def test_who_watches_sees_everything_in_order(tmp_path: Path) -> None:
    """Started, decided with its reasons, finished; the decision is the record itself."""
    events: list[Event] = []
    no = ScriptedApprover([Answer(False, "person", note="not now")])
    async with Workbench(tmp_path, [_reader(), ScriptedTool("write")], approvers=[no]) as bench:
        model = FakeModel([asking("look", text="I look."), asking("write")])
        result = await bench.agent(model).run("go", sink=events.append)
        records = bench.ledger.decisions
    assert [type(event) for event in events] == [
        TurnStarted,
        ModelWrites,
        ModelText,
        *(CallStarted, CallDecided, CallFinished) * 2,
        ModelWrites,
        ModelText,
        TurnFinished,
    ]
    assert [event.record for event in events if isinstance(event, CallDecided)] == records
    assert [call.decision for call in result.calls] == records
    assert [(r.decision, r.approver, r.approved) for r in records] == [
        ("run", None, None),
        ("refuse", "scripted", False),
    ]
    assert events[0] == TurnStarted(result.execution_id, "fake", ("look", "write"))


async def test_a_failing_sink_never_harms_the_turn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged by its type, without what it says."""

    def sink(event: Event) -> None:
        raise ValueError("token=abc")

    async with Workbench(tmp_path, [_reader()]) as bench:
        result = await bench.agent(FakeModel([asking("look")])).run("go", sink=sink)
    assert result.answered
    assert "ValueError" in caplog.text
    assert "abc" not in caplog.text


def test_reprs_hold_neither_arguments_nor_results() -> None:
    """What is logged by accident gives nothing away."""
    secret = {"token": "abc"}
    record = DecisionRecord("c", 0.0, "agent", "e", "t", "run", (), "digest")
    messages: tuple[Message, ...] = (UserMessage("abc"),)
    values = (
        CallStarted("c", "t", secret),
        CallFinished("c", "t", ToolResult.of("abc")),
        CallDecided(record),
        ModelText("abc"),
        RunResult("", RunStatus.ANSWERED, "e", transcript=messages),
    )
    assert not any("abc" in repr(value) for value in values)


async def test_progress_of_a_call_is_told_to_whoever_watches(tmp_path: Path) -> None:
    """Under the id of the call; a turn that nobody watches asks no tool for it."""
    tool = _reader()
    events: list[Event] = []
    async with Workbench(tmp_path, [tool]) as bench:
        agent = bench.agent(FakeModel([asking("look"), ModelReply("1"), asking("look")]))
        await agent.run("go", sink=events.append)
        await agent.run("go")
    watched, unwatched = tool.contexts
    assert unwatched.progress is None
    assert watched.progress is not None
    watched.progress(1.0, 2.0, "half")
    started = next(event for event in events if isinstance(event, CallStarted))
    assert events[-1] == CallProgress(started.call_id, "look", 1.0, 2.0, "half")
