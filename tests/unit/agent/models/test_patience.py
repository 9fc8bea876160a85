"""How long a provider is waited for between two tries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lockgate.agent.models.patience import Patience

_SECONDS = st.floats(0, 10_000)


def test_waits_double_and_chance_spreads_them() -> None:
    """From half of it to all of it."""
    patience = Patience(tries=4, first=1.0)
    waits = [patience.wait(n, asked=None, left=600, chance=1.0) for n in (1, 2, 3, 4)]
    assert waits == [1.0, 2.0, 4.0, None]
    assert patience.wait(2, asked=None, left=600, chance=0.0) == 1.0


def test_what_a_provider_asks_for_counts() -> None:
    """It is never asked sooner; if that is longer than anybody waits, not at all."""
    patience = Patience(longest=60.0)
    assert patience.wait(1, asked=20.0, left=600, chance=1.0) == 20.0
    assert patience.wait(1, asked=0.0, left=600, chance=1.0) == 0.5
    assert patience.wait(1, asked=61.0, left=600, chance=1.0) is None


@given(st.integers(1, 9), st.none() | _SECONDS, _SECONDS, st.floats(0, 1))
def test_no_wait_is_longer_than_what_is_left(
    failed: int, asked: float | None, left: float, chance: float
) -> None:
    """Nor than the longest one, and tries are counted."""
    patience = Patience()
    wait = patience.wait(failed, asked=asked, left=left, chance=chance)
    if wait is not None:
        assert failed < patience.tries
        assert 0 < wait < left
        assert wait <= patience.longest
        assert asked is None or wait >= asked
