"""What a child gets is never more than its parent has, however deep and whatever it wishes."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.agent.children import Children
from lockgate.agent.limits import TurnLimits
from lockgate.agent.wish import Wish, limited, narrowed
from lockgate.policy.ceiling import refusal, shown, whole
from lockgate.rules.offers import bind_offer
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import FakeModel, asking
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.tools.context import Bounds, ToolContext
from lockgate.tools.declared import DeclaredTool
from lockgate.tools.fingerprint import Fingerprint
from lockgate.tools.origin import Origin
from lockgate.tools.registry import Registry, Snapshot
from lockgate.tools.result import ToolResult
from lockgate.tools.tool import ToolDefinition
from lockgate.traits import SideEffectLevel

READ_ONLY, MUTATING = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
TOOLS = (
    ("look", None, READ_ONLY),
    ("write", None, MUTATING),
    ("read", "git", READ_ONLY),
    ("reset", "git", MUTATING),
    ("read", "git-hub", READ_ONLY),
    ("drop", "db", MUTATING),
)
PATTERNS = (
    *("look", "write", "delegate", "read", "Look", "nothing", "mcp__git", "mcp__git__*"),
    *("mcp__git__read", "mcp__git__reset", "mcp__git-hub__*", "mcp__db", "mcp__db__drop"),
    "mcp__git__nothing",
)

offers = st.none() | st.lists(st.sampled_from(PATTERNS), max_size=5).map(tuple)
ceilings = st.none() | st.sampled_from([READ_ONLY, MUTATING])


def a_wish(ceiling: SideEffectLevel | None, offer: tuple[str, ...] | None) -> Wish:
    """A wish for these bounds."""
    return Wish("c", "subagent", "x", "go", ceiling, offer)


wishes = st.builds(a_wish, ceilings, offers)


def the_tools() -> list[ScriptedTool]:
    """Local ones and those of servers, on both levels."""
    return [
        ScriptedTool(name, server=server, level=level, concurrent=True)
        for name, server, level in TOOLS
    ]


def snapshot() -> Snapshot:
    """All of them, registered."""
    registry = Registry()
    registry.register_all(the_tools())
    return registry.snapshot()


SNAPSHOT = snapshot()


def names(bounds: Bounds) -> set[str]:
    """What is shown within bounds."""
    return {tool.name for tool in shown(SNAPSHOT, bounds)}


@pytest.mark.req("B-04")
@pytest.mark.req("S0-06")
@given(st.sampled_from([READ_ONLY, MUTATING]), offers, st.lists(wishes, min_size=1, max_size=10))
def test_no_descendant_has_more_than_its_parent(
    ceiling: SideEffectLevel, offer: tuple[str, ...] | None, chain: list[Wish]
) -> None:
    """To depth 10: not a tool, not a level, not by any pattern; and what is shown is what may be
    called, by the same function."""
    parent = whole(ceiling, bind_offer(offer, SNAPSHOT))
    for wish in chain:
        child = narrowed(parent, wish, SNAPSHOT)
        assert names(child) <= names(parent)
        assert parent.ceiling.permits(child.ceiling)
        if wish.ceiling is not None:
            assert wish.ceiling.permits(child.ceiling)
        if wish.offer is not None:
            allowed = bind_offer(wish.offer, SNAPSHOT)
            assert allowed is not None
            assert names(child) <= allowed
        if parent.offer is not None:
            assert child.offer is not None, "a parent's offer is never lifted"
            assert child.offer <= parent.offer
        for entry in SNAPSHOT.entries.values():
            assert (refusal(entry, child) is None) == (entry.name in names(child))
        parent = child


@pytest.mark.req("B-04")
def test_an_empty_offer_is_nothing_and_stays_so() -> None:
    """Whoever wishes for everything below it has nothing."""
    nothing = narrowed(whole(MUTATING), Wish("c", "e", "x", "go", offer=()), SNAPSHOT)
    assert names(nothing) == set()
    assert names(narrowed(nothing, Wish("c", "e", "x", "go"), SNAPSHOT)) == set()
    assert names(narrowed(nothing, Wish("c", "e", "x", "go", offer=("look",)), SNAPSHOT)) == set()


class Descend(DeclaredTool):
    """Each call is the work of a child with the next wish."""

    def __init__(self, children: Children, chain: list[Wish]) -> None:
        origin = Origin("local", None, "delegate", Fingerprint("0" * 64, ()))
        definition = ToolDefinition("delegate", "", {"type": "object"}, origin)
        super().__init__(definition, level=READ_ONLY, concurrent=True)
        self._children, self._chain = children, iter(chain)

    async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        result = await self._children.run(next(self._chain), context)
        return ToolResult.of(str(result))


async def descend(directory: Path, chain: list[Wish]) -> None:
    """Have real executions nested as deep as the chain; every one of them tries every tool."""
    tools = the_tools()
    every = [tool.name for tool in tools]
    children = Children(max_depth=10, at_once=10)
    bounds, expected = [whole(MUTATING)], 0
    full = Registry()
    full.register_all([*the_tools(), Descend(children, chain)])
    depth = 0
    for wish in chain:
        if "delegate" not in {tool.name for tool in shown(full.snapshot(), bounds[-1])}:
            break
        bounds.append(narrowed(bounds[-1], wish, full.snapshot()))
        depth += 1
    steps = [asking(*every, "delegate") for _ in range(depth + 1)]
    model = FakeModel(steps)
    approver = ScriptedApprover.always(True, times=1000)
    tool = Descend(children, chain)
    async with Workbench(directory, [*tools, tool], approvers=[approver]) as bench:
        children.serve(bench.runtime)
        await bench.agent(model, limits=TurnLimits(iterations=3)).run("go")
        for seen, bound in zip(model.seen[: depth + 1], bounds, strict=True):
            allowed = {one.name for one in shown(full.snapshot(), bound)}
            assert set(seen.names) == allowed
            expected += len(allowed & set(every))
        assert sum(len(one.runs) for one in tools) == expected


@pytest.mark.req("B-04")
@settings(max_examples=15, deadline=None)
@given(st.lists(wishes, min_size=10, max_size=10))
def test_real_executions_ten_deep_run_what_all_above_allow(chain: list[Wish]) -> None:
    """What is run at each depth is what is shown there, and nothing else reaches a tool."""
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(descend(Path(directory), chain))


def test_ten_deep_without_wishes_everything_is_there() -> None:
    """The chain of the test above does get to its end."""
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(descend(Path(directory), [Wish("c", "subagent", "x", "go")] * 10))


@pytest.mark.parametrize(("wished", "got"), [(None, 50), (5, 5), (500, 50)])
def test_limits_are_the_parents_at_most(wished: int | None, got: int) -> None:
    """A wish for less is granted, one for more is not."""
    wish = Wish("c", "e", "x", "go", iterations=wished, seconds=wished)
    context = ToolContext(None, "call")  # pyright: ignore[reportArgumentType] - not looked at
    limits = limited(TurnLimits(iterations=50, seconds=50), wish, context)
    assert (limits.iterations, limits.seconds) == (got, got)
