"""Ceilings and offers: one comparison for what is shown and what is refused; children get less."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.policy.ceiling import narrow, refusal, shown, whole
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Bounds
from lockgate.tools.registry import Registry
from lockgate.traits import DestructiveBehavior, IdempotencyBehavior, SideEffectLevel

READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
NAMES = ("a", "b", "c", "d")
OFFERS = st.none() | st.frozensets(st.sampled_from(NAMES))
BOUNDS = st.builds(Bounds, st.sampled_from(SideEffectLevel), OFFERS)
TOOL = st.builds(
    ScriptedTool,
    st.sampled_from(NAMES),
    level=st.sampled_from(SideEffectLevel),
    destructive=st.booleans(),
)
TOOLS = st.lists(TOOL, unique_by=lambda tool: tool.name)


@pytest.mark.req("S0-05")
def test_a_tool_above_the_ceiling_is_refused_by_name_and_levels() -> None:
    """The refusal names the tool, the declared and the allowed level."""
    reason = refusal(ScriptedTool("write"), whole(READ))
    assert reason is not None
    assert reason.code == "above_ceiling"
    assert reason.text == "write is declared mutating, this execution allows read-only"


@pytest.mark.req("S0-05")
@pytest.mark.parametrize(
    ("ceiling", "level", "allowed"),
    [(READ, READ, True), (READ, MUTATE, False), (MUTATE, READ, True), (MUTATE, MUTATE, True)],
)
@pytest.mark.parametrize("destructive", [True, False])
def test_a_ceiling_compares_levels(
    ceiling: SideEffectLevel, level: SideEffectLevel, allowed: bool, destructive: bool
) -> None:
    """`permits()` decides; destructiveness changes nothing."""
    tool = ScriptedTool("t", level=level, destructive=destructive)
    assert (refusal(tool, whole(ceiling)) is None) is allowed


class Blind(ScriptedTool):
    """A mutating tool whose behaviours must not be looked at once it is registered."""

    registered = False

    @property
    def destructive_behavior(self) -> DestructiveBehavior:
        assert not self.registered, "a ceiling read the destructiveness"
        return DestructiveBehavior.DESTRUCTIVE

    @property
    def idempotency_behavior(self) -> IdempotencyBehavior:
        assert not self.registered, "a ceiling read the idempotency"
        return IdempotencyBehavior.NON_IDEMPOTENT


@pytest.mark.req("S0-05")
def test_a_ceiling_reads_the_level_and_nothing_else() -> None:
    """Not even to ignore it; nor does what is shown."""
    registry, tool = Registry(), Blind("t")
    registry.register(tool)
    tool.registered = True
    for ceiling in SideEffectLevel:
        refusal(tool, whole(ceiling))
        shown(registry.snapshot(), whole(ceiling))


def test_what_is_not_offered_is_refused() -> None:
    """By name, whatever its level; an empty offer is nothing, no offer is everything."""
    tool = ScriptedTool("t", level=READ)
    assert refusal(tool, whole(READ)) is None
    assert refusal(tool, whole(READ, frozenset({"t"}))) is None
    for offer in (frozenset[str](), frozenset({"T", "t "})):
        reason = refusal(tool, whole(MUTATE, offer))
        assert reason is not None
        assert reason.code == "not_offered"


@pytest.mark.req("S0-06")
@given(TOOLS, BOUNDS)
def test_shown_is_exactly_what_is_not_refused(tools: list[ScriptedTool], bounds: Bounds) -> None:
    """The same function for both, so the two sets can not differ; in order of registration."""
    registry = Registry()
    registry.register_all(tools)
    expected = [tool for tool in tools if refusal(tool, bounds) is None]
    assert list(shown(registry.snapshot(), bounds)) == expected


@pytest.mark.req("S0-06")
def test_shown_is_kept_with_the_snapshot() -> None:
    """Asking again gives the same object; other bounds another."""
    registry = Registry()
    registry.register_all([ScriptedTool("a", level=READ), ScriptedTool("b")])
    snapshot = registry.snapshot()
    assert shown(snapshot, whole(READ)) is shown(snapshot, whole(READ))
    assert [tool.name for tool in shown(snapshot, whole(READ))] == ["a"]
    assert [tool.name for tool in shown(snapshot, whole(MUTATE))] == ["a", "b"]
    registry.register(ScriptedTool("c", level=READ))
    assert [tool.name for tool in shown(registry.snapshot(), whole(READ))] == ["a", "c"]


def within(child: Bounds, parent: Bounds) -> bool:
    """Whether a child reaches no further than its parent."""
    if not parent.ceiling.permits(child.ceiling):
        return False
    return parent.offer is None or (child.offer is not None and child.offer <= parent.offer)


@pytest.mark.req("B-04")
@given(BOUNDS, st.lists(BOUNDS, min_size=1, max_size=10))
def test_no_descendant_reaches_further_than_any_ancestor(
    first: Bounds, wishes: list[Bounds]
) -> None:
    """To a depth of ten, whatever each of them wishes."""
    line = [first]
    for wish in wishes:
        line.append(narrow(line[-1], wish))
    for generation, child in enumerate(line[1:], 1):
        assert all(within(child, ancestor) for ancestor in line[:generation])
        assert within(child, wishes[generation - 1])


@pytest.mark.req("B-04")
@given(BOUNDS, BOUNDS, TOOLS)
def test_a_child_may_call_what_both_allow_and_no_more(
    parent: Bounds, wish: Bounds, tools: list[ScriptedTool]
) -> None:
    """Narrowing is the intersection: of the two ceilings and of the two offers."""
    child = narrow(parent, wish)
    for tool in tools:
        both = refusal(tool, parent) is None and refusal(tool, wish) is None
        assert (refusal(tool, child) is None) is both


@pytest.mark.req("B-04")
@given(BOUNDS, BOUNDS, BOUNDS)
def test_narrowing_is_an_intersection(one: Bounds, two: Bounds, three: Bounds) -> None:
    """Idempotent, and in any order and grouping the same."""
    assert narrow(one, one) == one
    assert narrow(one, two) == narrow(two, one)
    assert narrow(narrow(one, two), three) == narrow(one, narrow(two, three))


def test_offers_that_do_not_meet_leave_nothing() -> None:
    """An empty intersection is nothing, never everything."""
    child = narrow(whole(MUTATE, frozenset("ab")), whole(MUTATE, frozenset("cd")))
    assert child.offer == frozenset()
