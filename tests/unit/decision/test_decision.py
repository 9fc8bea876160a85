"""Decisions: ordered by strictness, never without a reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.decision import Decided, Decision, Reason, strictest

OPINIONS = st.builds(
    Decided,
    st.sampled_from(Decision),
    st.lists(st.builds(Reason, st.text(min_size=1), st.text()), min_size=1, max_size=3).map(tuple),
)


def test_decisions_are_ordered_by_strictness() -> None:
    """ALLOW < ASK < DENY, so that `max()` is the one that counts."""
    assert Decision.ALLOW < Decision.ASK < Decision.DENY
    assert max(Decision.ASK, Decision.ALLOW, Decision.DENY) is Decision.DENY


def test_a_decision_needs_a_reason() -> None:
    """Nothing is decided without saying why."""
    with pytest.raises(ValueError, match="reason"):
        Decided(Decision.DENY, ())


def test_no_opinion_is_no_decision() -> None:
    """With nothing to go by, nothing may be allowed by accident."""
    with pytest.raises(ValueError, match="no opinion"):
        strictest(())


def test_a_reason_shows_its_source() -> None:
    """The sentence, and in brackets what is behind it."""
    assert str(Reason("deny_rule", "a rule says so", "lockgate.yaml:3")) == (
        "a rule says so (lockgate.yaml:3)"
    )
    assert str(Reason("deny_rule", "a rule says so")) == "a rule says so"


@given(st.lists(OPINIONS, min_size=1, max_size=6).map(tuple))
def test_the_strictest_wins_with_all_reasons_as_strict(opinions: tuple[Decided, ...]) -> None:
    """The result is as strict as the strictest, and carries the reasons of exactly those."""
    result = strictest(opinions)
    assert result.decision is max(opinion.decision for opinion in opinions)
    expected = [r for o in opinions if o.decision is result.decision for r in o.reasons]
    assert list(result.reasons) == expected


@given(st.lists(OPINIONS, min_size=1, max_size=6).map(tuple), OPINIONS)
def test_a_further_opinion_never_loosens(opinions: tuple[Decided, ...], more: Decided) -> None:
    """Adding an opinion leaves the decision as strict or makes it stricter."""
    assert strictest((*opinions, more)).decision >= strictest(opinions).decision


@given(st.permutations([Decision.ALLOW, Decision.ASK, Decision.DENY, Decision.ASK]))
def test_the_order_of_opinions_is_irrelevant(decisions: list[Decision]) -> None:
    """Whoever speaks first has no more weight."""
    opinions = tuple(Decided(d, (Reason("r", "r"),)) for d in decisions)
    assert strictest(opinions).decision is Decision.DENY
