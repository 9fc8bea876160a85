"""Hooks are listed by `explain`, and not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lockgate.calls.decide import ROAD
from lockgate.decision import Decision
from lockgate.hooks.event import HookEvent
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.policy.ceiling import whole
from lockgate.testing.hook import ScriptedHook
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
PRE, POST = HookEvent.PRE_TOOL, HookEvent.POST_TOOL
ASKED = HookEvent.PERMISSION_REQUEST
DENY = HookResult(HookDecision.DENY, "it holds a key")


def add(*replies: Any, **extra: Any) -> ScriptedTool:
    """A tool that no gate stops where MUTATING is exempt."""
    return ScriptedTool("add", destructive=False, replies=replies, **extra)


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
