"""The bounds of a turn in a configuration."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockgate.agent.limits import TurnLimits
from lockgate.errors import Problem
from lockgate.settings.config import Config


def of(limits: str) -> str:
    """A configuration with this under `agent.limits`."""
    return f"agent:\n  limits: {limits}\n"


def test_each_bound_can_be_said(load_text: Callable[[str], Config]) -> None:
    """In its own unit; what is left out is as without the section."""
    found = load_text(
        of("{iterations: 5, time: 90s, tokens: 20000, repeatedFailures: 2, resultCharacters: 2000}")
    )
    assert found.agent.limits == TurnLimits(5, 90.0, 20_000, 2, 2_000)
    assert load_text(of("{}")).agent.limits == TurnLimits()
    assert load_text(of("{calls: 7}")).agent.limits == TurnLimits(calls=7)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ("{iterations: 0}", "write a whole number from 1"),
        ("{calls: 0}", "write a whole number from 1"),
        ("{iterations: two}", "write a whole number"),
        ("{tokens: -5}", "write a whole number"),
        ("{time: 0s}", "usable duration"),
        ("{resultCharacters: 10}", "from 1000"),
        ("{resultCharacters: 5000, batchCharacters: 2000}", "no less than one may have"),
        ("{seconds: 5}", "unknown key"),
        ("[5]", "must be a mapping"),
    ],
)
def test_what_can_be_no_bound_is_refused(
    problems_of: Callable[[str], tuple[Problem, ...]], limits: str, told: str
) -> None:
    """With its place and what to write."""
    (problem,) = problems_of(of(limits))
    assert told in str(problem)
    assert problem.line == 2
