"""Questions: who is asked, in which order, and what counts as an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from lockgate.decision import Decision
from lockgate.errors import LocalError
from lockgate.policy.approval import PASS, Answer, Question, Reply, Scope
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.turns import turns
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
YES, NO = Answer(True, "someone"), Answer(False, "someone", note="not on a Friday")
YES_SESSION = Answer(True, "someone", Scope.SESSION)
NO_SESSION = Answer(False, "someone", Scope.SESSION)


async def being_asked(
    make_road: MakeRoad, tool: ScriptedTool
) -> tuple[Road, ScriptedApprover, asyncio.Task[ToolResult]]:
    """A call of the tool, about which a person thinks, and then says yes."""
    approver = ScriptedApprover([YES], hold=True)
    road = make_road([tool], attended=[approver])
    running = asyncio.create_task(road.invoke(road.call(tool.name)))
    await approver.asked.wait()
    return road, approver, running


@pytest.mark.req("S0-09")
@pytest.mark.parametrize("attended", [True, False])
async def test_nobody_there_means_no(make_road: MakeRoad, attended: bool) -> None:
    """With no approver for the execution, a question is answered no and nothing runs."""
    tool = ScriptedTool("remove")
    road = make_road([tool])
    result = await road.invoke(road.call("remove", attended=attended))
    assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "nobody_to_ask")
    assert tool.runs == []


@pytest.mark.req("S0-09")
async def test_unattended_runs_ask_their_own_approvers(make_road: MakeRoad) -> None:
    """An unattended execution never reaches the attended approvers, and the other way round."""
    tool = ScriptedTool("remove")
    person, policy = ScriptedApprover([YES] * 9), ScriptedApprover([YES] * 9, name="command")
    road = make_road([tool], attended=[person], unattended=[policy])
    await road.invoke(road.call("remove", attended=False))
    assert (len(person.questions), len(policy.questions)) == (0, 1)
    await road.invoke(road.call("remove", attended=True))
    assert (len(person.questions), len(policy.questions)) == (1, 1)
    assert [record.approver for record in road.ledger.decisions] == ["command", "scripted"]


async def test_the_first_answer_wins(make_road: MakeRoad) -> None:
    """Approvers are asked in turn until one answers; who passes it on has not answered."""
    first = ScriptedApprover([PASS], name="first")
    second = ScriptedApprover([NO], name="second")
    third = ScriptedApprover([YES], name="third")
    road = make_road([ScriptedTool("remove")], attended=[first, second, third])
    result = await road.invoke(road.call("remove"))
    assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "said_no")
    assert "second" in result.text
    assert "not on a Friday" in result.text
    assert len(first.questions) == 1
    assert third.questions == []


async def test_passing_it_on_to_nobody_means_no(make_road: MakeRoad) -> None:
    """When all pass it on, nobody has answered, and that is a no."""
    road = make_road([ScriptedTool("remove")], attended=[ScriptedApprover([PASS])])
    result = await road.invoke(road.call("remove"))
    assert result.reason == "nobody_to_ask"


async def test_an_approver_that_raises_has_said_no(make_road: MakeRoad) -> None:
    """A failure is a no, at once: the next approver is not asked in its place."""
    next_one = ScriptedApprover([YES], name="next")
    broken = ScriptedApprover([RuntimeError("no display")], name="broken")
    tool = ScriptedTool("remove")
    road = make_road([tool], attended=[broken, next_one])
    result = await road.invoke(road.call("remove"))
    assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "approver_failed")
    assert "broken" in result.text
    assert tool.runs == []
    assert next_one.questions == []


async def test_an_approver_that_overruns_its_time_has_said_no(make_road: MakeRoad) -> None:
    """The limit means no, and the approver is stopped."""
    late = ScriptedApprover([YES], hold=True)
    tool = ScriptedTool("remove")
    road = make_road([tool], attended=[late], answer_within=0)
    result = await road.invoke(road.call("remove"))
    assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "expired")
    assert tool.runs == []


class Odd:
    """An approver that answers with something else."""

    name = "odd"
    scopes = frozenset(Scope)

    def __init__(self, reply: object) -> None:
        self.reply = reply

    async def __call__(self, question: Question) -> Reply:
        """Whatever it was given."""
        if isinstance(self.reply, BaseException):
            raise self.reply
        return cast("Reply", self.reply)


@pytest.mark.parametrize(
    "reply",
    [
        None,
        True,
        "yes",
        Answer(cast("bool", "no"), "odd"),
        Answer(cast("bool", 1), "odd"),
        asyncio.CancelledError(),
    ],
)
async def test_only_true_is_a_yes(make_road: MakeRoad, reply: object) -> None:
    """What is no answer, or looks like a yes, or is a stray cancellation, is a failed approver."""
    tool = ScriptedTool("remove")
    road = make_road([tool], attended=[Odd(reply)])
    async with asyncio.timeout(5):
        result = await road.invoke(road.call("remove"))
    assert result.reason == "approver_failed"
    assert tool.runs == []


@pytest.mark.parametrize("name", ["rule", "grant"])
def test_no_approver_passes_for_a_rule_or_a_grant(make_road: MakeRoad, name: str) -> None:
    """The words that say in records that nobody was asked can not be borne by an approver."""
    with pytest.raises(LocalError):
        make_road([], attended=[ScriptedApprover(name=name)])


async def test_an_answer_bears_the_name_of_who_gave_it(make_road: MakeRoad) -> None:
    """An approver can not answer under another's name, nor beyond the scopes it declared."""
    approver = ScriptedApprover([Answer(True, "rule", Scope.SESSION)] * 2, scopes=[Scope.ONCE])
    road = make_road([ScriptedTool("add", destructive=False)], attended=[approver])
    await road.invoke(road.call("add"))
    await road.invoke(road.call("add"))
    assert len(approver.questions) == 2
    assert {(r.approver, r.scope) for r in road.ledger.decisions} == {("scripted", "once")}


async def test_a_question_holds_everything(make_road: MakeRoad) -> None:
    """The person sees the tool, its origin, every argument, and why it is asked."""
    approver = ScriptedApprover([NO])
    road = make_road([ScriptedTool("write", server="files")], attended=[approver])
    call = road.call("mcp__files__write", {"path": "/etc/passwd", "text": "x" * 5000})
    await road.invoke(call)
    [question] = approver.questions
    assert question.tool == "mcp__files__write"
    assert question.origin.server == "files"
    assert question.destructive
    assert question.arguments == call.arguments
    assert [reason.code for reason in question.reasons] == ["destructive", "not_exempt"]
    assert (question.call_id, question.session_id) == (call.id, "session")


@pytest.mark.req("B-01")
async def test_what_the_person_saw_is_what_runs(make_road: MakeRoad) -> None:
    """Neither the caller nor an approver can change the arguments between question and run."""
    arguments: dict[str, Any] = {"paths": ["a"]}

    class Meddler(ScriptedApprover):
        async def __call__(self, question: Question) -> Reply:
            """Change what it was shown, and what the caller still holds."""
            cast("dict[str, Any]", question.arguments)["paths"].append("b")
            arguments["paths"].append("c")
            return YES

    tool = ScriptedTool("remove")
    road = make_road([tool], attended=[Meddler()])
    await road.invoke(road.call("remove", arguments))
    assert tool.runs == [{"paths": ["a"]}]


@pytest.mark.req("B-01")
async def test_a_tool_that_changed_while_a_person_thought_is_not_run(make_road: MakeRoad) -> None:
    """The answer was for another definition: tool_changed, and neither of the two runs."""
    old = ScriptedTool("remove", description="removes a line")
    new = ScriptedTool("remove", description="removes the file")
    road, approver, running = await being_asked(make_road, old)
    road.registry.withdraw(["remove"])
    road.registry.register(new)
    approver.release()
    result = await running
    assert (result.kind, result.reason) == (ErrorKind.TOOL_CHANGED, "changed")
    assert (old.runs, new.runs) == ([], [])


async def test_a_tool_that_left_while_a_person_thought_is_not_run(make_road: MakeRoad) -> None:
    """What is no longer registered after the answer is an unknown tool."""
    tool = ScriptedTool("remove")
    road, approver, running = await being_asked(make_road, tool)
    road.registry.withdraw(["remove"])
    approver.release()
    assert (await running).kind is ErrorKind.UNKNOWN_TOOL
    assert tool.runs == []


async def test_the_same_definition_on_a_new_connection_runs(make_road: MakeRoad) -> None:
    """A tool object that was replaced by an equal one meanwhile runs in its new form."""
    old, new = ScriptedTool("remove"), ScriptedTool("remove")
    road, approver, running = await being_asked(make_road, old)
    road.registry.withdraw(["remove"])
    road.registry.register(new)
    approver.release()
    assert not (await running).is_error
    assert (len(old.runs), len(new.runs)) == (0, 1)


async def test_questions_of_a_session_come_one_at_a_time_in_order(make_road: MakeRoad) -> None:
    """Nobody has to answer two questions at once; another session does not wait."""
    approver = ScriptedApprover([YES] * 9, hold=True)
    road = make_road([ScriptedTool("remove")], attended=[approver])
    calls = [road.call("remove", {"n": n}) for n in range(3)]
    calls.append(road.call("remove", {"n": 9}, session="other"))
    tasks = [asyncio.create_task(road.invoke(call)) for call in calls]
    await turns()
    assert [question.arguments["n"] for question in approver.questions] == [0, 9]
    approver.release()
    await asyncio.gather(*tasks)
    assert [question.arguments["n"] for question in approver.questions] == [0, 9, 1, 2]


async def test_a_session_answer_serves_the_questions_that_wait(make_road: MakeRoad) -> None:
    """Two calls wait for a person, who says yes for the session: the second is not asked."""
    approver = ScriptedApprover([YES_SESSION], hold=True)
    tool = ScriptedTool("add", destructive=False)
    road = make_road([tool], attended=[approver])
    tasks = [asyncio.create_task(road.invoke(road.call("add", {"n": n}))) for n in range(2)]
    await turns()
    approver.release()
    assert [result.is_error for result in await asyncio.gather(*tasks)] == [False, False]
    assert len(approver.questions) == 1
    assert [record.approver for record in road.ledger.decisions] == ["scripted", "grant"]


async def test_an_equal_question_that_waits_is_joined_to_a_no(make_road: MakeRoad) -> None:
    """A no to a call counts for the equal ones that wait with it, and for no later one."""
    approver = ScriptedApprover([NO, NO], hold=True)
    road = make_road([ScriptedTool("remove")], attended=[approver])
    tasks = [asyncio.create_task(road.invoke(road.call("remove", {"n": 1}))) for _ in range(3)]
    await turns()
    approver.release()
    results = await asyncio.gather(*tasks)
    assert [result.reason for result in results] == ["said_no"] * 3
    assert len(approver.questions) == 1
    await road.invoke(road.call("remove", {"n": 1}))
    assert len(approver.questions) == 2


async def test_a_yes_to_one_call_is_no_yes_to_its_twin(make_road: MakeRoad) -> None:
    """Once means once: the equal call that waits is asked about itself."""
    approver = ScriptedApprover([YES, NO], hold=True)
    tool = ScriptedTool("pay")
    road = make_road([tool], attended=[approver])
    tasks = [asyncio.create_task(road.invoke(road.call("pay", {"n": 1}))) for _ in range(2)]
    await turns()
    approver.release()
    results = await asyncio.gather(*tasks)
    assert [result.is_error for result in results] == [False, True]
    assert len(approver.questions) == 2
    assert len(tool.runs) == 1


async def test_a_session_grant_of_a_destructive_tool_is_for_this_very_call(
    make_road: MakeRoad,
) -> None:
    """For the session means: the tool if it is not destructive, else exactly these arguments."""
    approver = ScriptedApprover([YES_SESSION, NO])
    tool = ScriptedTool("remove")
    road = make_road([tool], attended=[approver])
    assert not (await road.invoke(road.call("remove", {"n": 1}))).is_error
    assert not (await road.invoke(road.call("remove", {"n": 1}))).is_error
    assert (await road.invoke(road.call("remove", {"n": 2}))).reason == "said_no"
    assert len(approver.questions) == 2


async def test_answers_stay_in_their_session_and_reach_who_it_invited(make_road: MakeRoad) -> None:
    """Another session is asked itself; a sub-agent shares the answers of who invited it."""
    approver = ScriptedApprover([YES_SESSION, NO_SESSION])
    road = make_road([ScriptedTool("add", destructive=False)], attended=[approver])
    assert not (await road.invoke(road.call("add"))).is_error
    invited = road.call("add", session="child", inviting="session")
    assert not (await road.invoke(invited)).is_error
    assert (await road.invoke(road.call("add", session="other"))).reason == "said_no"
    assert (await road.invoke(road.call("add", session="other"))).reason == "said_no"
    assert len(approver.questions) == 2


async def test_without_a_session_nothing_is_remembered(make_road: MakeRoad) -> None:
    """An answer for a session that there is not counts once."""
    approver = ScriptedApprover([YES_SESSION, NO])
    road = make_road([ScriptedTool("add", destructive=False)], attended=[approver])
    assert not (await road.invoke(road.call("add", session=None))).is_error
    assert (await road.invoke(road.call("add", session=None))).is_error


async def test_a_grant_answers_an_ask_rule_only_if_it_was_asked_for_it(make_road: MakeRoad) -> None:
    """An answer counts for the reasons it was asked for: a plain grant does not open an ask rule
    of tomorrow, and an answer to that very question counts for its session."""
    tool = ScriptedTool("add", destructive=False)
    plain = make_road([tool], attended=[ScriptedApprover([YES_SESSION])], owner="a")
    await plain.invoke(plain.call("add"))
    rules = RuleSet((parse_rule("add", Decision.ASK), parse_rule("add", Decision.ALLOW)))
    approver = ScriptedApprover([YES_SESSION])
    stricter = make_road([tool], attended=[approver], rules=rules, owner="b")
    for _ in range(3):
        assert not (await stricter.invoke(stricter.call("add"))).is_error
    assert len(approver.questions) == 1


async def test_an_interrupt_ends_the_question(make_road: MakeRoad) -> None:
    """Interrupted while a person is asked, the call is skipped, and so are those that wait."""
    approver = ScriptedApprover([YES], hold=True)
    token = InterruptToken()
    tool = ScriptedTool("remove")
    road = make_road([tool], attended=[approver])
    calls = [road.call("remove", {"n": n}, interrupt=token) for n in range(2)]
    tasks = [asyncio.create_task(road.invoke(call)) for call in calls]
    await approver.asked.wait()
    token.interrupt()
    async with asyncio.timeout(5):
        results: list[ToolResult] = await asyncio.gather(*tasks)
    assert [result.kind for result in results] == [ErrorKind.SKIPPED] * 2
    assert tool.runs == []
    assert [record.kind for record in road.ledger.decisions] == ["skipped", "skipped"]


async def test_a_cancellation_ends_the_question_and_passes(make_road: MakeRoad) -> None:
    """Cancelled while a person is asked: recorded as not run, passed on, the turn given back."""
    approver = ScriptedApprover([YES, YES], hold=True)
    tool = ScriptedTool("remove")
    road = make_road([tool], attended=[approver])
    task = asyncio.create_task(road.invoke(road.call("remove")))
    await approver.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(r.decision, r.reason) for r in road.ledger.decisions] == [("refuse", "cancelled")]
    approver.release()
    async with asyncio.timeout(5):
        assert not (await road.invoke(road.call("remove"))).is_error
    assert len(tool.runs) == 1


async def test_a_question_that_keeps_growing_is_given_up(make_road: MakeRoad) -> None:
    """Each yes finds a question that asks for more; after a few rounds that is a no."""
    tool = ScriptedTool("add", destructive=False)

    class Witness(ScriptedApprover):
        async def __call__(self, question: Question) -> Reply:
            """Say yes, while another call of the tool has just ended unknown."""
            await super().__call__(question)
            call = road.call("add", id=f"lost-{len(self.questions)}")
            road.leave_open(call)
            return YES

    approver = Witness()
    road = make_road([tool], attended=[approver], exempt=SideEffectLevel.MUTATING)
    road.leave_open(road.call("add", id="lost-0"))
    result = await road.invoke(road.call("add"))
    assert result.reason == "question_changed"
    assert tool.runs == []
    assert len(approver.questions) == 3
