"""The call of a hook that is a tool: whose it is, and what it may."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lockgate.bridges.hook_caller import HookCaller
from lockgate.calls.call import Call, Suspended
from lockgate.decision import Decision
from lockgate.hooks.declared.plan import ToolHandler
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.failure import HookFailure
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment
from lockgate.tools.registry import Snapshot
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
HANDLER = ToolHandler("guard", "check")
TOLD = HookInput(HookEvent.PRE_TOOL, session_id="s", tool_name="Bash", call_id="c7")


@pytest.fixture
def make_road(tmp_path: Path) -> Iterator[Callable[..., Road]]:
    """Makes roads, closed after the test."""
    made: list[Road] = []

    def make(*args: Any, **kwargs: Any) -> Road:
        made.append(Road(tmp_path, *args, **kwargs))
        return made[-1]

    yield make
    for road in made:
        road.close()


def caller(road: Road, *, ceiling: SideEffectLevel = MUTATE) -> HookCaller:
    """One on this road."""
    ids = iter(range(1000))
    return HookCaller(
        road.invoker.invoke,
        road.registry.snapshot,
        ceiling=ceiling,
        environment=Environment(Path("/")),
        new_id=lambda: f"id-{next(ids)}",
    )


async def call(made: HookCaller, told: HookInput = TOLD) -> ToolResult:
    """One call."""
    return await made(HANDLER, {"n": 1}, told, name="checker", timeout=5.0, source="f:1 hooks")


@pytest.mark.req("S3-13")
async def test_it_is_an_execution_of_its_own(tmp_path: Path) -> None:
    """Entry `hook`, no session, nobody there, the hook's name, and the call that it is about."""
    calls: list[Call] = []

    async def invoke(call: Call, snapshot: Snapshot) -> ToolResult | Suspended:
        del snapshot
        calls.append(call)
        return ToolResult.of("ok")

    made = HookCaller(
        invoke,
        lambda: Snapshot({}, 0),
        ceiling=MUTATE,
        environment=Environment(tmp_path),
        new_id=lambda: "id",
    )
    assert (await call(made)).text == "ok"
    [one] = calls
    execution = one.execution
    assert (one.name, one.parent_call, one.timeout) == ("mcp__guard__check", "c7", 5.0)
    assert (execution.entry, execution.session_id, execution.attended) == ("hook", None, False)
    assert execution.agent == "hook checker"
    assert execution.bounds.offer == frozenset({"mcp__guard__check"})


@pytest.mark.req("S3-13")
async def test_the_declaration_is_the_answer(make_road: Callable[..., Road]) -> None:
    """For a destructive tool, an ask rule included; no approver is asked."""
    tool = ScriptedTool("check", server="guard")
    approver = ScriptedApprover.always(False)
    rules = RuleSet((parse_rule("mcp__guard__*", Decision.ASK),))
    road = make_road([tool], rules=rules, attended=[approver], unattended=[approver])
    assert not (await call(caller(road))).is_error
    assert approver.questions == []
    assert tool.runs == [{"n": 1}]


@pytest.mark.parametrize(
    ("ceiling", "told", "kind"),
    [
        (READ, None, ErrorKind.ABOVE_CEILING),
        (MUTATE, READ, ErrorKind.ABOVE_CEILING),
        (MUTATE, MUTATE, None),
        (READ, MUTATE, ErrorKind.ABOVE_CEILING),
    ],
)
async def test_the_lower_ceiling_holds(
    make_road: Callable[..., Road],
    ceiling: SideEffectLevel,
    told: SideEffectLevel | None,
    kind: ErrorKind | None,
) -> None:
    """Of the configuration and of the execution that it is about."""
    road = make_road([ScriptedTool("check", server="guard")])
    about = HookInput(HookEvent.PRE_TOOL, ceiling=told)
    assert (await call(caller(road, ceiling=ceiling), about)).kind is kind


async def test_a_tool_that_is_not_there_is_no_refusal(make_road: Callable[..., Road]) -> None:
    """An unknown server is what a hook fails with, not what policy says."""
    road = make_road([ScriptedTool("check", server="other")])
    assert (await call(caller(road))).kind is ErrorKind.UNKNOWN_TOOL


async def test_a_call_that_waits_is_a_failure(tmp_path: Path) -> None:
    """It never does on the road of today; a hook would wait for nobody."""

    async def invoke(call: Call, snapshot: Snapshot) -> ToolResult | Suspended:
        del snapshot
        return Suspended("t", call.name, 0.0)

    made = HookCaller(
        invoke,
        lambda: Snapshot({}, 0),
        ceiling=MUTATE,
        environment=Environment(tmp_path),
        new_id=lambda: "id",
    )
    with pytest.raises(HookFailure, match="waits"):
        await call(made)
