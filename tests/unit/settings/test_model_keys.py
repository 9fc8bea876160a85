"""How models are to write, as a configuration says it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockgate.agent.models.tuning import PLAIN, Tuning
from lockgate.errors import Problem
from lockgate.settings.config import Config

Load = Callable[[str], Config]
Problems = Callable[[str], tuple[Problem, ...]]


@pytest.mark.parametrize(
    ("written", "tuning"),
    [
        ("", PLAIN),
        ("maxTokens: 4000", Tuning(max_tokens=4000)),
        ("thinking: on", Tuning(thinking=True)),
        ("thinking: off", Tuning(thinking=False)),
        ("thinking: high, maxTokens: 50000", Tuning(50_000, "high")),
    ],
)
def test_what_is_not_said_is_left_to_the_provider(
    load_text: Load, written: str, tuning: Tuning
) -> None:
    """Each key by itself."""
    assert load_text(f"agent: {{modelSettings: {{{written}}}}}").agent.tuning == tuning


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("maxTokens: 0", "a whole number from 1"),
        ("thinking: hihg", "did you mean high?"),
        ("temperature: 0.3", "valid here: maxTokens, thinking"),
    ],
)
def test_what_can_not_be_meant_is_refused(problems_of: Problems, written: str, hint: str) -> None:
    """With what would do."""
    (problem,) = problems_of(f"agent: {{modelSettings: {{{written}}}}}")
    assert problem.path.startswith("agent.modelSettings.")
    assert hint in (problem.hint or "")
