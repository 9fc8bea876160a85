"""Definitions that a program writes."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.agent.skills.definition import SkillContext, SkillDefinition
from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.traits import SideEffectLevel


def test_words_and_lists_are_taken_for_what_they_mean() -> None:
    """A ceiling that is a word bounds as one that is none."""
    given: Any = {"ceiling": "read-only", "tools": ["Read"]}
    agent = AgentDefinition("a", "b", "c", **given)
    assert (agent.ceiling, agent.tools) == (SideEffectLevel.READ_ONLY, ("Read",))
    given = {"context": "fork", "tools": ["Read"]}
    skill = SkillDefinition("a", "b", "c", **given)
    assert (skill.context, skill.tools) == (SkillContext.FORK, ("Read",))


@pytest.mark.parametrize(
    "given",
    [
        {"ceiling": "read_only"},
        {"ceiling": 3},
        {"tools": "Read"},
        {"tools": [3]},
        {"model": 3},
        {"iterations": "5"},
        {"iterations": 1.5},
        {"seconds": True},
        {"description": None},
        {"instructions": 3},
    ],
)
def test_a_sub_agent_of_other_types_is_refused(given: dict[str, Any]) -> None:
    """The field is named."""
    fields: dict[str, Any] = {"name": "a", "description": "b", "instructions": "c", **given}
    with pytest.raises(ValueError, match=next(iter(given)).rstrip("s")):
        AgentDefinition(**fields)


@pytest.mark.parametrize(
    "given",
    [{"context": "frok"}, {"tools": "Read"}, {"tools": [3]}, {"model": 3}, {"text": None}],
)
def test_a_skill_of_other_types_is_refused(given: dict[str, Any]) -> None:
    """As a sub-agent is."""
    fields: dict[str, Any] = {"name": "a", "description": "b", "text": "c", **given}
    with pytest.raises(ValueError, match=next(iter(given)).rstrip("s")):
        SkillDefinition(**fields)
