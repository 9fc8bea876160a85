"""An outcome that nobody knows: who runs again, what is told, and what is asked afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.policy.approval import Answer, Scope
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool, lost
from lockgate.testing.turns import turns
from lockgate.tools.context import InterruptToken, ToolContext
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING


NOT_THERE = lost(Fate.NOT_SENT, Fault.NOT_CONNECTED)
READ_LATE_THEN_LATE = ScriptedTool(
    "t", level=READ, replies=[lost(fault=Fault.TIMEOUT), lost(Fate.NOT_SENT, Fault.TIMEOUT)]
)
SET_LOST_THEN_GONE = ScriptedTool(
    "t", destructive=False, idempotent=True, replies=[lost(), NOT_THERE]
)


def adder(**changes: Any) -> ScriptedTool:
    """A mutating tool that nobody is asked about under `exempt=MUTATE`."""
    return ScriptedTool("add", destructive=False, **changes)


@pytest.mark.req("S0-18", "B-03")
@pytest.mark.parametrize(
    ("tool", "runs", "error"),
    [
        (ScriptedTool("t", level=READ, replies=[lost(fault=Fault.TIMEOUT)]), 2, False),
        (ScriptedTool("t", destructive=False, idempotent=True, replies=[lost()]), 2, False),
        (ScriptedTool("t", destructive=False, replies=[lost()]), 1, True),
        (ScriptedTool("t", level=READ, replies=[lost(fault=Fault.TIMEOUT)] * 5), 2, True),
        (ScriptedTool("t", destructive=False, idempotent=True, replies=[lost()] * 5), 2, True),
        (ScriptedTool("t", destructive=False, replies=[lost(Fate.NOT_SENT)]), 2, False),
        (READ_LATE_THEN_LATE, 2, True),
        (SET_LOST_THEN_GONE, 2, True),
    ],
)
async def test_who_runs_again(
    make_road: MakeRoad, tool: ScriptedTool, runs: int, error: bool
) -> None:
    """Reads and idempotent calls get one further try after an unknown fate; others get none."""
    road = make_road([tool], exempt=MUTATE)
    result = await road.invoke(road.call("t", {"n": 1}))
    assert tool.runs == [{"n": 1}] * runs
    assert result.is_error is error
    assert (result.kind is ErrorKind.OUTCOME_UNKNOWN) is error
    [outcome] = road.ledger.outcomes
    assert outcome.attempts == runs
    assert outcome.fate == ("unknown" if error else "answered")


async def test_a_further_try_knows_when_the_first_one_began(make_road: MakeRoad) -> None:
    """So a tool can bound both together; the first one is told nothing."""
    tool = ScriptedTool("t", level=READ, replies=[lost(fault=Fault.TIMEOUT)])
    before = asyncio.get_running_loop().time()
    road = make_road([tool])
    await road.invoke(road.call("t"))
    first, second = tool.contexts
    assert first.begun is None
    assert second.begun is not None
    assert before <= second.begun <= asyncio.get_running_loop().time()
    assert (first.call_id, first.execution) == (second.call_id, second.execution)


@pytest.mark.req("S0-18", "B-03")
@pytest.mark.parametrize("level", [READ, MUTATE])
async def test_what_is_final_is_not_made_again(make_road: MakeRoad, level: SideEffectLevel) -> None:
    """Whoever took the call on may be at work yet, as with a task: no traits make it twice."""
    final = PeerError(
        "gone", peer="far", phase=Phase.REQUEST, fault=Fault.TIMEOUT, fate=Fate.UNKNOWN, final=True
    )
    tool = ScriptedTool(
        "t", level=level, destructive=False, idempotent=True, replies=[final, final]
    )
    road = make_road([tool], exempt=MUTATE)
    result = await road.invoke(road.call("t", {}))
    assert (tool.runs, result.kind) == ([{}], ErrorKind.OUTCOME_UNKNOWN)


@pytest.mark.req("B-03")
@pytest.mark.parametrize(
    "second",
    [NOT_THERE, lost(), lost(fault=Fault.NOT_CONNECTED)],
    ids=["not there", "lost again", "lost with others"],
)
async def test_a_read_that_was_lost_has_no_outcome_to_be_unknown(
    make_road: MakeRoad, second: PeerError
) -> None:
    """It changed nothing: what is told is that nobody is there. The record keeps that it may have
    run, and nothing stands open."""
    tool = ScriptedTool("t", server="far", level=READ, replies=[lost(), second])
    road = make_road([tool])
    result = await road.invoke(road.call("mcp__far__t"))
    assert result.kind is ErrorKind.NOT_CONNECTED
    assert "the server went away" in result.text
    assert "nothing was changed by it; it may be called again" in result.text
    assert "outcome" not in result.text
    [outcome] = road.ledger.outcomes
    assert (outcome.kind, outcome.fate, outcome.attempts) == ("not_connected", "unknown", 2)
    assert not (await road.invoke(road.call("mcp__far__t"))).is_error


@pytest.mark.req("B-03")
async def test_what_is_told_of_a_second_try_that_was_never_sent(make_road: MakeRoad) -> None:
    """An idempotent call that was lost, and then found nobody: it was started once, not twice, and
    may be made again."""
    tool = ScriptedTool(
        "put", server="far", destructive=False, idempotent=True, replies=[lost(), NOT_THERE]
    )
    road = make_road([tool], exempt=MUTATE)
    result = await road.invoke(road.call("mcp__far__put"))
    assert (result.kind, result.reason) == (ErrorKind.OUTCOME_UNKNOWN, "closed")
    assert "begun once at the server far, and" in result.text
    assert "A further try was not sent: the server went away." in result.text
    assert "the same call with the same arguments may be made again" in result.text
    assert "do not simply call it again" not in result.text
    [outcome] = road.ledger.outcomes
    assert (outcome.fate, outcome.attempts) == ("unknown", 2)


@pytest.mark.req("B-03")
async def test_a_try_that_was_not_sent_is_not_counted_as_started(make_road: MakeRoad) -> None:
    """The first found nobody, the second was lost: it may have run once."""
    tool = adder(server="far", replies=[NOT_THERE, lost()])
    road = make_road([tool], exempt=MUTATE)
    result = await road.invoke(road.call("mcp__far__add"))
    assert result.kind is ErrorKind.OUTCOME_UNKNOWN
    assert "begun once at the server far, and" in result.text
    assert "further try" not in result.text


@pytest.mark.parametrize("level", [READ, MUTATE])
@pytest.mark.req("B-03")
async def test_an_answer_that_nobody_can_read_was_one(
    make_road: MakeRoad, level: SideEffectLevel
) -> None:
    """It is an error that was answered; of a tool that changes things it is said that it may have
    done so, and it is not tried again."""
    reply = lost(Fate.ANSWERED, Fault.MALFORMED)
    tool = ScriptedTool("t", level=level, destructive=False, replies=[reply])
    road = make_road([tool], exempt=MUTATE)
    result = await road.invoke(road.call("t"))
    assert (result.kind, result.reason) == (ErrorKind.TOOL_ERROR, "malformed")
    assert ("it may well have taken effect" in result.text) is (level is MUTATE)
    assert len(tool.runs) == 1


async def test_a_second_try_gets_the_same_arguments(make_road: MakeRoad) -> None:
    """What the first try did to its arguments does not reach the second."""

    class Spoiler(ScriptedTool):
        async def _run(
            self, arguments: Mapping[str, Any], context: ToolContext
        ) -> ToolResult | Outcome:
            """Note the arguments, then change them."""
            self.seen.append(dict(arguments))
            cast("dict[str, Any]", arguments).clear()
            return await super()._run(arguments, context)

        seen: list[dict[str, Any]]

    tool = Spoiler("t", level=READ, replies=[lost()])
    tool.seen = []
    road = make_road([tool])
    await road.invoke(road.call("t", {"n": 1}))
    assert tool.seen == [{"n": 1}, {"n": 1}]


@pytest.mark.req("B-03")
async def test_an_unknown_outcome_is_told_in_plain_words(make_road: MakeRoad) -> None:
    """The model hears what was sent, what is not known, and how to look."""
    tool = ScriptedTool("send", server="mail", destructive=False, replies=[lost()])
    look = ScriptedTool("list_sent", server="mail", level=READ)
    elsewhere = ScriptedTool("read", level=READ)
    road = make_road([elsewhere, tool, look], exempt=MUTATE)
    result = await road.invoke(road.call("mcp__mail__send"))
    assert result.kind is ErrorKind.OUTCOME_UNKNOWN
    for words in ("mail", "the server went away", "do not assume it failed", "list_sent"):
        assert words in result.text
    assert "read." not in result.text


@pytest.mark.req("B-03")
async def test_an_open_unknown_is_asked_about_until_a_yes_closes_it(make_road: MakeRoad) -> None:
    """The next call of that tool is asked about, over exemption and grants; a yes closes it."""
    yes = Answer(True, "someone", Scope.SESSION)
    approver = ScriptedApprover([Answer(False, "someone"), yes])
    tool = adder(replies=[lost()])
    other = ScriptedTool("other", destructive=False)
    road = make_road([tool, other], exempt=MUTATE, attended=[approver])
    first = road.call("add")
    await road.invoke(first)
    assert not (await road.invoke(road.call("other"))).is_error
    assert not (await road.invoke(road.call("add", session="another"))).is_error
    assert approver.questions == []
    assert (await road.invoke(road.call("add"))).reason == "said_no"
    [question] = approver.questions
    assert [reason.code for reason in question.reasons] == ["open_unknown"]
    assert first.id in question.reasons[0].text
    assert not (await road.invoke(road.call("add"))).is_error
    assert not (await road.invoke(road.call("add"))).is_error
    assert len(approver.questions) == 2


@pytest.mark.req("B-03")
async def test_without_a_session_an_unknown_belongs_to_its_principal(make_road: MakeRoad) -> None:
    """Without a session, the principal that made the call is asked; another one is not."""
    tool = adder(replies=[lost()])
    road = make_road([tool], exempt=MUTATE)
    await road.invoke(road.call("add", session=None, principal="ann"))
    ann = await road.invoke(road.call("add", session=None, principal="ann"))
    assert (ann.kind, ann.reason) == (ErrorKind.NOT_APPROVED, "nobody_to_ask")
    assert not (await road.invoke(road.call("add", session=None, principal="bob"))).is_error


@pytest.mark.parametrize("tool", [
    ScriptedTool("t", level=READ, replies=[lost()] * 2),
    ScriptedTool("t", destructive=False, idempotent=True, replies=[lost()] * 2),
])  # fmt: skip
async def test_what_may_run_twice_stands_in_nobodys_way(
    make_road: MakeRoad, tool: ScriptedTool
) -> None:
    """An unknown outcome of a replayable call leaves nothing open."""
    road = make_road([tool], exempt=MUTATE)
    assert (await road.invoke(road.call("t"))).is_error
    assert not (await road.invoke(road.call("t"))).is_error


async def test_an_approved_call_that_is_lost_again_opens_anew(make_road: MakeRoad) -> None:
    """A yes closes what it named; if that call ends unknown too, the next one is asked about it."""
    approver = ScriptedApprover([Answer(True, "someone")] * 2)
    tool = adder(replies=[lost(), lost()])
    road = make_road([tool], exempt=MUTATE, attended=[approver])
    for _ in range(3):
        await road.invoke(road.call("add"))
    assert len(approver.questions) == 2
    assert approver.questions[0].reasons != approver.questions[1].reasons
    assert len(tool.runs) == 3


async def test_an_interrupt_forbids_a_second_try(make_road: MakeRoad) -> None:
    """A turn that was interrupted tries nothing again."""
    reply = lost(fault=Fault.TIMEOUT)
    tool, token = ScriptedTool("t", level=READ, replies=[reply], hold=True), InterruptToken()
    road = make_road([tool])
    task = asyncio.create_task(road.invoke(road.call("t", interrupt=token)))
    await tool.started.wait()
    token.interrupt()
    tool.release()
    assert (await task).kind is ErrorKind.OUTCOME_UNKNOWN
    assert len(tool.runs) == 1


@pytest.mark.req("B-03")
async def test_a_call_in_the_line_is_asked_about_when_the_one_before_is_lost(
    make_road: MakeRoad,
) -> None:
    """Decided before, started after: while the outcome of the one before is open, the next one in
    its lane is asked about too, and another session's is not."""
    approver = ScriptedApprover([Answer(False, "someone")])
    tool = adder(replies=[lost()], hold=True)
    road = make_road([tool], exempt=MUTATE, attended=[approver])
    calls = [road.call("add", {"n": n}) for n in range(2)]
    calls.append(road.call("add", {"n": 2}, session="other"))
    tasks = [asyncio.create_task(road.invoke(call)) for call in calls]
    await turns()
    tool.release()
    async with asyncio.timeout(5):
        lost_one, asked, other = await asyncio.gather(*tasks)
    assert lost_one.kind is ErrorKind.OUTCOME_UNKNOWN
    assert asked.reason == "said_no"
    assert not other.is_error
    assert [question.arguments["n"] for question in approver.questions] == [1]
    assert [run["n"] for run in tool.runs] == [0, 2]
    assert len(road.lanes) == 0


@pytest.mark.req("B-03")
async def test_an_approved_call_in_the_line_is_asked_about_again(make_road: MakeRoad) -> None:
    """A yes from before the other call was lost did not know of it, so it does not cover it."""
    approver = ScriptedApprover([Answer(True, "someone")] * 3)
    tool = ScriptedTool("remove", replies=[lost()], hold=True)
    road = make_road([tool], attended=[approver])
    tasks = [asyncio.create_task(road.invoke(road.call("remove", {"n": n}))) for n in range(2)]
    await turns()
    assert len(approver.questions) == 2
    tool.release()
    async with asyncio.timeout(5):
        first, second = await asyncio.gather(*tasks)
    assert (first.kind, second.is_error) == (ErrorKind.OUTCOME_UNKNOWN, False)
    codes = [reason.code for reason in approver.questions[2].reasons]
    assert codes == ["destructive", "not_exempt", "open_unknown"]
    assert len(tool.runs) == 2
