"""What a skill can be: its name, what it has to say, and where it has to run."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.agent.skills.definition import (
    MAX_TEXT,
    SkillContext,
    SkillDefinition,
    is_skill_name,
)


def skill(name: str = "tidy", **given: Any) -> SkillDefinition:
    """A skill that can be one."""
    fields: dict[str, Any] = {"description": "Tidies up.", "text": "Tidy up.", **given}
    return SkillDefinition(name, **fields)


@pytest.mark.parametrize("name", ["pdf", "pdf-forms", "a", "a1-2b", "x" * 64])
def test_names_of_the_open_format(name: str) -> None:
    """Lower-case letters, digits and single dashes between them."""
    assert is_skill_name(name)


@pytest.mark.parametrize(
    "name", ["", "PDF", "pdf_forms", "-pdf", "pdf-", "pdf--forms", "a b", "../x", "x" * 65, "é"]
)
def test_other_names_are_none(name: str) -> None:
    """What could be misread, or lead elsewhere, is no name."""
    assert not is_skill_name(name)
    with pytest.raises(ValueError, match="can not be called so"):
        skill(name)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"description": " "}, "has no description"),
        ({"text": "\n"}, "has no text"),
        ({"text": "x" * (MAX_TEXT + 1)}, "90,000 characters"),
        ({"by_model": False, "by_person": False}, "by nobody"),
        ({"tools": ("Bash(git:*)",)}, "names the tool"),
        ({"tools": ("Re ad",)}, "names the tool"),
        ({"context": SkillContext.INLINE, "tools": ("Read",)}, "context: fork"),
        ({"context": SkillContext.INLINE, "model": "scripted:x"}, "context: fork"),
    ],
)
def test_a_definition_that_can_not_be_one_says_why(given: dict[str, Any], said: str) -> None:
    """A program hears of it where it makes the definition."""
    with pytest.raises(ValueError, match="'tidy'") as caught:
        skill(**given)
    assert said in str(caught.value)


@pytest.mark.req("B-04")
@pytest.mark.parametrize(
    ("given", "forks"),
    [
        ({}, False),
        ({"context": SkillContext.INLINE}, False),
        ({"context": SkillContext.FORK}, True),
        ({"tools": ("Read",)}, True),
        ({"tools": ()}, True),
        ({"model": "scripted:x"}, True),
    ],
)
def test_what_narrows_is_an_execution_of_its_own(given: dict[str, Any], forks: bool) -> None:
    """A text in the middle of a turn can not narrow what the turn does next, so one that says which
    tools it has never runs there."""
    assert skill(**given).forks is forks


def test_a_text_is_in_no_repr() -> None:
    """A definition can be logged."""
    assert "Tidy up" not in repr(skill())
