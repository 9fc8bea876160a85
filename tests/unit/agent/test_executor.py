"""The loop of one turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lockgate.agent.clip import clip
from lockgate.agent.events import (
    CallDecided,
    CallFinished,
    CallStarted,
    Event,
    ModelText,
    TurnFinished,
    TurnStarted,
)
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import Message, ModelReply, ToolAnswer, ToolCall, UserMessage
from lockgate.agent.run import RunResult, RunStatus
from lockgate.agent.transcript import unanswered
from lockgate.calls.call import Suspended
from lockgate.calls.records import DecisionRecord
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.policy.approval import Answer, Later
from lockgate.policy.ceiling import refusal, whole
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import FakeModel
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

READ_ONLY, MUTATING = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING


def _reader(name: str = "look", **options: object) -> ScriptedTool:
    return ScriptedTool(name, level=READ_ONLY, concurrent=True, **options)  # pyright: ignore[reportArgumentType] - options of ScriptedTool, whatever they are


def _calls(*names: str, text: str = "") -> ModelReply:
    return ModelReply(text, tuple(ToolCall(f"{n}-{i}", n, {}) for i, n in enumerate(names)))


def _answers(result: RunResult) -> list[ToolAnswer]:
    return [message for message in result.transcript if isinstance(message, ToolAnswer)]


def _kinds(result: RunResult) -> list[ErrorKind | None]:
    return [answer.result.kind for answer in _answers(result)]


def _unreachable(fault: Fault = Fault.TIMEOUT) -> PeerError:
    return PeerError(
        "the provider did not answer",
        peer="provider",
        phase=Phase.REQUEST,
        fault=fault,
        fate=Fate.UNKNOWN,
    )


# ------------------------------------------------------------------ the way of a turn


async def test_a_turn_is_model_calls_results_until_an_answer(tmp_path: Path) -> None:
    """Each reply and each result is in the transcript, in order; the last text is the answer."""
    tool = _reader(replies=["seen"])
    model = FakeModel([_calls("look", text="I look."), ModelReply("All is well.", tokens=5)])
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
        agent = bench.agent(FakeModel([_calls("look")]))
        turn = asyncio.create_task(agent.run("go"))
        await tool.started.wait()
        assert agent.transcript[-1] == _calls("look")
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert unanswered(agent.transcript)
        again = await agent.run("and now?")
    assert again.answered
    assert _kinds(again) == [ErrorKind.OUTCOME_UNKNOWN]


async def test_results_come_in_the_order_of_the_calls(tmp_path: Path) -> None:
    """Also when the first is the last to finish; one refusal or failure stops no other (S0-05)."""
    slow, quick = _reader("slow", hold=True), _reader("quick")
    failing = _reader("failing", replies=[ValueError("boom")])
    events: list[Event] = []

    def sink(event: Event) -> None:
        events.append(event)
        if sum(isinstance(e, CallFinished) for e in events) == 3:
            slow.release()

    async with Workbench(tmp_path, [slow, quick, failing]) as bench:
        agent = bench.agent(FakeModel([_calls("slow", "nothing", "failing", "quick")]))
        result = await agent.run("go", sink=sink)
    assert [answer.name for answer in _answers(result)] == ["slow", "nothing", "failing", "quick"]
    assert _kinds(result) == [None, ErrorKind.UNKNOWN_TOOL, ErrorKind.TOOL_ERROR, None]
    finished = [event.tool for event in events if isinstance(event, CallFinished)]
    assert finished[-1] == "slow"


@pytest.mark.req("S0-05")
async def test_a_call_above_the_ceiling_does_not_abort_the_others(tmp_path: Path) -> None:
    """The refusal names tool, declared and allowed level; the read beside it is made."""
    look, write = _reader(), ScriptedTool("write")
    async with Workbench(tmp_path, [look, write]) as bench:
        agent = bench.agent(FakeModel([_calls("write", "look")]), ceiling=READ_ONLY)
        result = await agent.run("go")
    assert _kinds(result) == [ErrorKind.ABOVE_CEILING, None]
    for word in ("write", "mutating", "read-only"):
        assert word in _answers(result)[0].result.text
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
        model = FakeModel([_calls(*(tool.name for tool in tools))])
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
    model = FakeModel([_calls(*(tool.name for tool in tools))])
    approver = ScriptedApprover.always(True)
    async with Workbench(tmp_path, tools, approvers=[approver]) as bench:
        result = await bench.agent(model, ceiling=ceiling, offer=offer).run("go")
    bounds = whole(ceiling, None if offer is None else frozenset(offer))
    shown = set(model.seen[0].names)
    ran = {answer.name for answer in _answers(result) if not answer.result.is_error}
    assert shown == ran == {tool.name for tool in tools if refusal(tool, bounds) is None}


@pytest.mark.req("S3-18")
async def test_a_tool_that_comes_in_the_middle_of_a_turn_is_there_in_the_next(
    tmp_path: Path,
) -> None:
    """Within a turn neither shown nor callable; the definitions are the registry's of that turn."""

    def register() -> ModelReply:
        bench.registry.register(_reader("late"))
        return _calls("late")

    model = FakeModel([register, ModelReply("first"), _calls("late")])
    async with Workbench(tmp_path, [_reader()]) as bench:
        agent = bench.agent(model)
        first = await agent.run("go")
        second = await agent.run("go on")
    assert _kinds(first) == [ErrorKind.UNKNOWN_TOOL]
    assert [shown.names for shown in model.seen[:2]] == [("look",), ("look",)]
    assert model.seen[2].names == ("look", "late")
    assert [call.result for call in second.calls] == [ToolResult.of("ok")]


# ------------------------------------------------------------------ bounds


async def test_the_iterations_are_bounded(tmp_path: Path) -> None:
    """A model that never answers is stopped, every call answered, its last words kept."""
    model = FakeModel([_calls("look", text=f"try {n}") for n in range(9)])
    async with Workbench(tmp_path, [_reader()]) as bench:
        result = await bench.agent(model, limits=TurnLimits(iterations=3)).run("go")
    assert (result.status, result.reason) == (RunStatus.BOUND, "iterations")
    assert len(model.seen) == len(result.calls) == 3
    assert result.text == "try 2"
    assert str(result) == "try 2\n[no answer: no answer after 3 rounds of model and tools]"


async def test_the_wall_clock_ends_a_model_that_does_not_reply(tmp_path: Path) -> None:
    """The reply that is waited for is cancelled, and the turn says which bound it was."""
    model = FakeModel(hold=True)
    async with Workbench(tmp_path) as bench:
        result = await bench.agent(model, limits=TurnLimits(seconds=0.02)).run("go")
    assert (result.status, result.reason) == (RunStatus.BOUND, "seconds")
    assert result.detail == "the turn took over 0.02 s"


async def test_the_wall_clock_ends_calls_that_are_under_way(tmp_path: Path) -> None:
    """Each gets its result; the token of whoever started the turn is not touched."""
    token = InterruptToken()
    tool = _reader(hold=True, interruptible=True)
    async with Workbench(tmp_path, [tool]) as bench:
        agent = bench.agent(FakeModel([_calls("look")]), limits=TurnLimits(seconds=0.02))
        result = await agent.run("go", interrupt=token)
    assert (result.status, result.reason) == (RunStatus.BOUND, "seconds")
    assert len(_answers(result)) == 1
    assert not token.interrupted


async def test_the_tokens_are_bounded_before_more_calls_are_made(tmp_path: Path) -> None:
    """Nobody would read the results any more, so the calls are not made and say so."""
    tool = _reader()
    reply = ModelReply("", (ToolCall("1", "look", {}),), tokens=100)
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(FakeModel([reply]), limits=TurnLimits(tokens=100)).run("go")
    assert (result.status, result.reason, result.tokens) == (RunStatus.BOUND, "tokens", 100)
    assert _kinds(result) == [ErrorKind.SKIPPED]
    assert tool.runs == []


async def test_an_answer_within_the_last_token_counts(tmp_path: Path) -> None:
    """A bound ends work, it does not throw away what is finished."""
    async with Workbench(tmp_path) as bench:
        model = FakeModel([ModelReply("the answer", tokens=500)])
        result = await bench.agent(model, limits=TurnLimits(tokens=100)).run("go")
    assert (result.status, result.text) == (RunStatus.ANSWERED, "the answer")


async def test_the_same_failing_call_ends_the_turn(tmp_path: Path) -> None:
    """Three times the same failure is a stall; the tool is named."""
    tool = _reader(replies=[ValueError("boom")] * 9)
    model = FakeModel([_calls("look")] * 9)
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(model).run("go")
    assert (result.status, result.reason) == (RunStatus.BOUND, "repeated_failure")
    assert "look" in result.detail
    assert len(tool.runs) == 3


# ------------------------------------------------------------------ replies that are not whole


async def test_a_reply_that_was_cut_off_makes_no_calls(tmp_path: Path) -> None:
    """Its calls are answered as skipped, and the model may try a shorter way."""
    tool = _reader()
    cut = ModelReply("I will", (ToolCall("1", "look", {}),), cut_off=True)
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(FakeModel([cut, ModelReply("short")])).run("go")
    assert (result.status, result.text) == (RunStatus.ANSWERED, "short")
    assert tool.runs == []
    assert [(a.result.kind, a.result.reason) for a in _answers(result)] == [
        (ErrorKind.SKIPPED, "cut_off")
    ]


async def test_a_text_that_was_cut_off_is_no_answer(tmp_path: Path) -> None:
    """It is kept as what was said last, under a status that is not `answered`."""
    async with Workbench(tmp_path) as bench:
        result = await bench.agent(FakeModel([ModelReply("half a", cut_off=True)])).run("go")
    assert (result.status, result.reason, result.text) == (RunStatus.BOUND, "cut_off", "half a")


async def test_a_model_that_is_cut_off_again_and_again_is_stopped(tmp_path: Path) -> None:
    """The same limit as for a failing call."""
    cut = ModelReply("", (ToolCall("", "look", {}),), cut_off=True)
    model = FakeModel([cut] * 9)
    async with Workbench(tmp_path, [_reader()]) as bench:
        result = await bench.agent(model, limits=TurnLimits(repeated_failures=2)).run("go")
    assert (result.status, result.reason, len(model.seen)) == (RunStatus.BOUND, "cut_off", 2)


async def test_empty_and_repeated_ids_of_a_model_are_told_apart(tmp_path: Path) -> None:
    """Each call has an id of its own in the transcript, and another one in the records."""
    same = ModelReply("", tuple(ToolCall(id, "look", {}) for id in ("x", "x", "")))
    async with Workbench(tmp_path, [_reader()]) as bench:
        result = await bench.agent(FakeModel([same, same])).run("go")
        recorded = [record.call for record in bench.ledger.decisions]
    ids = [answer.call_id for answer in _answers(result)]
    assert len(ids) == len(set(ids)) == 6
    assert recorded == [call.id for call in result.calls]
    assert len(set(recorded)) == 6


# ------------------------------------------------------------------ interrupts, tickets, failures


async def test_an_interrupt_gives_every_call_a_result(tmp_path: Path) -> None:
    """Running ones are ended, waiting ones skipped, finished ones kept; the turn says so."""
    token = InterruptToken()
    done = _reader("done")
    running = ScriptedTool("run", destructive=False, interruptible=True, hold=True)
    async with Workbench(tmp_path, [done, running], exempt=MUTATING) as bench:
        agent = bench.agent(FakeModel([_calls("done", "run", "run")]))
        turn = asyncio.create_task(agent.run("go", interrupt=token))
        await running.started.wait()
        token.interrupt()
        result = await turn
    assert (result.status, result.reason) == (RunStatus.INTERRUPTED, "interrupted")
    assert [answer.name for answer in _answers(result)] == ["done", "run", "run"]
    kinds = _kinds(result)
    assert kinds[0] is None
    assert kinds[1] in (ErrorKind.INTERRUPTED, ErrorKind.OUTCOME_UNKNOWN)
    assert kinds[2] is ErrorKind.SKIPPED
    assert not unanswered(result.transcript)


async def test_an_interrupt_ends_the_wait_for_the_model(tmp_path: Path) -> None:
    """No reply, no calls, and the session can go on afterwards."""
    token, model = InterruptToken(), FakeModel(hold=True)
    async with Workbench(tmp_path) as bench:
        agent = bench.agent(model)
        turn = asyncio.create_task(agent.run("go", interrupt=token))
        await model.asked.wait()
        token.interrupt()
        assert (await turn).status is RunStatus.INTERRUPTED
        model.release()
        assert (await agent.run("again")).answered


async def test_a_turn_that_is_interrupted_before_it_begins_asks_no_model(tmp_path: Path) -> None:
    """The token counts from the start."""
    token, model = InterruptToken(), FakeModel()
    token.interrupt()
    async with Workbench(tmp_path) as bench:
        result = await bench.agent(model).run("go", interrupt=token)
    assert result.status is RunStatus.INTERRUPTED
    assert model.seen == []


async def test_a_call_that_waits_elsewhere_suspends_the_turn(tmp_path: Path) -> None:
    """The ticket is in the result; the other calls of the reply are made and answered."""
    later = ScriptedApprover([Later()])
    async with Workbench(tmp_path, [ScriptedTool("write"), _reader()], approvers=[later]) as bench:
        agent = bench.agent(FakeModel([_calls("write", "look")]))
        result = await agent.run("go")
        assert result.status is RunStatus.SUSPENDED
        (waiting,) = result.waiting
        assert waiting.ticket in result.detail
        assert isinstance(result.calls[0].result, Suspended)
        assert [answer.name for answer in _answers(result)] == ["look"]
        resumed = await bench.invoker.resume(
            waiting.ticket, Answer(True, "person"), bench.registry.snapshot()
        )
        assert resumed == ToolResult.of("ok")


@pytest.mark.parametrize("fault", [Fault.TIMEOUT, Fault.RATE_LIMITED])
async def test_a_model_that_fails_ends_the_turn(tmp_path: Path, fault: Fault) -> None:
    """With the fault as reason and everything said so far in the transcript."""
    model = FakeModel([_calls("look"), _unreachable(fault)])
    async with Workbench(tmp_path, [_reader()]) as bench:
        result = await bench.agent(model).run("go")
    assert (result.status, result.reason) == (RunStatus.MODEL_FAILED, fault.value)
    assert result.detail == "the provider did not answer"
    assert len(result.transcript) == 3


async def test_cancelling_the_turn_leaves_no_task_behind(tmp_path: Path) -> None:
    """A cancellation passes through the model's reply as it does through a call."""
    model = FakeModel(hold=True)
    async with Workbench(tmp_path) as bench:
        before = asyncio.all_tasks()
        turn = asyncio.create_task(bench.agent(model).run("go"))
        await model.asked.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert asyncio.all_tasks() == before


# ------------------------------------------------------------------ results and events


async def test_a_long_result_is_cut_for_the_model_and_whole_for_who_watches(
    tmp_path: Path,
) -> None:
    """Transcript and run hold what the model was shown; the event has all of it (PB-125)."""
    long = ToolResult.of("x" * 5_000_000)
    events: list[Event] = []
    async with Workbench(tmp_path, [_reader(replies=[long])]) as bench:
        result = await bench.agent(FakeModel([_calls("look")])).run("go", sink=events.append)
    limits = TurnLimits()
    shown = clip(long, limits.result_characters, limits.media_characters)
    assert _answers(result)[0].result == result.calls[0].result == shown
    assert [e.result for e in events if isinstance(e, CallFinished)] == [long]


async def test_who_watches_sees_everything_in_order(tmp_path: Path) -> None:
    """Started, decided with its reasons, finished; the decision is the record itself."""
    events: list[Event] = []
    no = ScriptedApprover([Answer(False, "person", note="not now")])
    async with Workbench(tmp_path, [_reader(), ScriptedTool("write")], approvers=[no]) as bench:
        model = FakeModel([_calls("look", text="I look."), _calls("write")])
        result = await bench.agent(model).run("go", sink=events.append)
        records = bench.ledger.decisions
    assert [type(event) for event in events] == [
        TurnStarted,
        ModelText,
        *(CallStarted, CallDecided, CallFinished) * 2,
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
        result = await bench.agent(FakeModel([_calls("look")])).run("go", sink=sink)
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
