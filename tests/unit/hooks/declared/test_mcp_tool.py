"""A hook that is a tool: what its results mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lockgate.hooks.declared.mcp_tool import REFUSED, ToolHook
from lockgate.hooks.declared.plan import ToolHandler
from lockgate.hooks.declared.template import parse_template
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.failure import HookFailure
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.tools.result import ErrorKind, ToolResult

PRE = HookEvent.PRE_TOOL


class Called:
    """Gives a result, and keeps what it was called with."""

    def __init__(self, result: ToolResult) -> None:
        self.result = result
        self.arguments: list[Mapping[str, Any]] = []

    async def __call__(
        self,
        handler: ToolHandler,
        arguments: Mapping[str, Any],
        told: HookInput,
        *,
        name: str,
        timeout: float,
        source: str = "",
    ) -> ToolResult:
        self.arguments.append(arguments)
        assert (handler.server, name, timeout, source) == (
            "guard",
            "guard: check",
            5.0,
            "f:1 hooks",
        )
        return self.result


async def run(called: Called, told: HookInput, args: Any = None) -> HookResult:
    """One event."""
    template = None if args is None else parse_template(args)
    handler = ToolHandler("guard", "check", template)
    hook = ToolHook(handler, {}, called, name="guard: check", timeout=5.0, source="f:1 hooks")
    return await hook(told)


def at(event: HookEvent) -> HookInput:
    """An event about one call."""
    return HookInput(event, tool_name="Write", tool_input={"a": [1], "b": "x"})


@pytest.mark.req("S3-13")
async def test_templates_render_its_arguments() -> None:
    """From the call it is about; without any it has none."""
    called = Called(ToolResult.of("done"))
    args = {"list": "{{tool_input.a}}", "text": "b is {{tool_input.b}} at {{context.tool_name}}"}
    assert await run(called, at(PRE), args) == HookResult()
    await run(called, at(PRE))
    assert called.arguments == [{"list": [1], "text": "b is x at Write"}, {}]


@pytest.mark.req("S3-13")
async def test_a_template_that_leads_to_nothing_is_a_failure() -> None:
    """And nothing is called."""
    called = Called(ToolResult.of("done"))
    with pytest.raises(HookFailure, match="leads to nothing"):
        await run(called, at(PRE), {"x": "{{tool_input.c}}"})
    assert called.arguments == []


@pytest.mark.req("S3-13")
@pytest.mark.parametrize(
    "result",
    [
        ToolResult.of('{"decision": "deny", "reason": "no"}'),
        ToolResult.of("denied", structured={"decision": "deny", "reason": "no"}),
        ToolResult.of(
            '{"decision": "deny", "reason": "no"}',
            structured={"result": '{"decision": "deny", "reason": "no"}'},
        ),
    ],
    ids=["text", "structured", "text wrapped by the server"],
)
async def test_a_decision_is_read_from_either(result: ToolResult) -> None:
    """From the structured content if it has one, else from the text."""
    assert await run(Called(result), at(PRE)) == HookResult(HookDecision.DENY, "no")


@pytest.mark.parametrize(
    "result",
    [ToolResult.of("stored"), ToolResult.of('{"id": 3}', structured={"id": 3}), ToolResult()],
)
async def test_a_result_without_a_decision_is_a_side_effect(result: ToolResult) -> None:
    """Most tools were not written to be hooks."""
    assert await run(Called(result), at(PRE)) == HookResult()


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("kind", [kind for kind in ErrorKind if kind not in REFUSED])
async def test_an_error_is_a_failure(kind: ErrorKind) -> None:
    """An unknown server or tool, transport failures, time-outs, isError; nothing of its text is
    told."""
    result = ToolResult.error(kind, "hunter2", reason="code")
    with pytest.raises(HookFailure, match=f"failed \\({kind.value}, code\\)") as caught:
        await run(Called(result), at(PRE))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("kind", [kind for kind in ErrorKind if kind in REFUSED])
async def test_a_call_that_policy_refuses_is_no_soft_failure(kind: ErrorKind) -> None:
    """Before a call it denies, with that reason."""
    result = ToolResult.error(kind, "a deny rule matches")
    denied = await run(Called(result), at(PRE))
    assert denied.decision is HookDecision.DENY
    assert denied.reason == "its call of guard's check is refused: a deny rule matches"
    for event in (HookEvent.POST_TOOL, HookEvent.TURN_STOP):
        with pytest.raises(HookFailure, match="is refused"):
            await run(Called(result), at(event))
