"""A call that is resumed: in flight, in its lane, and what is kept of how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockgate.calls.suspension import Settlement, TicketGone
from lockgate.errors import Fate
from lockgate.policy.approval import Answer, Later
from lockgate.stores.state import StateError, open_state
from lockgate.stores.tickets import SqliteTickets
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool, lost
from lockgate.tools.result import ToolResult

MakeRoad = Callable[..., Road]
YES = Answer(True, "queue")


def two_roads(make_road: MakeRoad, tool: ScriptedTool, **later: Any) -> tuple[Road, Road]:
    """The road that asks, and another one over the same state that resumes."""
    asks = make_road([tool], attended=[ScriptedApprover([Later()] * 9)], owner="a")
    return asks, make_road([tool], owner="b", **later)


async def resume(road: Road, ticket: str, answer: Answer = YES, **changes: Any) -> ToolResult:
    """Answer a ticket on `road`. Raises `LookupError` if the call is suspended again."""
    result = await road.invoker.resume(ticket, answer, road.snapshot, **changes)
    if not isinstance(result, ToolResult):
        raise LookupError("suspended again")
    return result


class FailsAtTheEnd(SqliteTickets):
    """A store whose disk fills up between the record and the commit."""

    def settle(self, ticket: str, settlement: Settlement, before: Callable[[], None]) -> None:
        """Do everything but the commit."""

        def then_fail() -> None:
            before()
            raise StateError("the disk is full")

        super().settle(ticket, settlement, then_fail)


@pytest.mark.req("B-03")
@pytest.mark.parametrize("fate", [Fate.UNKNOWN, Fate.NOT_SENT])
async def test_how_a_resumed_call_ends_is_kept(make_road: MakeRoad, fate: Fate) -> None:
    """An unknown outcome of a resumed call is open for its session, in every process."""
    tool = ScriptedTool("remove", replies=[lost(fate), lost(fate)])
    asks, resumes = two_roads(make_road, tool)
    call = asks.call("remove")
    waiting = await asks.suspend(call)
    assert (await resume(resumes, waiting.ticket)).is_error
    for road in (asks, resumes):
        found = [unknown.call_id for unknown in road.unknowns.find("session:session", "remove")]
        assert found == ([call.id] if fate is Fate.UNKNOWN else [])


@pytest.mark.req("B-02", "B-03")
async def test_a_resumed_call_in_flight_is_open_for_other_processes(make_road: MakeRoad) -> None:
    """While it runs its intent stands without a fate: open elsewhere, no obstacle at home."""
    tool = ScriptedTool("remove", hold=True)
    asks, resumes = two_roads(make_road, tool)
    call = asks.call("remove")
    waiting = await asks.suspend(call)
    running = asyncio.create_task(resume(resumes, waiting.ticket))
    await tool.started.wait()
    assert [u.call_id for u in asks.unknowns.find("session:session", "remove")] == [call.id]
    assert resumes.unknowns.find("session:session", "remove") == ()
    tool.release()
    await running
    assert asks.unknowns.find("session:session", "remove") == ()


async def test_no_call_passes_the_fence_twice(make_road: MakeRoad) -> None:
    """A call that was started under one ticket is not started under a second one."""
    tool = ScriptedTool("remove")
    asks, resumes = two_roads(make_road, tool)
    call = asks.call("remove")
    first = await asks.suspend(call)
    await resume(resumes, first.ticket)
    second = await asks.suspend(call)
    with pytest.raises(TicketGone, match="started before"):
        await resume(resumes, second.ticket)
    assert len(tool.runs) == 1


async def test_a_commit_that_fails_after_the_record_runs_nothing(
    make_road: MakeRoad, tmp_path: Path
) -> None:
    """The record says that nothing was sent, and the ticket can be answered again."""
    tool = ScriptedTool("remove")
    with open_state(tmp_path / "state.db", "c") as state:
        asks, resumes = two_roads(make_road, tool, tickets=FailsAtTheEnd(state))
        waiting = await asks.suspend(asks.call("remove"))
        assert (await resume(resumes, waiting.ticket)).reason == "no_record"
        assert tool.runs == []
        [outcome] = resumes.ledger.outcomes
        assert (outcome.fate, outcome.reason, outcome.attempts) == ("not_sent", "no_record", 0)
        assert not (await resume(asks, waiting.ticket)).is_error


async def test_a_resumed_call_waits_for_its_lane(make_road: MakeRoad) -> None:
    """A resumed call stands in the line like any other, and its ticket is used up only when its
    turn comes: today's decision is that of then."""
    tool = ScriptedTool("remove", replies=[TimeoutError("odd")], hold=True)
    road = make_road([tool], attended=[ScriptedApprover([Later(), Answer(True, "")])])
    waiting = await road.suspend(road.call("remove", {"n": 1}))
    first = asyncio.create_task(road.invoke(road.call("remove", {"n": 0})))
    await tool.started.wait()
    second = asyncio.create_task(resume(road, waiting.ticket))
    for _ in range(10):
        await asyncio.sleep(0)
    assert road.tickets.get(waiting.ticket)
    tool.release()
    await first
    assert not (await second).is_error
    assert [run["n"] for run in tool.runs] == [0, 1]
    with pytest.raises(TicketGone):
        road.tickets.get(waiting.ticket)
