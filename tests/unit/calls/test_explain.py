"""`explain` tells the road that `invoke` would take, and takes none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockgate.calls.decide import ROAD
from lockgate.decision import Decision
from lockgate.policy.approval import Answer, Scope
from lockgate.policy.ceiling import whole
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
SCHEMA = {"type": "object", "required": ["path"]}
RULES = RuleSet(
    (
        parse_rule("denied", Decision.DENY, source="lockgate.yaml:3"),
        parse_rule("allowed", Decision.ALLOW, source="lockgate.yaml:5"),
    )
)


def a_road(make_road: MakeRoad) -> tuple[Road, ScriptedApprover]:
    """One tool for each way a call can go."""
    approver = ScriptedApprover.always(True)
    tools = [
        ScriptedTool("reads", level=READ),
        ScriptedTool("denied", destructive=False),
        ScriptedTool("allowed", destructive=False),
        ScriptedTool("removes", input_schema=SCHEMA),
    ]
    return make_road(tools, rules=RULES, attended=[approver]), approver


@pytest.mark.parametrize(
    ("tool", "arguments", "decision", "last", "code"),
    [
        ("reads", {}, Decision.ALLOW, "gate", "exempt"),
        ("denied", {}, Decision.DENY, "deny rules", "deny_rule"),
        ("allowed", {}, Decision.ALLOW, "answer", "allow_rule"),
        ("removes", {}, Decision.DENY, "arguments", "invalid_arguments"),
        ("removes", {"path": "x"}, Decision.ASK, "answer", "approvers"),
        ("nothing", {}, Decision.DENY, "name", "unknown_tool"),
    ],
)
async def test_every_step_has_its_decision_and_reason(
    make_road: MakeRoad,
    tool: str,
    arguments: dict[str, str],
    decision: Decision,
    last: str,
    code: str,
) -> None:
    """The steps come in the order of the road, each with why; the rest is told as not reached."""
    road, approver = a_road(make_road)
    explanation = road.invoker.explain(road.call(tool, arguments), road.snapshot)
    assert explanation.decision is decision
    assert explanation.steps[-1].name == last
    assert explanation.steps[-1].reasons[0].code == code
    told = [step.name for step in explanation.steps]
    assert (*told, *explanation.not_reached) == ROAD
    assert all(step.reasons for step in explanation.steps)
    text = str(explanation)
    assert all(name in text for name in ROAD)
    assert approver.questions == []
    assert road.ledger.records == []


async def test_it_agrees_with_what_happens(make_road: MakeRoad) -> None:
    """What is explained and what is done are one decision."""
    road, _ = a_road(make_road)
    for tool in ("reads", "denied", "removes", "nothing"):
        call = road.call(tool)
        explained = road.invoker.explain(call, road.snapshot).decision
        assert (explained is Decision.DENY) is (await road.invoke(call)).is_error


async def test_sources_are_told(make_road: MakeRoad) -> None:
    """The rule behind a decision is named with the place where it stands."""
    road, _ = a_road(make_road)
    assert "lockgate.yaml:3" in str(road.invoker.explain(road.call("denied"), road.snapshot))


async def test_a_grant_is_told(make_road: MakeRoad) -> None:
    """What the session remembers is part of the explanation."""
    road, approver = a_road(make_road)
    await road.invoke(road.call("removes", {"path": "x"}))
    assert len(approver.questions) == 1
    plain = road.invoker.explain(road.call("removes", {"path": "x"}), road.snapshot)
    assert plain.decision is Decision.ASK
    call = road.call("removes", {"path": "x"}, session=None)
    assert road.invoker.explain(call, road.snapshot).decision is Decision.ASK


async def test_a_tool_can_be_explained_without_arguments(make_road: MakeRoad) -> None:
    """With the arguments left aside it is about the tool, and no schema stands in the way."""
    road, _ = a_road(make_road)
    explanation = road.invoker.explain(road.call("removes"), road.snapshot, any_arguments=True)
    assert explanation.decision is Decision.ASK
    assert any(step.reasons[0].code == "not_given" for step in explanation.steps)
    assert explanation.origin is not None
    assert explanation.found is not None


async def test_nobody_to_ask_is_a_refusal_on_paper_too(make_road: MakeRoad) -> None:
    """Where nobody is asked, the explanation says no, as the call would hear."""
    road, _ = a_road(make_road)
    call = road.call("removes", {"path": "x"}, attended=False)
    explanation = road.invoker.explain(call, road.snapshot)
    assert explanation.decision is Decision.DENY
    assert explanation.verdict.reasons
    assert (await road.invoke(call)).kind is ErrorKind.NOT_APPROVED


@pytest.mark.req("S0-05")
async def test_a_refusal_by_the_ceiling_names_tool_and_levels(make_road: MakeRoad) -> None:
    """Tool, declared level and allowed level stand in the explanation and in the result."""
    road, _ = a_road(make_road)
    call = road.call("allowed", bounds=whole(READ))
    for text in (
        str(road.invoker.explain(call, road.snapshot)),
        (await road.invoke(call)).text,
    ):
        assert "allowed is declared mutating" in text
        assert "allows read-only" in text


async def test_an_answer_of_the_session_shows(make_road: MakeRoad) -> None:
    """After a yes for the session the explanation says who gave it."""
    approver = ScriptedApprover([Answer(True, "", Scope.SESSION)])
    road = make_road([ScriptedTool("adds", destructive=False)], attended=[approver])
    await road.invoke(road.call("adds"))
    explanation = road.invoker.explain(road.call("adds"), road.snapshot)
    assert explanation.decision is Decision.ALLOW
    assert "scripted approved it" in str(explanation)


@pytest.mark.req("S0-08")
async def test_a_rule_that_does_not_answer_says_why(make_road: MakeRoad) -> None:
    """An allow rule on a destructive tool, or over an open unknown, matches and answers nothing."""
    rules = RuleSet((parse_rule("drop", Decision.ALLOW), parse_rule("add", Decision.ALLOW)))
    tools = [ScriptedTool("drop"), ScriptedTool("add", destructive=False)]
    road = make_road(tools, rules=rules, attended=[ScriptedApprover.always(True)])
    told = str(road.invoker.explain(road.call("drop"), road.snapshot))
    assert "the allow rule drop answers for no destructive call" in told
    assert "it does not say destructive: true" in told
    assert "answers" not in str(road.invoker.explain(road.call("add"), road.snapshot))
    road.leave_open(road.call("add"))
    assert "while an outcome is unknown" in str(
        road.invoker.explain(road.call("add"), road.snapshot)
    )


async def test_an_unknown_name_is_explained_with_what_may_be_meant(make_road: MakeRoad) -> None:
    """As `call` does."""
    road, _ = a_road(make_road)
    explained = road.invoker.explain(road.call("reds"), road.snapshot)
    assert "did you mean reads?" in str(explained)
