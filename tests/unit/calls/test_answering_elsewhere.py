"""Answers from elsewhere: a no, a repeated question, and an answer that was taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from lockgate.calls.suspension import TicketGone
from lockgate.policy.approval import Answer, Later, Scope
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind, ToolResult

MakeRoad = Callable[..., Road]
YES, NO = Answer(True, "queue"), Answer(False, "queue", note="never")


def two_roads(make_road: MakeRoad, tool: ScriptedTool) -> tuple[Road, Road]:
    """The road that asks, and another one over the same state that resumes."""
    asks = make_road([tool], attended=[ScriptedApprover([Later()] * 9)], owner="a")
    return asks, make_road([tool], owner="b")


async def resume(
    road: Road, ticket: str, answer: Answer = YES, entry: str | None = None
) -> ToolResult:
    """Answer a ticket on `road`. Raises `LookupError` if the call is suspended again."""
    result = await road.invoker.resume(ticket, answer, road.snapshot, entry=entry)
    if not isinstance(result, ToolResult):
        raise LookupError("suspended again")
    return result


@pytest.mark.parametrize("late", [False, True])
async def test_a_no_needs_no_tool(make_road: MakeRoad, late: bool) -> None:
    """Where the tool is not there today, a no is a no all the same, and too late is too late."""
    asks = make_road([ScriptedTool("remove")], attended=[ScriptedApprover([Later()])], owner="a")
    resumes = make_road([], owner="b")
    waiting = await asks.suspend(asks.call("remove"))
    if late:
        resumes.clock.advance(7 * 86_400)
    result = await resume(resumes, waiting.ticket, YES if late else NO)
    assert (result.kind, result.reason) == (
        ErrorKind.NOT_APPROVED,
        "expired" if late else "said_no",
    )
    [decision] = resumes.ledger.decisions
    assert (decision.tool, decision.approved, decision.level) == ("remove", False, None)
    with pytest.raises(TicketGone):
        await resume(resumes, waiting.ticket)


@pytest.mark.req("B-14")
@pytest.mark.parametrize(
    ("tool", "failed", "kind"),
    [
        (ScriptedTool("remove"), (), ErrorKind.UNKNOWN_TOOL),
        (ScriptedTool("remove", server="db"), ("db",), ErrorKind.NOT_CONNECTED),
    ],
    ids=["gone", "its server is not there"],
)
async def test_a_yes_is_not_used_up_by_a_tool_that_is_not_there(
    make_road: MakeRoad, tool: ScriptedTool, failed: tuple[str, ...], kind: ErrorKind
) -> None:
    """The question stays open, and the text says so; nothing is remembered for the session. The
    call runs once, when the tool is there and the yes is given again."""
    asks, there = two_roads(make_road, tool)
    without = make_road([], owner="c", failed=failed)
    waiting = await asks.suspend(asks.call(tool.name))
    for _ in range(2):
        result = await resume(without, waiting.ticket, Answer(True, "queue", Scope.SESSION))
        assert (result.kind, "stays open" in result.text) == (kind, True)
    assert without.grants.kept() == ()
    assert {record.decision for record in without.ledger.decisions} == {"refuse"}
    assert not (await resume(there, waiting.ticket)).is_error
    assert len(tool.runs) == 1
    with pytest.raises(TicketGone, match="answered before: yes"):
        await resume(without, waiting.ticket)


@pytest.mark.req("B-14")
@pytest.mark.parametrize("answered", [False, True])
async def test_a_tool_that_goes_while_its_call_stands_in_line(
    make_road: MakeRoad, answered: bool
) -> None:
    """It is looked for when the call's turn comes: the ticket is open then, unless an answer from
    elsewhere was first, which is told."""
    tool = ScriptedTool("remove", hold=True)
    asks = make_road([tool], attended=[ScriptedApprover([Later(), Answer(True, "")])], owner="a")
    elsewhere = make_road([ScriptedTool("remove")], owner="b")
    waiting = await asks.suspend(asks.call("remove", {"n": 1}))
    first = asyncio.create_task(asks.invoke(asks.call("remove", {"n": 0})))
    await tool.started.wait()
    second = asyncio.create_task(resume(asks, waiting.ticket))
    for _ in range(10):
        await asyncio.sleep(0)
    asks.registry.withdraw(["remove"])
    if answered:
        await resume(elsewhere, waiting.ticket, NO)
    tool.release()
    await first
    if answered:
        with pytest.raises(TicketGone, match="answered before: no"):
            await second
    else:
        assert (await second).kind is ErrorKind.UNKNOWN_TOOL
        assert not (await resume(elsewhere, waiting.ticket)).is_error
    assert [run["n"] for run in tool.runs] == [0]


@pytest.mark.req("B-14")
@pytest.mark.parametrize("with_it_first", [False, True])
async def test_two_answers_at_once_where_only_one_finds_the_tool(
    make_road: MakeRoad, with_it_first: bool
) -> None:
    """In either order it runs once: the one without the tool takes nothing from the other."""
    tool = ScriptedTool("remove")
    asks, there = two_roads(make_road, tool)
    roads = [there, make_road([], owner="c")]
    waiting = await asks.suspend(asks.call("remove"))
    results = await asyncio.gather(
        *(resume(road, waiting.ticket) for road in (roads if with_it_first else roads[::-1])),
        return_exceptions=True,
    )
    ran = [one for one in results if isinstance(one, ToolResult) and not one.is_error]
    assert (len(ran), len(tool.runs)) == (1, 1)


async def test_the_record_says_by_which_road_it_came_back(make_road: MakeRoad) -> None:
    """The suspension is recorded under the first entry, what follows under that of the answer."""
    asks, resumes = two_roads(make_road, ScriptedTool("remove"))
    waiting = await asks.suspend(asks.call("remove"))
    await resume(resumes, waiting.ticket, entry="approvals")
    assert [record.entry for record in asks.ledger.decisions] == ["test"]
    assert [record.entry for record in resumes.ledger.decisions] == ["approvals"]


async def test_equal_calls_of_a_session_wait_together_and_run_once(make_road: MakeRoad) -> None:
    """A call that is repeated while it waits joins the question: one yes runs it one time."""
    tool = ScriptedTool("remove")
    asks, resumes = two_roads(make_road, tool)
    first = await asks.suspend(asks.call("remove", {"path": "a"}))
    again = await asks.suspend(asks.call("remove", {"path": "a"}))
    other = await asks.suspend(asks.call("remove", {"path": "b"}))
    assert first.ticket == again.ticket
    assert other.ticket != first.ticket
    assert not (await resume(resumes, first.ticket)).is_error
    with pytest.raises(TicketGone):
        await resume(resumes, again.ticket)
    assert tool.runs == [{"path": "a"}]


@pytest.mark.req("B-14")
async def test_a_grant_that_was_taken_back_answers_nothing(make_road: MakeRoad) -> None:
    """Revoked in one process, the next call in another that runs on is asked about again."""
    tool = ScriptedTool("remove")
    person = ScriptedApprover([Answer(True, "person", Scope.SESSION)])
    runs, elsewhere = make_road([tool], attended=[person], owner="a"), make_road([], owner="b")
    for _ in range(2):
        assert not (await runs.invoke(runs.call("remove"))).is_error
    assert len(person.questions) == 1
    [kept] = elsewhere.grants.kept()
    elsewhere.grants.revoke(frozenset({kept.id}))
    assert (await runs.invoke(runs.call("remove"))).reason == "nobody_to_ask"
    assert len(person.questions) == 2
    assert len(tool.runs) == 2
