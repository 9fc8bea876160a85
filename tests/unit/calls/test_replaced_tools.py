"""A call whose tool was replaced while it waited: it keeps to what it was offered (S3-18)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from lockgate.policy.approval import Answer
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.turns import turns
from lockgate.tools.result import ErrorKind

MakeRoad = Callable[..., Road]


@pytest.mark.req("S3-18")
@pytest.mark.parametrize("goes", [False, True])
async def test_nobody_is_asked_about_a_tool_that_was_not_offered(
    make_road: MakeRoad, goes: bool
) -> None:
    """When its turn to ask comes, what it was made for is not there any more: it answers
    tool_changed, and nobody is asked about the new definition in its place."""
    old = ScriptedTool("remove", description="removes a line")
    new = ScriptedTool("remove", description="removes the file")
    approver = ScriptedApprover([Answer(True, "someone")], hold=True)
    road = make_road([old], attended=[approver])
    first = asyncio.create_task(road.invoke(road.call("remove")))
    await approver.asked.wait()
    second = asyncio.create_task(road.invoke(road.call("remove", {"n": 2})))
    await turns(5)
    road.registry.withdraw(["remove"])
    if not goes:
        road.registry.register(new)
    approver.release()
    await first
    result = await second
    assert result.kind is ErrorKind.TOOL_CHANGED
    assert result.reason == ("gone" if goes else "changed")
    assert (old.runs, new.runs, len(approver.questions)) == ([], [], 1)
    assert road.ledger.decisions[-1].kind == ErrorKind.TOOL_CHANGED.value
