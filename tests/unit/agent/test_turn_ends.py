"""How a turn ends: bounds, replies that are not whole, interrupts, tickets, failures."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import ModelReply, ToolCall, Usage
from lockgate.agent.run import RunResult, RunStatus
from lockgate.agent.transcript import unanswered
from lockgate.calls.call import Suspended
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.policy.approval import Answer, Later
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import FakeModel, answers_in, asking
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

READ_ONLY, MUTATING = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING


def _reader(name: str = "look", **options: object) -> ScriptedTool:
    return ScriptedTool(name, level=READ_ONLY, concurrent=True, **options)  # pyright: ignore[reportArgumentType] - options of ScriptedTool, whatever they are


def _kinds(result: RunResult) -> list[ErrorKind | None]:
    return [answer.result.kind for answer in answers_in(result.transcript)]


def _unreachable(fault: Fault = Fault.TIMEOUT) -> PeerError:
    return PeerError(
        "the provider did not answer",
        peer="provider",
        phase=Phase.REQUEST,
        fault=fault,
        fate=Fate.UNKNOWN,
    )


# ------------------------------------------------------------------ bounds


async def test_the_iterations_are_bounded(tmp_path: Path) -> None:
    """A model that never answers is stopped, every call answered, its last words kept."""
    model = FakeModel([asking("look", text=f"try {n}") for n in range(9)])
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
        agent = bench.agent(FakeModel([asking("look")]), limits=TurnLimits(seconds=0.02))
        result = await agent.run("go", interrupt=token)
    assert (result.status, result.reason) == (RunStatus.BOUND, "seconds")
    assert len(answers_in(result.transcript)) == 1
    assert not token.interrupted


async def test_the_tokens_are_bounded_before_more_calls_are_made(tmp_path: Path) -> None:
    """Nobody would read the results any more, so the calls are not made and say so."""
    tool = _reader()
    reply = ModelReply("", (ToolCall("1", "look", {}),), usage=Usage(output=100))
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(FakeModel([reply]), limits=TurnLimits(tokens=100)).run("go")
    assert (result.status, result.reason, result.tokens) == (RunStatus.BOUND, "tokens", 100)
    assert _kinds(result) == [ErrorKind.SKIPPED]
    assert tool.runs == []


async def test_an_answer_within_the_last_token_counts(tmp_path: Path) -> None:
    """A bound ends work, it does not throw away what is finished."""
    async with Workbench(tmp_path) as bench:
        model = FakeModel([ModelReply("the answer", usage=Usage(output=500))])
        result = await bench.agent(model, limits=TurnLimits(tokens=100)).run("go")
    assert (result.status, result.text) == (RunStatus.ANSWERED, "the answer")


async def test_the_same_failing_call_ends_the_turn(tmp_path: Path) -> None:
    """Three times the same failure is a stall; the tool is named."""
    tool = _reader(replies=[ValueError("boom")] * 9)
    model = FakeModel([asking("look")] * 9)
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(model).run("go")
    assert (result.status, result.reason) == (RunStatus.BOUND, "repeated_failure")
    assert "look" in result.detail
    assert len(tool.runs) == 3


# ------------------------------------------------------------------ replies that are not whole


async def test_a_reply_that_was_cut_off_makes_noasking(tmp_path: Path) -> None:
    """Its calls are answered as skipped, and the model may try a shorter way."""
    tool = _reader()
    cut = ModelReply("I will", (ToolCall("1", "look", {}),), cut_off=True)
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(FakeModel([cut, ModelReply("short")])).run("go")
    assert (result.status, result.text) == (RunStatus.ANSWERED, "short")
    assert tool.runs == []
    assert [(a.result.kind, a.result.reason) for a in answers_in(result.transcript)] == [
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
    ids = [answer.call_id for answer in answers_in(result.transcript)]
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
        agent = bench.agent(FakeModel([asking("done", "run", "run")]))
        turn = asyncio.create_task(agent.run("go", interrupt=token))
        await running.started.wait()
        token.interrupt()
        result = await turn
    assert (result.status, result.reason) == (RunStatus.INTERRUPTED, "interrupted")
    assert [answer.name for answer in answers_in(result.transcript)] == ["done", "run", "run"]
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
        agent = bench.agent(FakeModel([asking("write", "look")]))
        result = await agent.run("go")
        assert result.status is RunStatus.SUSPENDED
        (waiting,) = result.waiting
        assert waiting.ticket in result.detail
        assert isinstance(result.calls[0].result, Suspended)
        assert [answer.name for answer in answers_in(result.transcript)] == ["look"]
        resumed = await bench.invoker.resume(
            waiting.ticket, Answer(True, "person"), bench.registry.snapshot()
        )
        assert resumed == ToolResult.of("ok")


@pytest.mark.parametrize("fault", [Fault.TIMEOUT, Fault.RATE_LIMITED])
async def test_a_model_that_fails_ends_the_turn(tmp_path: Path, fault: Fault) -> None:
    """With the fault as reason and everything said so far in the transcript."""
    model = FakeModel([asking("look"), _unreachable(fault)])
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


async def test_a_reply_may_be_no_longer_than_what_is_left(tmp_path: Path) -> None:
    """What the next request reads again is taken off; nothing is said without a bound, nor while
    there is more left than every model can write."""
    spent = Usage(input=300, output=50, cached=200)
    model = FakeModel([replace(asking("look"), usage=spent), ModelReply("done", usage=spent)])
    async with Workbench(tmp_path, [_reader()]) as bench:
        result = await bench.agent(model, limits=TurnLimits(tokens=2_000)).run("go")
        assert [shown.max_tokens for shown in model.seen] == [2_000, 2_000 - 350 - 350]
        assert (result.usage, result.tokens) == (Usage(600, 100, 400), 700)
        for limit in (None, 1_000_000):
            free = FakeModel()
            await bench.agent(free, limits=TurnLimits(tokens=limit)).run("go")
            assert [shown.max_tokens for shown in free.seen] == [None]


async def test_calls_whose_results_nobody_could_read_are_not_made(tmp_path: Path) -> None:
    """What the next request would read alone is more than what is left."""
    tool = _reader()
    reply = replace(asking("look"), usage=Usage(input=600, output=10))
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(FakeModel([reply]), limits=TurnLimits(tokens=1_000)).run("go")
    assert (result.status, result.reason, tool.runs) == (RunStatus.BOUND, "tokens", [])
    assert result.detail == "of 1,000 tokens 390 are left; the next reply reads more"
