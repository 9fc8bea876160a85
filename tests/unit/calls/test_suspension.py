"""Tickets: a question that waits, and the one answer that is given to it (B-14)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lockgate.calls.suspension import TicketGone
from lockgate.decision import Decision
from lockgate.errors import LocalError
from lockgate.policy.approval import Answer, Later, Scope
from lockgate.policy.ceiling import whole
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.ledger import MemoryLedger
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
YES, NO = Answer(True, "queue"), Answer(False, "queue", note="never")


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


@pytest.mark.req("B-14")
async def test_a_yes_given_elsewhere_runs_the_same_call(make_road: MakeRoad) -> None:
    """The ticket's call runs with its own id and arguments, and both records follow it."""
    tool = ScriptedTool("remove")
    asks, resumes = two_roads(make_road, tool)
    call = asks.call("remove", {"path": "a", "big": 2**80, "f": 0.1}, session="s", principal="ann")
    waiting = await asks.suspend(call)
    assert tool.runs == []
    assert not (await resume(resumes, waiting.ticket)).is_error
    assert tool.runs == [{"path": "a", "big": 2**80, "f": 0.1}]
    [context] = tool.contexts
    assert (context.call_id, context.execution.principal) == (call.id, "ann")
    assert context.execution.environment.cwd == Path("/")
    decision, outcome = resumes.ledger.decisions[0], resumes.ledger.outcomes[0]
    assert (decision.call, decision.approver, decision.decision) == (call.id, "queue", "run")
    assert outcome.call == call.id


@pytest.mark.req("B-14")
async def test_a_sub_agents_call_stays_its_own(make_road: MakeRoad) -> None:
    """Whose call it was, and whose work that was, is told with the question and recorded after."""
    tool = ScriptedTool("remove")
    asks, resumes = two_roads(make_road, tool)
    call = asks.call("remove", session=None, inviting="s")
    execution = replace(call.execution, agent="helper")
    waiting = await asks.suspend(replace(call, execution=execution, parent_call="task"))
    question = resumes.tickets.get(waiting.ticket).question
    assert (question.agent, question.session_id) == ("helper", "s")
    await resume(resumes, waiting.ticket)
    decision = resumes.ledger.decisions[0]
    assert (decision.agent, decision.parent_call) == ("helper", "task")


@pytest.mark.req("B-14")
@pytest.mark.parametrize("answer", [YES, NO])
async def test_a_ticket_is_answered_once(make_road: MakeRoad, answer: Answer) -> None:
    """Whoever comes second is told so, and nothing runs for them."""
    tool = ScriptedTool("remove")
    asks, resumes = two_roads(make_road, tool)
    waiting = await asks.suspend(asks.call("remove"))
    await resume(resumes, waiting.ticket, answer)
    for road in (asks, resumes):
        with pytest.raises(TicketGone, match=r"answered before: (yes|no), by queue"):
            await resume(road, waiting.ticket)
    assert len(tool.runs) == int(answer.approved)


async def test_two_answers_at_once_run_it_once(make_road: MakeRoad) -> None:
    """Answers are atomic: of two that come together one wins, the other is told."""
    tool = ScriptedTool("remove", hold=True)
    asks, resumes = two_roads(make_road, tool)
    waiting = await asks.suspend(asks.call("remove"))
    tasks = [asyncio.create_task(resume(road, waiting.ticket)) for road in (asks, resumes)]
    await tool.started.wait()
    tool.release()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["TicketGone", "ToolResult"]
    assert len(tool.runs) == 1


async def test_a_no_is_told_with_its_note(make_road: MakeRoad) -> None:
    """The result of a no says who refused it, and what they said."""
    tool = ScriptedTool("remove")
    asks, resumes = two_roads(make_road, tool)
    waiting = await asks.suspend(asks.call("remove"))
    result = await resume(resumes, waiting.ticket, NO)
    assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "said_no")
    assert "never" in result.text
    assert [r.approved for r in resumes.ledger.decisions] == [False]


async def test_a_no_counts_also_where_nobody_would_ask_today(make_road: MakeRoad) -> None:
    """A call that was refused by a person does not run because it became exempt meanwhile."""
    tool = ScriptedTool("add", destructive=False)
    asks, resumes = two_roads(make_road, tool, exempt=MUTATE)
    waiting = await asks.suspend(asks.call("add"))
    assert (await resume(resumes, waiting.ticket, NO)).reason == "said_no"
    assert tool.runs == []


async def test_an_expired_ticket_is_answered_no(make_road: MakeRoad) -> None:
    """After its time a yes comes too late; the ticket is used up."""
    tool = ScriptedTool("remove")
    asks, resumes = two_roads(make_road, tool)
    waiting = await asks.suspend(asks.call("remove"))
    assert waiting.expires == asks.clock() + 7 * 86_400
    resumes.clock.advance(7 * 86_400)
    result = await resume(resumes, waiting.ticket)
    assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "expired")
    with pytest.raises(TicketGone):
        await resume(resumes, waiting.ticket)
    assert tool.runs == []


async def test_an_approver_says_how_long_it_takes(make_road: MakeRoad) -> None:
    """`Later(expires)` sets the ticket's end."""
    approver = ScriptedApprover([Later(expires=1_900_000_000.0)])
    road = make_road([ScriptedTool("remove")], attended=[approver])
    assert (await road.suspend(road.call("remove"))).expires == 1_900_000_000.0


async def test_a_ticket_nobody_issued_is_an_error(make_road: MakeRoad) -> None:
    """An invented ticket is a clear error."""
    road = make_road([])
    with pytest.raises(TicketGone, match="no ticket 'invented'"):
        await resume(road, "invented")


@pytest.mark.parametrize("approver", ["rule", "grant"])
async def test_rules_and_grants_answer_no_ticket(make_road: MakeRoad, approver: str) -> None:
    """Only an approver's answer counts for a ticket."""
    tool = ScriptedTool("remove")
    asks, resumes = two_roads(make_road, tool)
    waiting = await asks.suspend(asks.call("remove"))
    with pytest.raises(LocalError):
        await resume(resumes, waiting.ticket, Answer(True, approver))
    assert not (await resume(resumes, waiting.ticket)).is_error


@pytest.mark.req("B-14")
async def test_another_definition_is_not_run(make_road: MakeRoad) -> None:
    """The answer was for the definition that was shown; today's is another one."""
    old = ScriptedTool("remove", description="removes a line")
    new = ScriptedTool("remove", description="removes the file")
    asks = make_road([old], attended=[ScriptedApprover([Later()])], owner="a")
    resumes = make_road([new], owner="b")
    waiting = await asks.suspend(asks.call("remove"))
    assert (await resume(resumes, waiting.ticket)).kind is ErrorKind.TOOL_CHANGED
    assert (old.runs, new.runs) == ([], [])


@pytest.mark.req("B-14")
async def test_a_tool_that_is_gone_is_not_run(make_road: MakeRoad) -> None:
    """What is not registered today is unknown, whatever was answered."""
    asks = make_road([ScriptedTool("remove")], attended=[ScriptedApprover([Later()])], owner="a")
    resumes = make_road([], owner="b")
    waiting = await asks.suspend(asks.call("remove"))
    assert (await resume(resumes, waiting.ticket)).kind is ErrorKind.UNKNOWN_TOOL


@pytest.mark.req("B-14")
async def test_todays_rules_and_bounds_count(make_road: MakeRoad) -> None:
    """A deny rule or a lower ceiling of today refuses what was asked about yesterday."""
    tool = ScriptedTool("remove")
    deny = RuleSet((parse_rule("remove", Decision.DENY),))
    asks, denies = two_roads(make_road, tool, rules=deny)
    first = await asks.suspend(asks.call("remove"))
    assert (await resume(denies, first.ticket)).kind is ErrorKind.DENIED
    second = await asks.suspend(asks.call("remove"))
    result = await resume(asks, second.ticket, within=whole(READ))
    assert result.kind is ErrorKind.ABOVE_CEILING
    third = await asks.suspend(asks.call("remove", bounds=whole(MUTATE, frozenset({"remove"}))))
    result = await resume(asks, third.ticket, within=whole(MUTATE, frozenset({"other"})))
    assert result.kind is ErrorKind.NOT_OFFERED
    assert tool.runs == []


async def test_a_ticket_keeps_the_bounds_of_its_execution(make_road: MakeRoad) -> None:
    """An offer or ceiling of the execution that asked holds when it is resumed."""
    tool = ScriptedTool("remove")
    asks, resumes = two_roads(make_road, tool)
    bounds = whole(MUTATE, frozenset({"remove", "other"}))
    waiting = await asks.suspend(asks.call("remove", bounds=bounds, attended=True))
    await resume(resumes, waiting.ticket, environment=Environment(Path("/elsewhere")))
    [context] = tool.contexts
    assert context.execution.bounds == bounds
    assert context.execution.environment.cwd == Path("/")


@pytest.mark.req("B-14", "B-03")
async def test_a_question_that_asks_for_more_today_is_asked_again(make_road: MakeRoad) -> None:
    """What came up since the question was not answered: today's approvers are asked."""
    tool = ScriptedTool("add", destructive=False)
    approver = ScriptedApprover([Answer(True, "")])
    asks, resumes = two_roads(make_road, tool, attended=[approver])
    waiting = await asks.suspend(asks.call("add"))
    resumes.leave_open(resumes.call("add", id="lost"))
    assert not (await resume(resumes, waiting.ticket)).is_error
    [question] = approver.questions
    assert "open_unknown" in [reason.code for reason in question.reasons]
    with pytest.raises(TicketGone):
        await resume(resumes, waiting.ticket)


async def test_where_nobody_can_be_asked_again_it_is_refused(make_road: MakeRoad) -> None:
    """An answer that covers too little does not run the call where nobody can say more."""
    tool = ScriptedTool("add", destructive=False)
    asks, resumes = two_roads(make_road, tool)
    waiting = await asks.suspend(asks.call("add"))
    resumes.leave_open(resumes.call("add", id="lost"))
    assert (await resume(resumes, waiting.ticket)).reason == "nobody_to_ask"
    assert tool.runs == []


async def test_the_same_call_waits_under_one_ticket(make_road: MakeRoad) -> None:
    """A call that is made again while it waits joins its ticket, until that has run out."""
    asks, _ = two_roads(make_road, ScriptedTool("remove"))
    call = asks.call("remove", {"n": 1})
    first = await asks.suspend(call)
    assert await asks.suspend(call) == first
    other = await asks.suspend(asks.call("remove", {"n": 2}, id=call.id))
    assert other.ticket != first.ticket
    asks.clock.advance(8 * 86_400)
    again = await asks.suspend(call)
    assert again.ticket != first.ticket
    with pytest.raises(TicketGone, match="expired"):
        await resume(asks, first.ticket)


@pytest.mark.parametrize(
    "answer", [Answer(True, "queue", Scope.SESSION), Answer(False, "queue", Scope.SESSION)]
)
async def test_a_session_answer_is_remembered_with_the_ticket(
    make_road: MakeRoad, answer: Answer
) -> None:
    """What is answered for the session counts for it wherever it goes on, yes or no."""
    tool = ScriptedTool("remove")
    asks, resumes = two_roads(make_road, tool)
    waiting = await asks.suspend(asks.call("remove", {"n": 1}))
    await resume(resumes, waiting.ticket, answer)
    result = await asks.invoke(asks.call("remove", {"n": 1}))
    assert result.is_error is not answer.approved
    decided = asks.ledger.decisions[-1]
    assert decided.approver == ("grant" if answer.approved else "queue")
    await asks.suspend(asks.call("remove", {"n": 2}))


async def test_without_a_record_the_ticket_stays(make_road: MakeRoad) -> None:
    """If the decision can not be written nothing runs and nothing is used up."""
    tool = ScriptedTool("remove")
    ledger = MemoryLedger()
    asks, resumes = two_roads(make_road, tool, ledger=ledger)
    waiting = await asks.suspend(asks.call("remove"))
    ledger.failing = OSError("disk full")
    answer = Answer(True, "queue", Scope.SESSION)
    assert (await resume(resumes, waiting.ticket, answer)).reason == "no_record"
    assert tool.runs == []
    assert resumes.grants.find("session", "remove") == ()
    ledger.failing = None
    assert not (await resume(resumes, waiting.ticket)).is_error
    assert len(tool.runs) == 1


async def test_a_read_only_call_is_resumed_without_a_record(make_road: MakeRoad) -> None:
    """Reading needs no record, here as everywhere."""
    tool = ScriptedTool("read", level=READ)
    ledger = MemoryLedger()
    asks = make_road([tool], attended=[ScriptedApprover([Later()])], exempt=None, owner="a")
    resumes = make_road([tool], exempt=None, ledger=ledger, owner="b")
    waiting = await asks.suspend(asks.call("read"))
    ledger.failing = OSError("disk full")
    assert not (await resume(resumes, waiting.ticket)).is_error


async def test_a_state_that_can_not_keep_the_question_refuses_the_call(
    make_road: MakeRoad,
) -> None:
    """A question that is not kept would never be answered; the call is refused at once."""

    class Closing(ScriptedApprover):
        async def __call__(self, question: Any) -> Any:
            """Close the state, as a full disk would."""
            road.state.close()
            return await super().__call__(question)

    road = make_road([ScriptedTool("remove")], attended=[Closing([Later()])])
    result = await road.invoke(road.call("remove", session=None))
    assert (result.kind, result.reason) == (ErrorKind.INTERNAL, "no_record")


async def test_a_ticket_shows_no_arguments(make_road: MakeRoad) -> None:
    """The arguments are in the state database, and in no repr or record."""
    asks, _ = two_roads(make_road, ScriptedTool("remove"))
    waiting = await asks.suspend(asks.call("remove", {"token": "hunter2"}))
    assert "hunter2" not in repr(asks.tickets.get(waiting.ticket))
    assert "hunter2" not in repr(asks.ledger.records)
