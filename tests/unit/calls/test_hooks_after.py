"""Hooks of a question, of a refusal and of a result; and how hooks are explained."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lockgate.calls.consulting import WITHHELD
from lockgate.calls.decide import ROAD
from lockgate.decision import Decision
from lockgate.errors import Fate
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.policy.approval import Answer
from lockgate.policy.ceiling import whole
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.hook import ScriptedHook
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool, lost
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
PRE, POST = HookEvent.PRE_TOOL, HookEvent.POST_TOOL
ASKED, DENIED = HookEvent.PERMISSION_REQUEST, HookEvent.PERMISSION_DENIED
SECRET = "hunter2"  # noqa: S105 - a stand-in that must not turn up
DENY = HookResult(HookDecision.DENY, "it holds a key")


def add(*replies: Any, **extra: Any) -> ScriptedTool:
    """A tool that no gate stops where MUTATING is exempt."""
    return ScriptedTool("add", destructive=False, replies=replies, **extra)


# ------------------------------------------------------------------ of a question


async def test_a_hook_is_told_of_a_question_before_any_approver(make_road: MakeRoad) -> None:
    """Which call, and why it is asked about; without a word of the hook it is put."""
    approver, hook = ScriptedApprover.always(True), ScriptedHook(hold=True)
    road = make_road([ScriptedTool("drop")], attended=[approver], hooks=[hook.on(ASKED)])
    task = asyncio.create_task(road.invoke(road.call("drop", {"x": 1})))
    await hook.started.wait()
    assert approver.questions == []
    hook.release()
    assert not (await task).is_error
    (told,) = hook.told
    assert told.tool_input == {"x": 1}
    assert len(told.details["reasons"]) == 2
    assert len(approver.questions) == 1


async def test_a_denial_answers_the_question_with_no(make_road: MakeRoad) -> None:
    """The approver of the record is `hook`, its reason is the note; nobody else is asked."""
    approver, tool = ScriptedApprover.always(True), ScriptedTool("drop")
    road = make_road([tool], attended=[approver], hooks=[ScriptedHook([DENY]).on(ASKED)])
    result = await road.invoke(road.call("drop"))
    assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "said_no")
    assert "it holds a key" in result.text
    assert approver.questions == tool.runs == []
    record = road.ledger.decisions[0]
    assert (record.approver, record.approved, record.scope) == ("hook", False, "once")


@pytest.mark.parametrize("decision", [None, *HookDecision])
async def test_no_other_word_answers_it(make_road: MakeRoad, decision: HookDecision | None) -> None:
    """A hook can say no for a person, and never yes."""
    if decision is HookDecision.DENY:
        return
    approver = ScriptedApprover([Answer(False, "")])
    hook = ScriptedHook([HookResult(decision)])
    road = make_road([ScriptedTool("drop")], attended=[approver], hooks=[hook.on(ASKED)])
    assert (await road.invoke(road.call("drop"))).reason == "said_no"
    assert len(approver.questions) == 1


async def test_a_hooks_no_is_not_remembered(make_road: MakeRoad) -> None:
    """It was asked about this call; the next one it is asked again."""
    road = make_road(
        [ScriptedTool("drop")],
        attended=[ScriptedApprover.always(True)],
        hooks=[ScriptedHook([DENY]).on(ASKED)],
    )
    assert (await road.invoke(road.call("drop"))).is_error
    assert not (await road.invoke(road.call("drop"))).is_error


async def test_where_nothing_is_asked_no_hook_is_told_of_a_question(make_road: MakeRoad) -> None:
    """Exempt, answered by a rule, or nobody there: there is no question."""
    hook = ScriptedHook()
    allow = RuleSet((parse_rule("add", Decision.ALLOW),))
    for extra in ({"exempt": MUTATE}, {"rules": allow}, {}):
        road = make_road([add()], hooks=[hook.on(ASKED)], owner=str(extra)[:9], **extra)
        await road.invoke(road.call("add"))
    assert hook.told == []


async def test_an_interrupt_cuts_a_question_to_a_hook_off(make_road: MakeRoad) -> None:
    """As it cuts off one to a person."""
    hook, token = ScriptedHook(hold=True), InterruptToken()
    road = make_road(
        [ScriptedTool("drop")],
        attended=[ScriptedApprover.always(True)],
        hooks=[hook.on(ASKED)],
    )
    task = asyncio.create_task(road.invoke(road.call("drop", interrupt=token)))
    await hook.started.wait()
    token.interrupt()
    assert (await task).kind is ErrorKind.SKIPPED
    assert hook.ended == 1


@pytest.mark.parametrize("denies", [False, True])
async def test_a_hook_that_fails_on_a_question(make_road: MakeRoad, denies: bool) -> None:
    """The question is put, or it is a no where failing denies."""
    approver = ScriptedApprover.always(True)
    hook = ScriptedHook([RuntimeError()]).on(ASKED, denies_on_error=denies)
    road = make_road([ScriptedTool("drop")], attended=[approver], hooks=[hook])
    assert (await road.invoke(road.call("drop"))).is_error is denies
    assert len(approver.questions) == (not denies)


# ------------------------------------------------------------------ of a refusal


@pytest.mark.parametrize(
    ("name", "reason", "kind"),
    [
        ("denied", "deny_rule", "denied"),
        ("drop", "nobody_to_ask", "not_approved"),
        ("hooked", "hook", "denied"),
    ],
)
async def test_a_refusal_by_rule_hook_or_answer_is_told(
    make_road: MakeRoad, name: str, reason: str, kind: str
) -> None:
    """After it was written down; nothing that is said to it counts."""
    hook = ScriptedHook.always(DENY)
    tools = [ScriptedTool("denied"), ScriptedTool("drop"), ScriptedTool("hooked")]
    road = make_road(
        tools,
        rules=RuleSet((parse_rule("denied", Decision.DENY),)),
        hooks=[hook.on(DENIED), ScriptedHook([DENY]).on(PRE, "hooked")],
    )
    result = await road.invoke(road.call(name, {"x": 1}))
    assert result.reason == reason
    (told,) = hook.told
    assert (told.details["kind"], told.details["reason"]) == (kind, reason)
    assert told.details["reasons"]
    assert told.tool_input == {"x": 1}


async def test_other_refusals_are_no_denial(make_road: MakeRoad) -> None:
    """A ceiling, a schema, an unknown name: nobody said no."""
    hook = ScriptedHook()
    tool = add(input_schema={"type": "object", "required": ["x"]})
    road = make_road([tool], hooks=[hook.on(DENIED)])
    await road.invoke(road.call("add", bounds=whole(READ)))
    await road.invoke(road.call("add"))
    await road.invoke(road.call("nothing"))
    assert hook.told == []


async def test_a_slow_hook_of_a_refusal_ends_with_the_turn(make_road: MakeRoad) -> None:
    """The refusal stays the result."""
    hook, token = ScriptedHook(hold=True), InterruptToken()
    road = make_road([ScriptedTool("drop")], hooks=[hook.on(DENIED)])
    task = asyncio.create_task(road.invoke(road.call("drop", interrupt=token)))
    await hook.started.wait()
    token.interrupt()
    assert (await task).reason == "nobody_to_ask"
    assert hook.ended == 1


# ------------------------------------------------------------------ of a result


async def test_a_hook_is_told_the_result(make_road: MakeRoad) -> None:
    """Text, structured content, whether it is an error and of which kind; with the arguments."""
    hook = ScriptedHook()
    tool = add(ToolResult.of("three", structured={"n": 3}), lost())
    road = make_road([tool], exempt=MUTATE, hooks=[hook.on(POST)])
    first = await road.invoke(road.call("add", {"x": 1}))
    second = await road.invoke(road.call("add"))
    good, bad = hook.told
    assert good.tool_input == {"x": 1}
    assert good.tool_response == {
        "text": "three",
        "isError": False,
        "kind": None,
        "reason": None,
        "structured": {"n": 3},
    }
    assert bad.tool_response is not None
    assert bad.tool_response["kind"] == "outcome_unknown"
    assert first.structured == {"n": 3}
    assert second.kind is ErrorKind.OUTCOME_UNKNOWN


async def test_a_call_that_was_not_made_has_no_result_to_tell(make_road: MakeRoad) -> None:
    """Refused, or not recorded."""
    hook = ScriptedHook()
    road = make_road([add()], hooks=[hook.on(POST)])
    await road.invoke(road.call("add"))
    road.ledger.failing = OSError(28, "No space left on device")
    await road.invoke(road.call("add"))
    assert hook.told == []


async def test_a_hook_adds_to_a_result(make_road: MakeRoad) -> None:
    """Behind what the tool said, and marked."""
    hook = ScriptedHook([HookResult(context="run the tests now")])
    road = make_road([add("done")], exempt=MUTATE, hooks=[hook.on(POST)])
    result = await road.invoke(road.call("add"))
    assert result.text == "done\n[from hooks, not from the tool]\nrun the tests now"
    assert not result.is_error


async def test_a_hook_replaces_what_the_model_is_shown(make_road: MakeRoad) -> None:
    """Structured content goes too: it may hold what was taken out. The record tells who did it."""
    tool = add(ToolResult.of(f"key {SECRET}", structured={"key": SECRET}))
    hook = ScriptedHook([HookResult(reason="masked", updated_output="key ****")])
    road = make_road([tool], exempt=MUTATE, hooks=[hook.on(POST, name="mask")])
    result = await road.invoke(road.call("add"))
    assert result.text == "key ****"
    assert result.structured is None
    (outcome,) = road.ledger.outcomes
    assert not outcome.is_error
    assert [(r.code, r.text) for r in outcome.hooks or ()] == [
        ("hook_replaces", "the hook mask replaced what the model is shown: masked")
    ]


async def test_a_denial_withholds_a_result_and_the_call_stays_done(make_road: MakeRoad) -> None:
    """The model is told that it was run and why it sees nothing; the outcome record too."""
    tool = add(ToolResult.of(SECRET, structured={"key": SECRET}))
    road = make_road([tool], exempt=MUTATE, hooks=[ScriptedHook([DENY]).on(POST, name="keys")])
    result = await road.invoke(road.call("add"))
    assert (result.is_error, result.reason) == (False, WITHHELD)
    assert SECRET not in result.text
    assert result.structured is None
    assert "was run" in result.text
    assert "the hook keys denies it: it holds a key" in result.text
    (decision,), (outcome,) = road.ledger.decisions, road.ledger.outcomes
    assert decision.decision == "run"
    assert (outcome.fate, outcome.reason) == ("answered", WITHHELD)
    assert [r.code for r in outcome.hooks or ()] == ["hook_denies"]
    assert SECRET not in repr(road.ledger.records)


@pytest.mark.req("B-03")
async def test_an_unknown_outcome_stays_one_when_it_is_withheld(make_road: MakeRoad) -> None:
    """The model is not to believe that nothing happened, nor that it went well."""
    road = make_road([add(lost())], exempt=MUTATE, hooks=[ScriptedHook([DENY]).on(POST)])
    call = road.call("add")
    result = await road.invoke(call)
    assert (result.kind, result.reason) == (ErrorKind.OUTCOME_UNKNOWN, WITHHELD)
    assert "It ended as outcome_unknown." in result.text
    assert road.ledger.outcomes[0].fate == Fate.UNKNOWN.value
    assert road.unknowns.find("session:session", "add")


async def test_two_different_replacements_withhold(make_road: MakeRoad) -> None:
    """Each may have taken out what the other left in."""
    hooks = [
        ScriptedHook([HookResult(updated_output=text)]).on(POST, name=text) for text in ("a", "b")
    ]
    road = make_road([add(SECRET)], exempt=MUTATE, hooks=hooks)
    result = await road.invoke(road.call("add"))
    assert result.reason == WITHHELD
    assert SECRET not in result.text
    assert "the hooks a and b" in result.text


@pytest.mark.parametrize("denies", [False, True])
@pytest.mark.parametrize("how", ["raises", "interrupt", "late"])
async def test_a_hook_that_fails_on_a_result(make_road: MakeRoad, denies: bool, how: str) -> None:
    """The result is shown as it is, and withheld where failing denies: also if the turn's
    interrupt has cut the hook off."""
    token = InterruptToken()
    held = ScriptedHook([RuntimeError(SECRET)], hold=how != "raises")
    limit = 0.001 if how == "late" else 30.0
    hook = held.on(POST, denies_on_error=denies, timeout=limit)
    road = make_road([add("done")], exempt=MUTATE, hooks=[hook])
    task = asyncio.create_task(road.invoke(road.call("add", interrupt=token)))
    await held.started.wait()
    if how == "interrupt":
        token.interrupt()
    result = await task
    assert (result.text == "done") is not denies
    assert (result.reason == WITHHELD) is denies
    assert held.ended == 1
    assert [r.code for r in road.ledger.outcomes[0].hooks or ()] == ["hook_failed"]


async def test_a_cancellation_while_hooks_are_told_leaves_the_outcome_written(
    make_road: MakeRoad,
) -> None:
    """The call was made, and its record says what came of it."""
    held = ScriptedHook(hold=True)
    road = make_road([add("done")], exempt=MUTATE, hooks=[held.on(POST)] * 2)
    task = asyncio.create_task(road.invoke(road.call("add")))
    await held.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (outcome,) = road.ledger.outcomes
    assert (outcome.fate, outcome.is_error, outcome.attempts) == ("answered", False, 1)
    assert held.ended == len(held.told)


async def test_the_lane_is_free_while_hooks_are_told(make_road: MakeRoad) -> None:
    """A hook may call the very tool; the next call of it does not wait for a hook either."""
    results: list[ToolResult] = []

    async def calls(told: HookInput) -> None:
        if told.call_id != "inner":
            results.append(await road.invoke(road.call("add", id="inner")))

    road = make_road([add()], exempt=MUTATE, hooks=[Hook(POST, calls, "calls", timeout=5.0)])
    async with asyncio.timeout(5):
        await road.invoke(road.call("add"))
    assert [result.is_error for result in results] == [False]


async def test_the_time_of_hooks_is_not_the_calls(make_road: MakeRoad) -> None:
    """The duration in the record ends with the result."""

    async def slow(told: HookInput) -> None:
        del told
        road.clock.advance(60)

    road = make_road([add()], exempt=MUTATE, hooks=[Hook(POST, slow, "slow")])
    await road.invoke(road.call("add"))
    assert road.ledger.outcomes[0].duration == 0


async def test_without_hooks_the_outcome_says_nothing_of_them(make_road: MakeRoad) -> None:
    """Records are as they were."""
    hook = ScriptedHook([HookResult(context="x")])
    road = make_road([add()], exempt=MUTATE, hooks=[hook.on(POST, "other")])
    await road.invoke(road.call("add"))
    assert not road.ledger.outcomes[0].hooks


# ------------------------------------------------------------------ explained


@pytest.mark.req("B-05")
async def test_hooks_are_listed_and_not_run(make_road: MakeRoad) -> None:
    """Those that match, with their names and when; and the verdict holds only if they let it."""
    hook = ScriptedHook.always(DENY)
    hooks = [
        hook.on(PRE, name="guard"),
        hook.on(ASKED, name="asked"),
        hook.on(POST, name="mask"),
        hook.on(PRE, "other", name="elsewhere"),
        hook.on(HookEvent.TURN_START, name="turn"),
    ]
    road = make_road([add()], exempt=MUTATE, hooks=hooks)
    explained = road.invoker.explain(road.call("add"), road.snapshot)
    assert explained.decision is Decision.ALLOW
    assert explained.conditional
    assert [reason.code for reason in explained.hooks] == [
        "hook_before",
        "hook_question",
        "hook_after",
    ]
    text = str(explained)
    assert all(name in text for name in ("guard", "asked", "mask"))
    assert "elsewhere" not in text
    assert hook.told == []
    assert (*[step.name for step in explained.steps], *explained.not_reached) == ROAD


@pytest.mark.req("B-05")
@pytest.mark.parametrize("matcher", [None, "mcp__files__put(path=path:/etc/**)"])
async def test_of_a_tool_those_are_listed_that_may_match(
    make_road: MakeRoad, matcher: str | None
) -> None:
    """Whatever the arguments."""
    road = make_road([ScriptedTool("put", server="files")], hooks=[ScriptedHook().on(PRE, matcher)])
    call = road.call("mcp__files__put")
    assert road.invoker.explain(call, road.snapshot, any_arguments=True).conditional
    told = road.invoker.explain(call, road.snapshot)
    assert told.conditional is (matcher is None)


async def test_a_verdict_without_hooks_is_not_conditional(make_road: MakeRoad) -> None:
    """Nor is one that comes before them, or that only a result's hooks are told of."""
    road = make_road([add()], exempt=MUTATE, hooks=[ScriptedHook().on(POST)])
    explained = road.invoker.explain(road.call("add"), road.snapshot)
    assert not explained.conditional
    assert len(explained.hooks) == 1
    refused = road.invoker.explain(road.call("add", bounds=whole(READ)), road.snapshot)
    assert not refused.hooks
