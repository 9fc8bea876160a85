"""Tokens of an execution, of its children, and of whatever it is a part of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lockgate.agent.budget import TokenBudget


def test_what_a_child_spends_is_spent_above() -> None:
    """To the top; and a sibling has no part in it."""
    top = TokenBudget(100)
    child, sibling = TokenBudget(50, top), TokenBudget(None, top)
    grandchild = TokenBudget(None, child)
    grandchild.spend(40)
    assert (grandchild.used, child.used, sibling.used, top.used) == (40, 40, 0, 40)
    assert (grandchild.nearest, sibling.nearest) == ((10, 50), (60, 100))
    child.spend(10)
    assert (grandchild.nearest, child.nearest, sibling.nearest) == ((0, 50), (0, 50), (50, 100))
    sibling.spend(60)
    assert (sibling.nearest, top.nearest) == ((0, 100), (0, 100))


def test_without_a_bound_there_is_always_room() -> None:
    """None is no bound."""
    budget = TokenBudget(None)
    budget.spend(10**12)
    assert budget.nearest is None


@given(
    st.lists(st.none() | st.integers(1, 1000), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 300)), max_size=10),
)
def test_the_nearest_bound_is_the_one_that_is_used_up_first(
    limits: list[int | None], spent: list[tuple[int, int]]
) -> None:
    """Along a chain: what is left is that of the bound with the least room, at least nothing."""
    chain: list[TokenBudget] = []
    for limit in limits:
        chain.append(TokenBudget(limit, chain[-1] if chain else None))
    for at, tokens in spent:
        chain[min(at, len(chain) - 1)].spend(tokens)
    for at, budget in enumerate(chain):
        rooms = [
            (max(limit - part.used, 0), limit)
            for part, limit in zip(chain[: at + 1], limits, strict=False)
            if limit is not None
        ]
        assert budget.nearest == min(rooms, default=None)
