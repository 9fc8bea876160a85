"""todo: a list that the transcript keeps, and the tool does not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lockgate.testing.road import Road
from lockgate.tools.result import ErrorKind, ToolResult

Keep = Callable[..., Awaitable[ToolResult]]


def item(content: str, status: str = "pending") -> dict[str, Any]:
    """One step."""
    return {"content": content, "status": status}


async def test_the_list_is_given_back_for_people_to_read(keep: Keep) -> None:
    """With a mark for how far each step is, and what a terminal obeys as escapes."""
    steps = [item("읽기", "completed"), item("do\x1b[2J it", "in_progress"), item("tell")]
    result = await keep("todo", items=steps)
    assert result.text == "1 of 3 steps done\n[x] 읽기\n[>] do\\x1b[2J it\n[ ] tell"
    assert result.structured == {"pending": 1, "in_progress": 1, "completed": 1}
    assert (await keep("todo", items=[])).text == "no steps"


async def test_several_steps_may_be_under_way(keep: Keep) -> None:
    """Sub-agents work at the same time; one at a time is advice, not a rule."""
    result = await keep("todo", items=[item("a", "in_progress"), item("b", "in_progress")])
    assert result.structured["in_progress"] == 2


async def test_nobody_is_asked_and_nothing_is_kept(
    keeping_road: Callable[..., Road],
) -> None:
    """It is bookkeeping of the execution: allowed under any ceiling, asked about by no default."""
    road = keeping_road(attended=[])
    first = await road.invoke(road.call("todo", {"items": [item("a")]}))
    second = await road.invoke(road.call("todo", {"items": [item("b")]}))
    assert "a" in first.text.split()
    assert "a" not in second.text.split()


@pytest.mark.parametrize(
    "items",
    [
        [item("a", "done")],
        [item("")],
        [{"content": "a"}],
        [{**item("a"), "owner": "me"}],
        [item("a" * 501)],
        [item("a")] * 101,
        "a",
    ],
)
async def test_what_is_no_list_of_steps_is_refused(keep: Keep, items: Any) -> None:
    """By the schema, with what is wrong."""
    assert (await keep("todo", items=items)).kind is ErrorKind.INVALID_ARGUMENTS
