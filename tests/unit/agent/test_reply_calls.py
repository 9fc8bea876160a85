"""The calls of a reply: what is told of each, and what is written down however they end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lockgate.agent.events import CallAwaited, CallFinished, Event
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import ModelReply, ToolCall
from lockgate.agent.run import RunStatus
from lockgate.errors import Fate
from lockgate.policy.approval import Answer
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import FakeModel, answers_in, asking
from lockgate.testing.provider_rules import refusals_of
from lockgate.testing.tool import ScriptedTool, lost
from lockgate.testing.turns import turns
from lockgate.testing.workbench import Workbench
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.traits import SideEffectLevel

READ_ONLY, MUTATING = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING


async def test_a_call_without_usable_arguments_is_answered_and_never_made(tmp_path: Path) -> None:
    """The model is told what is wrong, the refusal is on record, and the call beside it is made."""
    tool = ScriptedTool("look", level=READ_ONLY)
    fault = "must be a JSON object, not a list"
    reply = ModelReply(
        "",
        (
            ToolCall("1", "look", {}, fault),
            ToolCall("2", "look", {}),
            ToolCall("3", "no", {}, fault),
        ),
    )
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(FakeModel([reply])).run("go")
        records = {record.call: record for record in bench.ledger.decisions}
    assert result.answered
    assert len(tool.runs) == 1
    first, _, third = answers_in(result.transcript)
    assert (first.result.kind, third.result.kind) == (
        ErrorKind.INVALID_ARGUMENTS,
        ErrorKind.UNKNOWN_TOOL,
    )
    assert fault in first.result.text
    record = records[result.calls[0].id]
    assert (record.decision, record.kind) == ("refuse", "invalid_arguments")
    assert fault not in "".join(reason.text for reason in record.reasons)


async def test_the_fate_of_each_call_is_told(tmp_path: Path) -> None:
    """As it is on record; none for a call that was not run."""
    tools = [
        ScriptedTool("fine", level=READ_ONLY),
        ScriptedTool("lost", destructive=False, replies=[lost()]),
        ScriptedTool("wipe"),
    ]
    events: list[Event] = []
    no = ScriptedApprover([Answer(False, "person")])
    async with Workbench(tmp_path, tools, approvers=[no], exempt=MUTATING) as bench:
        model = FakeModel([asking("fine", "lost", "wipe")])
        result = await bench.agent(model).run("go", sink=events.append)
    assert [call.fate for call in result.calls] == ["answered", "unknown", None]
    told = {event.tool: event.fate for event in events if isinstance(event, CallFinished)}
    assert told == {"fine": "answered", "lost": "unknown", "wipe": None}
    assert all(call.seconds >= 0 for call in result.calls)


async def test_a_call_that_can_not_be_broken_off_is_waited_for_and_named(tmp_path: Path) -> None:
    """An interrupt ends the others at once; this one has its result."""
    held = ScriptedTool("held", destructive=False, hold=True)
    other = ScriptedTool("other", destructive=False, hold=True, interruptible=True)
    token, events = InterruptToken(), list[Event]()
    async with Workbench(tmp_path, [held, other], exempt=MUTATING) as bench:
        agent = bench.agent(FakeModel([asking("held", "other", "held")]))
        turn = asyncio.create_task(agent.run("go", interrupt=token, sink=events.append))
        async with asyncio.timeout(10):
            await other.started.wait()
            token.interrupt()
            await turns()
            assert [e.tool for e in events if isinstance(e, CallAwaited)] == ["held"]
            assert not turn.done()
            held.release()
            result = await turn
    assert result.status is RunStatus.INTERRUPTED
    assert [answer.result.kind for answer in answers_in(result.transcript)] == [
        None,
        ErrorKind.OUTCOME_UNKNOWN,
        ErrorKind.SKIPPED,
    ]


@pytest.mark.req("B-03")
async def test_a_cancelled_turn_says_of_each_call_what_is_known(tmp_path: Path) -> None:
    """What was done, what may have been, what only read, and what never began."""
    done = ScriptedTool("done", level=READ_ONLY, concurrent=True)
    reads = ScriptedTool("reads", level=READ_ONLY, concurrent=True, hold=True)
    writes = ScriptedTool("writes", destructive=False, hold=True)
    wipes = ScriptedTool("wipes")
    asked = ScriptedApprover(hold=True)
    async with Workbench(
        tmp_path, [done, reads, writes, wipes], approvers=[asked], exempt=MUTATING
    ) as bench:
        agent = bench.agent(FakeModel([asking("done", "reads", "writes", "writes", "wipes")]))
        turn = asyncio.create_task(agent.run("go"))
        async with asyncio.timeout(10):
            await asked.asked.wait()
            await writes.started.wait()
            await reads.started.wait()
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
        assert refusals_of(agent.transcript) == []
        after = await agent.run("and now?")
    assert [(a.result.kind, a.result.reason) for a in answers_in(after.transcript)] == [
        (None, None),
        (ErrorKind.INTERRUPTED, "cancelled"),
        (ErrorKind.OUTCOME_UNKNOWN, "cancelled"),
        (ErrorKind.SKIPPED, "cancelled"),
        (ErrorKind.SKIPPED, "cancelled"),
    ]


async def test_questions_of_a_reply_come_one_at_a_time_in_order(tmp_path: Path) -> None:
    """Results come in the order of the calls, whatever was answered."""
    tool = ScriptedTool("wipe", concurrent=True)
    answers = [Answer(n % 2 == 0, "person") for n in range(5)]
    approver = ScriptedApprover(answers, hold=True)
    reply = ModelReply("", tuple(ToolCall(str(n), "wipe", {"n": n}) for n in range(5)))
    async with Workbench(tmp_path, [tool], approvers=[approver]) as bench:
        turn = asyncio.create_task(bench.agent(FakeModel([reply])).run("go"))
        async with asyncio.timeout(10):
            await approver.asked.wait()
            await turns()
            assert len(approver.questions) == 1
            approver.release()
            result = await turn
    assert [question.arguments["n"] for question in approver.questions] == [0, 1, 2, 3, 4]
    assert [answer.result.is_error for answer in answers_in(result.transcript)] == [
        False,
        True,
        False,
        True,
        False,
    ]


async def test_a_lane_is_held_across_sessions(tmp_path: Path) -> None:
    """A sequential tool runs once at a time on a runtime, first come, first served."""
    tool = ScriptedTool("put", destructive=False, hold=True)
    async with Workbench(tmp_path, [tool], exempt=MUTATING) as bench:
        agents = [bench.agent(FakeModel([asking("put")])) for _ in range(3)]
        running = [asyncio.create_task(agent.run("go")) for agent in agents]
        async with asyncio.timeout(10):
            await tool.started.wait()
            await turns()
            assert len(tool.runs) == 1
            tool.release()
            results = await asyncio.gather(*running)
    assert [context.execution.session_id for context in tool.contexts] == [
        agent.session_id for agent in agents
    ]
    assert all(result.answered for result in results)


async def test_a_tool_that_returns_its_own_fate_is_believed(tmp_path: Path) -> None:
    """Nothing was sent: so it is told."""
    unsent = Outcome(ToolResult.error(ErrorKind.NOT_CONNECTED, "gone"), Fate.NOT_SENT, True)
    tool = ScriptedTool("look", level=READ_ONLY, replies=[unsent])
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(FakeModel([asking("look")])).run("go")
    assert result.calls[0].fate == "not_sent"


def _many(count: int) -> FakeModel:
    calls = tuple(ToolCall(str(number), "look", {"n": number}) for number in range(count))
    return FakeModel([ModelReply("", calls)])


async def test_of_one_reply_so_many_calls_are_made_as_the_limit_says(tmp_path: Path) -> None:
    """The others are answered as skipped, in their places, and the model is told why."""
    tool = ScriptedTool("look", level=READ_ONLY)
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(_many(5), limits=TurnLimits(calls=3)).run("go")
    assert result.answered
    assert len(tool.runs) == 3
    assert not refusals_of(result.transcript)
    *_, fourth, fifth = answers_in(result.transcript)
    assert {fourth.result.reason, fifth.result.reason} == {"too_many_calls"}
    assert "a reply may have 3 calls" in fourth.result.text
    assert [call.result.kind for call in result.calls if isinstance(call.result, ToolResult)] == [
        *[None] * 3,
        *[ErrorKind.SKIPPED] * 2,
    ]


async def test_an_interrupt_comes_between_calls_that_wait_for_nothing(tmp_path: Path) -> None:
    """The loop is given back between the calls of one reply, so that those which have not begun
    are not made."""
    tool = ScriptedTool("look", level=READ_ONLY)
    token = InterruptToken()

    def told(event: Event) -> None:
        if isinstance(event, CallFinished):
            asyncio.get_running_loop().call_soon(token.interrupt)

    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(_many(100)).run("go", interrupt=token, sink=told)
    assert result.status is RunStatus.INTERRUPTED
    assert len(answers_in(result.transcript)) == 100
    assert len(tool.runs) <= 16
