"""What a model is told of tools and servers that came and went between two turns (S3-18)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from lockgate.agent.changes import TOLD, Changes
from lockgate.agent.instructions import BASE
from lockgate.agent.model import ModelReply, ToolCall
from lockgate.testing.model import FakeModel
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.tools.result import ToolResult
from lockgate.tools.tool import Tool
from lockgate.traits import SideEffectLevel


def _tools(*names: str, description: str = "") -> tuple[Tool, ...]:
    return tuple(ScriptedTool(name, server="s", description=description) for name in names)


@pytest.mark.req("S3-18")
def test_what_differs_is_told_in_one_line() -> None:
    """New, gone, and what is defined otherwise under the same name; nothing of the first turn."""
    changes = Changes()
    same = _tools("same")
    assert changes.since((*same, *_tools("a", "b")), ()) == ()
    now = (*same, *_tools("b", description="Another."), *_tools("c"))
    assert changes.since(now, ()) == (
        "Your tools have changed since your last turn. New: mcp__s__c. Gone: mcp__s__a. With "
        "another definition: mcp__s__b.",
    )
    assert changes.since(now, ()) == ()
    assert changes.since(tuple(now), ()) == ()


def test_a_server_that_is_there_again_is_told() -> None:
    """That one is missing is told by the instructions, in each turn."""
    changes = Changes()
    assert changes.since((), ("git", "files")) == ()
    assert changes.since((), ("git",)) == ("There again, after they were not: files.",)
    assert changes.since((), ("git",)) == ()
    assert changes.since((), ()) == ("There again, after they were not: git.",)


def test_however_many_there_are_the_line_is_bounded() -> None:
    """The rest is counted."""
    changes = Changes()
    changes.since((), ())
    (line,) = changes.since(_tools(*(f"t{n}" for n in range(TOLD + 5))), ())
    assert line.endswith(f"mcp__s__t{TOLD - 1} and 5 more.")


@pytest.mark.req("S3-18")
async def test_the_next_turn_has_the_new_tools_and_says_so(tmp_path: Path) -> None:
    """Registered while a turn runs: it neither shows nor finds it, the next one does both."""
    late = ScriptedTool("late", server="s", level=SideEffectLevel.READ_ONLY)
    ask = ModelReply("", (ToolCall("1", late.name, {}),))
    model = FakeModel([ask, ModelReply("one"), ask, ModelReply("two")])
    async with Workbench(tmp_path) as bench:
        agent = bench.agent(model)
        first = agent.run("a", sink=lambda event: _once(bench, late))
        (unknown,) = (await first).calls
        (found,) = (await agent.run("b")).calls
    assert isinstance(unknown.result, ToolResult)
    assert unknown.result.reason == "no_such_tool"
    assert found.result == ToolResult.of("ok")
    told = [seen.instructions.removeprefix(BASE).strip() for seen in model.seen]
    assert told[:2] == ["", ""]
    assert told[2:] == [f"Your tools have changed since your last turn. New: {late.name}."] * 2
    names = [[d.name for d in seen.tools] for seen in model.seen]
    assert names == [[], [], [late.name], [late.name]]


def _once(bench: Workbench, tool: Tool) -> None:
    if tool.name not in bench.registry.snapshot():
        bench.registry.register(tool)


class _Servers:
    """Counts the turns."""

    failed: Mapping[str, str] = {}

    def __init__(self) -> None:
        self.turns = 0

    def turn_begins(self) -> None:
        """One more."""
        self.turns += 1

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.req("S3-18")
async def test_each_turn_is_an_edge(tmp_path: Path) -> None:
    """The servers are told before the tools of the turn are looked at."""
    servers = _Servers()
    async with Workbench(tmp_path, servers=servers) as bench:
        agent = bench.agent(FakeModel([ModelReply("one"), ModelReply("two")]))
        await agent.run("a")
        assert servers.turns == 1
        await agent.run("b")
        assert servers.turns == 2
