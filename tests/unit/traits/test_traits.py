"""The five traits: what is ordered, what is not, and which values there are."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import pytest

from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    InterruptBehavior,
    SideEffectLevel,
)

READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING


@pytest.mark.req("S0-01")
def test_the_ladder_has_exactly_two_rungs() -> None:
    """READ_ONLY and MUTATING, and nothing between or beyond."""
    assert list(SideEffectLevel) == [READ, MUTATE]


@pytest.mark.req("S0-01")
@pytest.mark.parametrize(
    ("ceiling", "required", "permitted"),
    [(MUTATE, MUTATE, True), (MUTATE, READ, True), (READ, READ, True), (READ, MUTATE, False)],
)
def test_permits_is_the_whole_comparison(
    ceiling: SideEffectLevel, required: SideEffectLevel, permitted: bool
) -> None:
    """MUTATING permits both, READ_ONLY permits only itself; so it is reflexive."""
    assert ceiling.permits(required) is permitted


@pytest.mark.req("S0-01")
def test_permits_is_an_order() -> None:
    """Reflexive, transitive and antisymmetric over all levels."""
    levels = list(SideEffectLevel)
    assert all(level.permits(level) for level in levels)
    for a, b, c in itertools.product(levels, repeat=3):
        assert not (a.permits(b) and b.permits(c)) or a.permits(c)
        assert not (a.permits(b) and b.permits(a)) or a is b


@pytest.mark.req("S0-01")
@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_there_is_no_other_comparison(compare: Callable[[Any, Any], object]) -> None:
    """Ordering operators are absent: nobody can compare levels past `permits`."""
    with pytest.raises(TypeError):
        compare(READ, MUTATE)


@pytest.mark.req("S0-02")
@pytest.mark.parametrize(
    ("behavior", "members"),
    [
        (DestructiveBehavior, ["NON_DESTRUCTIVE", "DESTRUCTIVE"]),
        (IdempotencyBehavior, ["IDEMPOTENT", "NON_IDEMPOTENT"]),
        (ConcurrencyBehavior, ["CONCURRENT_SAFE", "SEQUENTIAL"]),
        (InterruptBehavior, ["COOPERATIVE", "NON_INTERRUPTIBLE"]),
    ],
)
def test_a_behavior_has_two_unordered_values(behavior: Any, members: list[str]) -> None:
    """Two values each, and no order among them."""
    assert [member.name for member in behavior] == members
    first, second = behavior
    assert not hasattr(first, "permits")
    with pytest.raises(TypeError):
        operator.lt(first, second)
