"""Hooks before a call: they object or ask; they never answer the gate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lockgate.decision import Decision
from lockgate.hooks.event import HookEvent
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.policy.approval import Answer, Scope
from lockgate.policy.ceiling import whole
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.hook import ScriptedHook
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
PRE = HookEvent.PRE_TOOL
SECRET = "hunter2"  # noqa: S105 - a stand-in that must not turn up
DENY = HookResult(HookDecision.DENY, "not on Fridays")
ASK = HookResult(HookDecision.ASK, "a release")
ALLOW = HookResult(HookDecision.ALLOW, "fine by me")


def add() -> ScriptedTool:
    """A tool that no gate stops where MUTATING is exempt."""
    return ScriptedTool("add", destructive=False)


def rules(*given: tuple[str, Decision]) -> RuleSet:
    """Rules of the lists named."""
    return RuleSet(tuple(parse_rule(text, decision) for text, decision in given))


async def test_a_hook_is_told_the_whole_call(make_road: MakeRoad) -> None:
    """Tool, arguments, session, execution, whether somebody is there, how far it reaches."""
    hook = ScriptedHook()
    road = make_road([add()], exempt=MUTATE, hooks=[hook.on(PRE)])
    call = road.call("add", {"token": SECRET})
    assert not (await road.invoke(call)).is_error
    (told,) = hook.told
    assert told.event is PRE
    assert (told.tool_name, told.tool_input) == ("add", {"token": SECRET})
    assert (told.call_id, told.execution_id, told.session_id) == (call.id, "execution", "session")
    assert told.attended
    assert told.ceiling is MUTATE
    assert told.data()["hook_event_name"] == "pre_tool"
    assert SECRET not in repr(told)


async def test_a_denial_refuses_the_call_with_its_reason(make_road: MakeRoad) -> None:
    """Kind `denied`, reason `hook`; the model is told why, and the record which hook and why."""
    tool = add()
    road = make_road([tool], exempt=MUTATE, hooks=[ScriptedHook([DENY]).on(PRE, name="friday")])
    result = await road.invoke(road.call("add", {"token": SECRET}))
    assert (result.kind, result.reason) == (ErrorKind.DENIED, "hook")
    assert "the hook friday denies it: not on Fridays" in result.text
    assert tool.runs == []
    (record,) = road.ledger.decisions
    assert (record.decision, record.kind, record.reason) == ("refuse", "denied", "hook")
    assert [reason.code for reason in record.reasons] == ["hook_denies"]
    assert "friday" in record.reasons[0].text
    assert SECRET not in repr(road.ledger.records) + result.text


@pytest.mark.parametrize(
    ("name", "extra", "kind"),
    [
        ("nothing", {}, ErrorKind.UNKNOWN_TOOL),
        ("hidden", {}, ErrorKind.NOT_OFFERED),
        ("denied", {}, ErrorKind.DENIED),
        ("add", {"ceiling": True}, ErrorKind.ABOVE_CEILING),
    ],
)
async def test_no_hook_hears_of_a_call_that_is_refused_anyway(
    make_road: MakeRoad, name: str, extra: dict[str, bool], kind: ErrorKind
) -> None:
    """Unknown, not offered, denied by name, above the ceiling: told to nobody before."""
    hook = ScriptedHook()
    tools = [add(), ScriptedTool("denied"), ScriptedTool("hidden")]
    road = make_road(
        tools, rules=rules(("denied", Decision.DENY)), exempt=MUTATE, hooks=[hook.on(PRE)]
    )
    bounds = whole(READ if extra else MUTATE, frozenset({"add", "denied"}))
    assert (await road.invoke(road.call(name, {}, bounds=bounds))).kind is kind
    assert hook.told == []


async def test_no_hook_hears_of_arguments_that_are_no_json(make_road: MakeRoad) -> None:
    """There is nothing that it could be told."""
    hook = ScriptedHook()
    road = make_road([add()], exempt=MUTATE, hooks=[hook.on(PRE)])
    result = await road.invoke(road.call("add", {"x": object()}))
    assert result.kind is ErrorKind.INVALID_ARGUMENTS
    assert hook.told == []


@pytest.mark.req("S0-08")
@pytest.mark.parametrize("said", [ALLOW, HookResult(HookDecision.DEFER), HookResult(), None])
async def test_no_word_of_a_hook_answers_the_gate(
    make_road: MakeRoad, said: HookResult | None
) -> None:
    """ "allow" means no objection: the question is put all the same."""
    approver = ScriptedApprover([Answer(False, "")])
    tool = ScriptedTool("drop")
    road = make_road([tool], attended=[approver], hooks=[ScriptedHook([said]).on(PRE)])
    assert (await road.invoke(road.call("drop"))).reason == "said_no"
    assert len(approver.questions) == 1
    assert tool.runs == []


async def test_that_there_was_no_objection_stands_in_the_record(make_road: MakeRoad) -> None:
    """Which hook had none, and why it says so."""
    road = make_road([add()], exempt=MUTATE, hooks=[ScriptedHook([ALLOW]).on(PRE)])
    await road.invoke(road.call("add"))
    codes = {reason.code: reason.text for reason in road.ledger.decisions[0].reasons}
    assert set(codes) == {"exempt", "hook_allows"}
    assert codes["hook_allows"] == "the hook scripted has no objection: fine by me"


async def test_an_ask_is_the_gates_question_with_the_hook_as_reason(make_road: MakeRoad) -> None:
    """Also for a call that needs none otherwise."""
    approver = ScriptedApprover.always(True)
    tool = add()
    road = make_road(
        [tool], exempt=MUTATE, attended=[approver], hooks=[ScriptedHook([ASK]).on(PRE)]
    )
    assert not (await road.invoke(road.call("add"))).is_error
    (question,) = approver.questions
    assert [reason.code for reason in question.reasons] == ["hook_asks"]
    assert "a release" in question.reasons[0].text
    assert len(tool.runs) == 1
    record = road.ledger.decisions[0]
    assert (record.approver, [r.code for r in record.reasons]) == ("scripted", ["hook_asks"])


async def test_an_ask_with_nobody_there_is_a_no(make_road: MakeRoad) -> None:
    """As of any question (S0-09)."""
    road = make_road([add()], exempt=MUTATE, hooks=[ScriptedHook([ASK]).on(PRE)])
    result = await road.invoke(road.call("add"))
    assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "nobody_to_ask")


async def test_an_ask_is_answered_by_no_allow_rule(make_road: MakeRoad) -> None:
    """As an ask rule voids allow rules."""
    approver = ScriptedApprover([Answer(False, "")])
    road = make_road(
        [add()],
        rules=rules(("add", Decision.ALLOW)),
        attended=[approver],
        hooks=[ScriptedHook([ASK]).on(PRE)],
    )
    assert (await road.invoke(road.call("add"))).reason == "said_no"
    assert len(approver.questions) == 1
    assert not (await road.invoke(road.call("add"))).is_error  # the hook has nothing more to say


async def test_an_ask_is_answered_by_no_grant_for_other_concerns(make_road: MakeRoad) -> None:
    """What was answered before the hook asked was not about that; afterwards it is."""
    approver = ScriptedApprover([Answer(True, "", Scope.SESSION)] * 5)
    road = make_road(
        [add()], attended=[approver], hooks=[ScriptedHook([None, ASK, ASK, None]).on(PRE)]
    )
    for _ in range(4):
        assert not (await road.invoke(road.call("add"))).is_error
    codes = [[reason.code for reason in q.reasons] for q in approver.questions]
    assert codes == [["not_exempt"], ["not_exempt", "hook_asks"]]


@pytest.mark.parametrize("answer", [True, False])
async def test_a_no_of_the_session_counts_before_the_hooks_ask(
    make_road: MakeRoad, answer: bool
) -> None:
    """A remembered no stays a no."""
    approver = ScriptedApprover([Answer(answer, "", Scope.SESSION), Answer(True, "")])
    road = make_road([add()], attended=[approver], hooks=[ScriptedHook([None, ASK]).on(PRE)])
    await road.invoke(road.call("add"))
    assert (await road.invoke(road.call("add"))).is_error is not answer
    assert len(approver.questions) == 1 + answer


async def test_an_answer_for_always_is_not_offered_over_a_hooks_ask(make_road: MakeRoad) -> None:
    """The rule that it would write would not answer this question the next time."""

    class Book:
        def keep(self, question: object, answer: object) -> None:
            """Nothing is kept here."""

    approver = ScriptedApprover.always(True)
    tool = ScriptedTool("add", server="files", destructive=False)
    road = make_road(
        [tool], attended=[approver], answers=Book(), hooks=[ScriptedHook([ASK]).on(PRE)]
    )
    await road.invoke(road.call("mcp__files__add"))
    await road.invoke(road.call("mcp__files__add"))
    assert [question.always is None for question in approver.questions] == [True, False]


async def test_hooks_are_asked_once_however_often_it_is_decided(make_road: MakeRoad) -> None:
    """An answer took time, and more was asked by then: decided again, with the same word of the
    same hook."""

    class Opens(ScriptedApprover):
        async def __call__(self, question: Any) -> Any:
            if not self.questions:
                road.leave_open(road.call("add"))
            return await super().__call__(question)

    approver = Opens([Answer(True, "")] * 3)
    hook = ScriptedHook([ASK])
    tool = add()
    road = make_road([tool], exempt=MUTATE, attended=[approver], hooks=[hook.on(PRE)])
    assert not (await road.invoke(road.call("add"))).is_error
    assert len(hook.told) == 1
    codes = [[reason.code for reason in question.reasons] for question in approver.questions]
    assert codes == [["hook_asks"], ["hook_asks", "open_unknown"]]


async def test_what_a_hook_adds_is_told_with_the_result(make_road: MakeRoad) -> None:
    """Marked as its own; with a refusal as well."""
    hook = ScriptedHook.always(HookResult(context="the disk is nearly full"))
    road = make_road(
        [add(), ScriptedTool("drop")], exempt=MUTATE, hooks=[hook.on(PRE, name="disk")]
    )
    for name in ("add", "drop"):
        result = await road.invoke(road.call(name))
        assert result.text.endswith("[from hooks, not from the tool]\nthe disk is nearly full")
        assert result.is_error is (name == "drop")


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("denies", [False, True])
@pytest.mark.parametrize("error", [RuntimeError(SECRET), "timeout"])
async def test_a_failing_hook_warns_or_denies(
    make_road: MakeRoad, denies: bool, error: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """By default the call goes on, and its record says that the hook failed; with
    `denies_on_error` it is refused."""
    tool = add()
    hook = ScriptedHook(hold=True) if error == "timeout" else ScriptedHook([error])
    guard = hook.on(PRE, name="guard", denies_on_error=denies, timeout=0.001)
    road = make_road([tool], exempt=MUTATE, hooks=[guard])
    result = await road.invoke(road.call("add", {"token": SECRET}))
    assert result.is_error is denies
    assert len(tool.runs) == (not denies)
    assert any(r.code == "hook_failed" for r in road.ledger.decisions[0].reasons)
    assert "the hook guard failed on pre_tool" in caplog.text
    assert SECRET not in caplog.text + repr(road.ledger.records) + result.text


async def test_only_hooks_that_match_are_told(make_road: MakeRoad) -> None:
    """By the tool's name and by the arguments of the call."""
    hook = ScriptedHook()
    tools = [ScriptedTool("put", server="files", destructive=False), add()]
    road = make_road(
        tools, exempt=MUTATE, hooks=[hook.on(PRE, "mcp__files__put(path=path:/etc/**)")]
    )
    await road.invoke(road.call("add", {"path": "/etc/x"}))
    await road.invoke(road.call("mcp__files__put", {"path": "/home/x"}))
    assert hook.told == []
    await road.invoke(road.call("mcp__files__put", {"path": "/etc/../etc/x"}))
    assert len(hook.told) == 1


@pytest.mark.parametrize("before", [False, True])
async def test_an_interrupt_cuts_a_hook_off_and_skips_the_call(
    make_road: MakeRoad, before: bool
) -> None:
    """The call has its result, nothing was run, and the hook has ended."""
    token, tool, hook = InterruptToken(), add(), ScriptedHook(hold=True)
    road = make_road([tool], exempt=MUTATE, hooks=[hook.on(PRE)])
    if before:
        token.interrupt()
    task = asyncio.create_task(road.invoke(road.call("add", interrupt=token)))
    if not before:
        await hook.started.wait()
        token.interrupt()
    result = await task
    assert result.kind is ErrorKind.SKIPPED
    assert tool.runs == []
    assert (len(hook.told), hook.ended) == ((0, 0) if before else (1, 1))
    assert road.ledger.decisions[0].kind == "skipped"


async def test_a_cancellation_passes_and_is_recorded(make_road: MakeRoad) -> None:
    """Nothing was run, nothing is left, and the record says so."""
    tool, hook = add(), ScriptedHook(hold=True)
    road = make_road([tool], exempt=MUTATE, hooks=[hook.on(PRE), hook.on(PRE)])
    before = asyncio.all_tasks()
    task = asyncio.create_task(road.invoke(road.call("add")))
    await hook.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == before
    assert hook.ended == len(hook.told)
    assert road.ledger.decisions[0].reason == "cancelled"
    assert tool.runs == []
