"""Running: lanes, interrupts, deadlines, cancellation, fates, and when a call runs twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lockgate.errors import Fate, Fault
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool, lost
from lockgate.testing.turns import turns
from lockgate.tools.context import InterruptToken, ToolContext
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING


def adder(**changes: Any) -> ScriptedTool:
    """A mutating tool that nobody is asked about under `exempt=MUTATE`."""
    return ScriptedTool("add", destructive=False, **changes)


async def test_sequential_calls_hold_their_lane_across_sessions(make_road: MakeRoad) -> None:
    """A SEQUENTIAL tool runs one call at a time, whoever makes it, in the order they came."""
    tool = adder(hold=True)
    road = make_road([tool], exempt=MUTATE)
    tasks = [
        asyncio.create_task(road.invoke(road.call("add", {"n": n}, session=f"s{n}")))
        for n in range(3)
    ]
    await turns()
    assert len(tool.runs) == 1
    tool.release()
    async with asyncio.timeout(5):
        await asyncio.gather(*tasks)
    assert [run["n"] for run in tool.runs] == [0, 1, 2]
    assert len(road.lanes) == 0


async def test_concurrent_calls_hold_none(make_road: MakeRoad) -> None:
    """A CONCURRENT_SAFE tool runs beside itself."""
    tool = adder(hold=True, concurrent=True)
    road = make_road([tool], exempt=MUTATE)
    tasks = [asyncio.create_task(road.invoke(road.call("add"))) for _ in range(3)]
    await turns()
    assert len(tool.runs) == 3
    tool.release()
    await asyncio.gather(*tasks)


async def test_nothing_begins_after_an_interrupt(make_road: MakeRoad) -> None:
    """A turn that was interrupted starts no call: skipped, and recorded so."""
    tool, token = adder(), InterruptToken()
    token.interrupt()
    road = make_road([tool], exempt=MUTATE)
    result = await road.invoke(road.call("add", interrupt=token))
    assert result.kind is ErrorKind.SKIPPED
    assert tool.runs == []
    assert [record.kind for record in road.ledger.decisions] == ["skipped"]


async def test_a_call_that_waits_for_its_lane_is_skipped(make_road: MakeRoad) -> None:
    """Interrupted in the line, a call has not begun; the one that runs is waited for."""
    tool, token = adder(hold=True), InterruptToken()
    road = make_road([tool], exempt=MUTATE)
    tasks = [
        asyncio.create_task(road.invoke(road.call("add", {"n": n}, interrupt=token)))
        for n in range(2)
    ]
    await turns()
    token.interrupt()
    await turns()
    assert tasks[1].done()
    assert not tasks[0].done()
    tool.release()
    first, second = await asyncio.gather(*tasks)
    assert (first.is_error, second.kind) == (False, ErrorKind.SKIPPED)
    assert [record.decision for record in road.ledger.decisions] == ["run", "refuse"]
    assert [record.fate for record in road.ledger.outcomes] == ["answered"]
    assert len(road.lanes) == 0


async def test_a_cooperative_call_is_cancelled_by_an_interrupt(make_road: MakeRoad) -> None:
    """Interrupted after it began, its fate is unknown, and told so: not as interrupted."""
    tool, token = adder(hold=True, interruptible=True), InterruptToken()
    road = make_road([tool], exempt=MUTATE)
    task = asyncio.create_task(road.invoke(road.call("add", interrupt=token)))
    await tool.started.wait()
    token.interrupt()
    async with asyncio.timeout(5):
        result = await task
    assert (result.kind, result.reason) == (ErrorKind.OUTCOME_UNKNOWN, "interrupted")
    assert [record.fate for record in road.ledger.outcomes] == ["unknown"]


async def test_a_cooperative_call_that_knows_it_sent_nothing_is_interrupted(
    make_road: MakeRoad,
) -> None:
    """Interrupted, and the tool itself proves that nothing was sent: interrupted, not unknown."""

    class Careful(ScriptedTool):
        async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
            """Give up before sending."""
            try:
                await super()._run(arguments, context)
            except asyncio.CancelledError:
                text = ToolResult.error(ErrorKind.NOT_CONNECTED, "still connecting")
                return Outcome(text, Fate.NOT_SENT)
            raise AssertionError("not interrupted")

    tool, token = Careful("add", destructive=False, interruptible=True, hold=True), InterruptToken()
    road = make_road([tool], exempt=MUTATE)
    task = asyncio.create_task(road.invoke(road.call("add", interrupt=token)))
    await tool.started.wait()
    token.interrupt()
    async with asyncio.timeout(5):
        result = await task
    assert result.kind is ErrorKind.INTERRUPTED
    assert len(tool.runs) == 1
    assert [record.fate for record in road.ledger.outcomes] == ["not_sent"]


async def test_a_non_interruptible_call_is_waited_for(make_road: MakeRoad) -> None:
    """An interrupt does not touch it; its result is its own."""
    tool, token = adder(hold=True), InterruptToken()
    road = make_road([tool], exempt=MUTATE)
    task = asyncio.create_task(road.invoke(road.call("add", interrupt=token)))
    await tool.started.wait()
    token.interrupt()
    await turns()
    assert not task.done()
    tool.release()
    assert not (await task).is_error


@pytest.mark.parametrize("level", SideEffectLevel)
async def test_time_that_is_up_leaves_the_fate_unknown(
    make_road: MakeRoad, level: SideEffectLevel
) -> None:
    """A tool that does not end by its deadline may have acted: never told as a timeout."""
    tool = ScriptedTool("t", level=level, destructive=False, hold=True)
    road = make_road([tool], exempt=MUTATE)
    async with asyncio.timeout(5):
        result = await road.invoke(road.call("t", timeout=0.01))
    assert (result.kind, result.reason) == (ErrorKind.OUTCOME_UNKNOWN, "timeout")
    assert len(tool.runs) == 1
    assert ("only reads" in result.text) is (level is READ)
    assert ("do not assume it failed" in result.text) is (level is MUTATE)


async def test_a_timeout_that_sent_nothing_is_a_timeout(make_road: MakeRoad) -> None:
    """What proves that nothing was sent keeps its own kind."""
    tool = adder(replies=[lost(Fate.NOT_SENT, Fault.TIMEOUT)] * 2)
    road = make_road([tool], exempt=MUTATE)
    result = await road.invoke(road.call("add"))
    assert result.kind is ErrorKind.TIMEOUT


async def test_the_tool_is_told_its_deadline(make_road: MakeRoad) -> None:
    """The context holds the call's time in loop time, its id and its execution."""
    tool = adder()
    road = make_road([tool], exempt=MUTATE)
    call = road.call("add", timeout=60)
    began = asyncio.get_running_loop().time()
    await road.invoke(call)
    [context] = tool.contexts
    assert context.deadline is not None
    assert 59 < context.deadline - began < 61
    assert (context.call_id, context.execution) == (call.id, call.execution)


async def test_a_cancellation_is_recorded_and_passes(make_road: MakeRoad) -> None:
    """Cancelled while it runs: an outcome is written, unknown, and the cancellation goes on."""
    tool = adder(hold=True)
    road = make_road([tool], exempt=MUTATE)
    call = road.call("add")
    task = asyncio.create_task(road.invoke(call))
    await tool.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [outcome] = road.ledger.outcomes
    assert (outcome.call, outcome.fate, outcome.reason) == (call.id, "unknown", "cancelled")
    assert len(road.lanes) == 0
    assert len(road.unknowns.find("session:session", "add")) == 1


async def test_a_cancellation_in_the_line_sent_nothing(make_road: MakeRoad) -> None:
    """Cancelled before it began: written down as not run, and nothing stays open."""
    tool = adder(hold=True)
    road = make_road([tool], exempt=MUTATE)
    first = asyncio.create_task(road.invoke(road.call("add")))
    await tool.started.wait()
    second = asyncio.create_task(road.invoke(road.call("add")))
    await turns()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert [(r.decision, r.reason) for r in road.ledger.decisions[1:]] == [("refuse", "cancelled")]
    assert road.ledger.outcomes == []
    tool.release()
    assert not (await first).is_error
    assert road.unknowns.find("session:session", "add") == ()


async def test_a_stray_cancellation_inside_a_tool_is_an_unknown_fate(make_road: MakeRoad) -> None:
    """What a tool waited for was taken away: the call ends as unknown, the caller lives on."""
    tool = adder(replies=[asyncio.CancelledError()])
    road = make_road([tool], exempt=MUTATE)
    result = await road.invoke(road.call("add"))
    assert (result.kind, result.reason) == (ErrorKind.OUTCOME_UNKNOWN, "abandoned")


async def test_what_is_no_result_is_a_tool_error(make_road: MakeRoad) -> None:
    """A tool that returns something else has failed, visibly."""

    class Odd(ScriptedTool):
        async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
            """Return what is no result."""
            return {"ok": True}

    road = make_road([Odd("odd", level=READ)])
    result = await road.invoke(road.call("odd"))
    assert (result.kind, result.is_error) == (ErrorKind.TOOL_ERROR, True)


@pytest.mark.req("S3-04")
@pytest.mark.parametrize("error", [ValueError("bad"), KeyError("x"), RuntimeError("boom")])
async def test_a_tool_that_raises_is_a_result(make_road: MakeRoad, error: Exception) -> None:
    """A tool's failure is a result, never an exception."""
    road = make_road([adder(replies=[error])], exempt=MUTATE)
    result = await road.invoke(road.call("add"))
    assert (result.kind, result.reason) == (ErrorKind.TOOL_ERROR, "raised")
    assert [record.fate for record in road.ledger.outcomes] == ["answered"]
