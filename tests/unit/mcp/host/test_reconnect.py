"""The policy by which a lost server comes back, as a pure function (S3-17)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.host.reconnect import Backoff, Circuit, ReconnectPolicy, Recovery

CHANCES = st.floats(0, 1)
POLICIES = st.builds(
    ReconnectPolicy,
    st.builds(Backoff, st.floats(0.01, 5), st.floats(5, 100), st.floats(0, 0.99)),
    st.integers(1, 10),
    st.builds(Backoff, st.floats(10, 100), st.floats(100, 1000), st.floats(0, 0.99)),
    st.floats(0, 60),
)


@given(POLICIES, st.integers(1, 10_000), CHANCES)
def test_no_wait_is_over_its_cap_or_nothing(
    policy: ReconnectPolicy, number: int, chance: float
) -> None:
    """However many failures: over 0, never over the cap, never taken off more than the jitter."""
    for steps in (policy.waits, policy.rests):
        wait = steps.wait(number, chance)
        assert 0 < wait <= steps.most
        assert wait >= steps.first * (1 - steps.jitter)


@given(POLICIES, st.integers(1, 100), CHANCES)
def test_waits_never_shrink(policy: ReconnectPolicy, number: int, chance: float) -> None:
    """With the same luck a later try waits at least as long as an earlier one."""
    assert policy.waits.wait(number + 1, chance) >= policy.waits.wait(number, chance)


@given(POLICIES, st.lists(st.tuples(st.floats(0, 120), st.booleans()), max_size=40))
@pytest.mark.req("S3-17")
def test_the_circuit_is_open_exactly_after_so_many_failures_in_a_row(
    policy: ReconnectPolicy, history: list[tuple[float, bool]]
) -> None:
    """A connection that lasted begins the count anew; one that is hopeless opens at once; the try
    of an open circuit is half-open."""
    recovery, failures = Recovery(), 0
    for lasted, hopeless in history:
        recovery = recovery.failed(policy, lasted=lasted, hopeless=hopeless)
        failures = 1 if lasted > 0 and lasted >= policy.stable_after else failures + 1
        if hopeless:
            failures = max(failures, policy.opens_after)
        is_open = failures >= policy.opens_after
        assert recovery.circuit(policy) is (Circuit.OPEN if is_open else Circuit.CLOSED)
        tried = recovery.trying().circuit(policy)
        assert tried is (Circuit.HALF_OPEN if is_open else Circuit.CLOSED)


@given(POLICIES, CHANCES, st.floats(0, 5000))
def test_what_the_server_asks_for_is_waited_at_least(
    policy: ReconnectPolicy, chance: float, asked: float
) -> None:
    """A server that wants to be left alone for a while is."""
    assert Recovery().failed(policy).wait(policy, chance, asked) >= asked


def test_the_defaults_are_patient_and_never_give_up() -> None:
    """Half a second at first, doubling; six failures open the circuit for a minute, at most a
    quarter of an hour."""
    policy, recovery, waits = ReconnectPolicy(), Recovery(), list[float]()
    for _ in range(12):
        recovery = recovery.failed(policy)
        waits.append(recovery.wait(policy, 0.0))
    assert waits == [0.5, 1, 2, 4, 8, 60, 120, 240, 480, 900, 900, 900]
    assert Recovery().failed(policy).wait(policy, 1.0) == 0.25


@pytest.mark.parametrize(("first", "most", "jitter"), [(0, 1, 0), (2, 1, 0), (1, 2, 1), (1, 2, -1)])
def test_steps_that_are_none_can_not_be_made(first: float, most: float, jitter: float) -> None:
    """Checked where the value is made."""
    with pytest.raises(ValueError, match="back-off"):
        Backoff(first, most, jitter)


def test_a_try_that_is_none_is_refused() -> None:
    """Tries are counted from 1, chance is a share; a circuit needs a failure to open."""
    with pytest.raises(ValueError, match="counted from 1"):
        Backoff(1, 2).wait(0, 0.5)
    with pytest.raises(ValueError, match="counted from 1"):
        Backoff(1, 2).wait(1, 1.5)
    with pytest.raises(ValueError, match="opens after"):
        ReconnectPolicy(opens_after=0)
