"""A hook's own call: answered by its declaration, for one tool, and told to no hook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lockgate.calls.declared import HOOK, DeclaredCall
from lockgate.decision import Decision
from lockgate.errors import LocalError
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
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
DENY = HookResult(HookDecision.DENY, "not on Fridays")
ASK = HookResult(HookDecision.ASK, "a release")
ALLOW = HookResult(HookDecision.ALLOW, "fine by me")


def add() -> ScriptedTool:
    """A tool that no gate stops where MUTATING is exempt."""
    return ScriptedTool("add", destructive=False)


def rules(*given: tuple[str, Decision]) -> RuleSet:
    """Rules of the lists named."""
    return RuleSet(tuple(parse_rule(text, decision) for text, decision in given))


DECLARED = DeclaredCall("files", "drop", "lockgate.yaml hooks[0]")


def its_road(make_road: MakeRoad, hook: ScriptedHook, **extra: Any) -> tuple[Road, ScriptedTool]:
    """A road on which hooks of every event hear of everything, and approvers would say yes."""
    tool = ScriptedTool("drop", server="files")
    other = ScriptedTool("other", server="files")
    hooks = [hook.on(event) for event in HookEvent if event.is_about_a_call]
    approver = ScriptedApprover.always(True)
    road = make_road([tool, other], attended=[approver], hooks=hooks, **extra)
    return road, tool


def its_call(road: Road, name: str = "mcp__files__drop", **extra: Any) -> Any:
    """A hook's own call."""
    given: dict[str, Any] = {"entry": HOOK, "declared": DECLARED, **extra}
    return road.call(name, {}, **given)


@pytest.mark.req("S3-13")
async def test_a_hooks_own_call_is_answered_by_its_declaration(make_road: MakeRoad) -> None:
    """Nobody is asked, though the tool is destructive; the record names `hook` and the place."""
    hook = ScriptedHook.always(DENY)
    road, tool = its_road(make_road, hook)
    assert not (await road.invoke(its_call(road))).is_error
    assert len(tool.runs) == 1
    record = road.ledger.decisions[0]
    assert (record.entry, record.approver, record.approved) == (HOOK, HOOK, True)
    assert record.reasons[0].source == "lockgate.yaml hooks[0]"
    assert hook.told == []


@pytest.mark.req("S3-13")
@pytest.mark.parametrize(
    ("extra", "name"),
    [
        ({}, "mcp__files__other"),
        ({"declared": None}, "mcp__files__drop"),
        ({"entry": "agent"}, "mcp__files__drop"),
        ({"declared": DeclaredCall("other", "drop", "x")}, "mcp__files__drop"),
        ({"declared": DeclaredCall("files", "dro", "x")}, "mcp__files__drop"),
    ],
)
async def test_a_declaration_answers_for_exactly_its_tool(
    make_road: MakeRoad, extra: Mapping[str, Any], name: str
) -> None:
    """Another tool, none declared, or a call that is no hook's: refused, and nobody is asked."""
    hook = ScriptedHook()
    road, tool = its_road(make_road, hook)
    result = await road.invoke(its_call(road, name, **extra))
    assert (result.kind, result.reason) == (ErrorKind.NOT_OFFERED, "undeclared")
    assert tool.runs == []


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("how", ["deny rule", "deny rule by argument", "ceiling"])
async def test_ceiling_and_deny_rules_hold_for_a_hooks_own_call(
    make_road: MakeRoad, how: str
) -> None:
    """A declaration is an answer, no permission."""
    text = "mcp__files__drop" if how == "deny rule" else "mcp__files__drop(x=1)"
    given = rules() if how == "ceiling" else rules((text, Decision.DENY))
    road, tool = its_road(make_road, ScriptedHook(), rules=given)
    call = its_call(road, bounds=whole(READ if how == "ceiling" else MUTATE))
    if how == "deny rule by argument":
        call = road.call("mcp__files__drop", {"x": 1}, entry=HOOK, declared=DECLARED)
    result = await road.invoke(call)
    assert result.kind is (ErrorKind.ABOVE_CEILING if how == "ceiling" else ErrorKind.DENIED)
    assert tool.runs == []


async def test_an_open_unknown_is_not_answered_by_a_declaration(make_road: MakeRoad) -> None:
    """Nobody knew of it when it was declared; and nobody is asked (B-03)."""
    road, tool = its_road(make_road, ScriptedHook())
    road.leave_open(road.call("mcp__files__drop"))
    result = await road.invoke(its_call(road))
    assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "nobody_to_ask")
    assert tool.runs == []


async def test_no_grant_counts_for_a_hooks_own_call(make_road: MakeRoad) -> None:
    """Neither a yes nor a no of the session is about what configuration declares."""
    road = make_road(
        [ScriptedTool("drop", server="files")],
        attended=[ScriptedApprover([Answer(False, "", Scope.SESSION)])],
    )
    assert (await road.invoke(road.call("mcp__files__drop"))).is_error
    assert not (await road.invoke(its_call(road))).is_error


async def test_no_approver_may_be_called_hook(make_road: MakeRoad) -> None:
    """In records the name says that no approver answered."""
    with pytest.raises(LocalError, match="hook"):
        make_road([add()], attended=[ScriptedApprover(name="hook")])
