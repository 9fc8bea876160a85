"""What hooks before a call make of its arguments is what everything after them sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lockgate.decision import Decision
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.policy.approval import Answer, Later
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.hook import ScriptedHook
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
MUTATE = SideEffectLevel.MUTATING
PRE = HookEvent.PRE_TOOL
SECRET = "hunter2"  # noqa: S105 - a stand-in that must not turn up
DENY = HookResult(HookDecision.DENY, "not on Fridays")
ASK = HookResult(HookDecision.ASK, "a release")
ALLOW = HookResult(HookDecision.ALLOW, "fine by me")
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}


def add() -> ScriptedTool:
    """A tool that no gate stops where MUTATING is exempt."""
    return ScriptedTool("add", destructive=False)


def rules(*given: tuple[str, Decision]) -> RuleSet:
    """Rules of the lists named."""
    return RuleSet(tuple(parse_rule(text, decision) for text, decision in given))


@pytest.mark.req("B-01")
async def test_a_rewrite_is_what_everything_sees_from_then_on(make_road: MakeRoad) -> None:
    """Schema, rules, the question, its digest, the record and the tool: the final arguments and
    no others."""
    tool = ScriptedTool("move", input_schema=SCHEMA, server="files")
    approver = ScriptedApprover.always(True)
    hook = ScriptedHook.always(HookResult(reason="tidy", updated_input={"path": "/new"}))
    road = make_road([tool], attended=[approver], hooks=[hook.on(PRE)])
    plain = make_road([tool], attended=[approver], owner="other")
    # The first ones would not even fit the schema.
    assert not (await road.invoke(road.call("mcp__files__move", {"wrong": SECRET}))).is_error
    await plain.invoke(plain.call("mcp__files__move", {"path": "/new"}))
    assert tool.runs == [{"path": "/new"}] * 2
    assert [question.arguments for question in approver.questions] == [{"path": "/new"}] * 2
    assert approver.questions[0].digest == approver.questions[1].digest
    mine, other = road.ledger.decisions[0], plain.ledger.decisions[0]
    assert mine.arguments_digest == other.arguments_digest
    assert [reason.code for reason in mine.reasons] == [
        "destructive",
        "not_exempt",
        "hook_rewrites",
    ]


@pytest.mark.parametrize("path", ["/denied/x", "/asked/x"])
async def test_rules_judge_a_rewrite(make_road: MakeRoad, path: str) -> None:
    """A hook can not rewrite a call past a rule."""
    tool = ScriptedTool("put", server="files", destructive=False)
    given = rules(
        ("mcp__files__put(path=/denied/*)", Decision.DENY),
        ("mcp__files__put(path=/asked/*)", Decision.ASK),
        ("mcp__files__put", Decision.ALLOW),
    )
    hook = ScriptedHook([HookResult(HookDecision.ALLOW, updated_input={"path": path})])
    road = make_road([tool], rules=given, exempt=MUTATE, hooks=[hook.on(PRE)])
    result = await road.invoke(road.call("mcp__files__put", {"path": "/fine"}))
    assert result.kind in (ErrorKind.DENIED, ErrorKind.NOT_APPROVED)
    assert tool.runs == []


async def test_a_rewrite_that_does_not_fit_is_refused_as_any_call(make_road: MakeRoad) -> None:
    """The schema holds for hooks too."""
    tool = ScriptedTool("move", input_schema=SCHEMA)
    hook = ScriptedHook([HookResult(updated_input={"path": 3})])
    road = make_road([tool], attended=[ScriptedApprover.always(True)], hooks=[hook.on(PRE)])
    result = await road.invoke(road.call("move", {"path": "/fine"}))
    assert result.kind is ErrorKind.INVALID_ARGUMENTS
    assert tool.runs == []


async def test_a_rewrite_that_is_no_json_refuses_the_call(make_road: MakeRoad) -> None:
    """Whatever was meant, the call that came in is not what the hook wanted made."""
    tool = add()
    hook = ScriptedHook([HookResult(updated_input={"x": float("nan")})])
    road = make_road([tool], exempt=MUTATE, hooks=[hook.on(PRE)])
    result = await road.invoke(road.call("add", {"x": 1}))
    assert (result.kind, result.reason) == (ErrorKind.DENIED, "hook")
    assert tool.runs == []


async def test_two_different_rewrites_are_a_refusal_with_both_named(make_road: MakeRoad) -> None:
    """Neither call is the one that both wanted."""
    one = ScriptedHook([HookResult(updated_input={"x": 1})]).on(PRE, name="one")
    two = ScriptedHook([HookResult(updated_input={"x": 2})]).on(PRE, name="two")
    road = make_road([add()], exempt=MUTATE, hooks=[one, two])
    result = await road.invoke(road.call("add", {"x": 0}))
    assert result.reason == "hook"
    assert "the hooks one and two" in result.text


async def test_what_a_hook_does_with_its_rewrite_later_changes_nothing(
    make_road: MakeRoad,
) -> None:
    """It was copied when it was said."""
    mine: dict[str, Any] = {"list": [1]}

    async def rewrites(told: HookInput) -> HookResult:
        del told
        return HookResult(updated_input=mine)

    class Changes(ScriptedApprover):
        async def __call__(self, question: Any) -> Any:
            mine["list"].append(2)
            return await super().__call__(question)

    tool = ScriptedTool("add")
    approver = Changes([Answer(True, "")])
    road = make_road([tool], attended=[approver], hooks=[Hook(PRE, rewrites, "rewrites")])
    assert not (await road.invoke(road.call("add"))).is_error
    assert tool.runs == [{"list": [1]}]


@pytest.mark.req("B-14")
async def test_a_ticket_holds_what_hooks_left_and_is_resumed_without_them(
    make_road: MakeRoad,
) -> None:
    """The rewritten arguments, the reason it is asked for and what the model is to be told survive
    the process; the hooks of the one that resumes are not asked again."""
    tool = add()
    said = HookResult(HookDecision.ASK, "a release", {"x": 2}, "mind the gap")
    road = make_road(
        [tool],
        exempt=MUTATE,
        attended=[ScriptedApprover([Later()])],
        hooks=[ScriptedHook([said]).on(PRE)],
    )
    ticket = (await road.suspend(road.call("add", {"x": 1}))).ticket
    before, after = ScriptedHook([DENY]), ScriptedHook()
    other = make_road(
        [tool],
        rules=rules(("add", Decision.ALLOW)),
        exempt=MUTATE,
        owner="other",
        hooks=[before.on(PRE), after.on(HookEvent.POST_TOOL)],
    )
    result: Any = await other.invoker.resume(ticket, Answer(True, "ann"), other.snapshot)
    assert not result.is_error
    assert "mind the gap" in result.text
    assert tool.runs == [{"x": 2}]
    assert before.told == []
    assert after.told[0].tool_input == {"x": 2}
    assert [reason.code for reason in other.ledger.decisions[0].reasons] == ["hook_asks"]


async def test_a_resumed_call_is_no_answer_to_a_hooks_ask(make_road: MakeRoad) -> None:
    """A no to the ticket stays one, whatever rules allow by now."""
    road = make_road(
        [add()],
        exempt=MUTATE,
        attended=[ScriptedApprover([Later()])],
        hooks=[ScriptedHook([ASK]).on(PRE)],
    )
    ticket = (await road.suspend(road.call("add"))).ticket
    result: Any = await road.invoker.resume(ticket, Answer(False, "ann"), road.snapshot)
    assert result.reason == "said_no"


async def test_a_hook_can_not_change_the_arguments_by_the_way(make_road: MakeRoad) -> None:
    """It has a copy; what it changes there is nobody's."""

    async def changes(told: HookInput) -> None:
        arguments: Any = told.tool_input
        arguments["x"]["y"] = 2

    tool = add()
    road = make_road([tool], exempt=MUTATE, hooks=[Hook(PRE, changes, "changes")])
    await road.invoke(road.call("add", {"x": {"y": 1}}))
    assert tool.runs == [{"x": {"y": 1}}]
