"""Batches: side by side, in order, one result for each, whatever happens to the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from lockgate.calls.batch import run_batch
from lockgate.calls.call import Call, Suspended
from lockgate.policy.approval import Answer, Later
from lockgate.policy.ceiling import whole
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import InterruptToken
from lockgate.tools.registry import Snapshot
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING


async def batch(road: Road, calls: list[Call]) -> list[ToolResult | Suspended]:
    """Make `calls` on the tools of this moment, within a bound."""
    async with asyncio.timeout(5):
        return await run_batch(road.invoker.invoke, calls, road.snapshot)


async def test_no_calls_no_results(make_road: MakeRoad) -> None:
    """An empty batch is over at once."""
    assert await batch(make_road(), []) == []


@pytest.mark.req("S0-05")
async def test_results_come_in_the_order_of_the_calls(make_road: MakeRoad) -> None:
    """A refusal or failure of one call stops no other; each has its result, in order."""
    tools = [
        ScriptedTool("fails", level=READ, replies=[RuntimeError("no")]),
        ScriptedTool("reads", level=READ),
        ScriptedTool("adds", destructive=False),
        ScriptedTool("waits", destructive=False),
        ScriptedTool("removes"),
    ]
    road = make_road(tools, exempt=MUTATE, attended=[ScriptedApprover([Later()])])
    narrow = whole(READ)
    calls = [
        road.call("fails"),
        road.call("nothing"),
        road.call("adds", bounds=narrow),
        road.call("removes"),
        road.call("reads", bounds=narrow),
        road.call("waits"),
    ]
    results = await batch(road, calls)
    kinds = [r.kind if isinstance(r, ToolResult) else "suspended" for r in results]
    assert kinds == [
        ErrorKind.TOOL_ERROR,
        ErrorKind.UNKNOWN_TOOL,
        ErrorKind.ABOVE_CEILING,
        "suspended",
        None,
        None,
    ]


async def test_concurrent_calls_run_together(make_road: MakeRoad) -> None:
    """CONCURRENT_SAFE calls overlap; none waits for another to end."""
    tools = [ScriptedTool(n, level=READ, concurrent=True, hold=True) for n in ("a", "b")]
    road = make_road(tools)
    running = asyncio.create_task(batch(road, [road.call("a"), road.call("b"), road.call("a")]))
    await tools[0].started.wait()
    await tools[1].started.wait()
    for tool in tools:
        tool.release()
    assert [r.is_error for r in await running if isinstance(r, ToolResult)] == [False] * 3


async def test_a_batch_has_one_result_for_each_call_also_when_interrupted(
    make_road: MakeRoad,
) -> None:
    """What runs and can not be interrupted ends, what can is unknown, the rest is skipped."""
    token = InterruptToken()
    stubborn = ScriptedTool("stubborn", destructive=False, hold=True)
    polite = ScriptedTool("polite", destructive=False, hold=True, interruptible=True)
    road = make_road([stubborn, polite], exempt=MUTATE)
    names = ("stubborn", "polite", "stubborn")
    calls = [road.call(name, interrupt=token) for name in names]
    running = asyncio.create_task(batch(road, calls))
    await stubborn.started.wait()
    await polite.started.wait()
    token.interrupt()
    stubborn.release()
    results = await running
    assert [r.kind for r in results if isinstance(r, ToolResult)] == [
        None,
        ErrorKind.OUTCOME_UNKNOWN,
        ErrorKind.SKIPPED,
    ]


async def test_a_cancellation_leaves_no_task(make_road: MakeRoad) -> None:
    """Cancelling the batch ends every call, waits for them, and passes through."""
    tool = ScriptedTool("add", destructive=False, hold=True, concurrent=True)
    road = make_road([tool], exempt=MUTATE)
    before = asyncio.all_tasks()
    calls = [road.call("add") for _ in range(3)]
    running = asyncio.create_task(batch(road, calls))
    await tool.started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert asyncio.all_tasks() == before
    assert [record.fate for record in road.ledger.outcomes] == ["unknown"] * 3


@pytest.mark.parametrize("size", [1, 3])
async def test_a_fault_of_the_road_is_one_calls_result(make_road: MakeRoad, size: int) -> None:
    """Should the road itself raise, that call has an internal error and the others go on."""
    road = make_road([ScriptedTool("read", level=READ)])

    async def invoke(call: Call, snapshot: Snapshot) -> ToolResult | Suspended:
        if call.arguments:
            raise RuntimeError("a fault of ours")
        return await road.invoker.invoke(call, snapshot)

    calls = [road.call("read", {"n": 1}), *(road.call("read") for _ in range(size - 1))]
    async with asyncio.timeout(5):
        results = await run_batch(invoke, calls, road.snapshot)
    kinds = [result.kind for result in results if isinstance(result, ToolResult)]
    assert kinds == [ErrorKind.INTERNAL, *[None] * (size - 1)]


async def test_questions_of_a_batch_come_in_order(make_road: MakeRoad) -> None:
    """The person answers one after the other, in the order of the calls."""
    approver = ScriptedApprover([Answer(True, ""), Answer(False, ""), Answer(True, "")])
    tools = [ScriptedTool(name) for name in ("a", "b", "c")]
    road = make_road(tools, attended=[approver])
    results = await batch(road, [road.call(name) for name in ("b", "a", "c")])
    assert [question.tool for question in approver.questions] == ["b", "a", "c"]
    assert [r.is_error for r in results if isinstance(r, ToolResult)] == [False, True, False]
