"""Hooks of a question and of a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lockgate.decision import Decision
from lockgate.hooks.event import HookEvent
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.policy.approval import Answer
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
ASKED, DENIED = HookEvent.PERMISSION_REQUEST, HookEvent.PERMISSION_DENIED
DENY = HookResult(HookDecision.DENY, "it holds a key")


def add(*replies: Any, **extra: Any) -> ScriptedTool:
    """A tool that no gate stops where MUTATING is exempt."""
    return ScriptedTool("add", destructive=False, replies=replies, **extra)


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
