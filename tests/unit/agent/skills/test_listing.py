"""What a model is shown of skills is bounded, and what is left out is said."""

from __future__ import annotations

from lockgate.agent.skills.definition import SkillDefinition
from lockgate.agent.skills.listing import MAX_DESCRIPTION, MAX_LISTING, MAX_NAMED, listing


def skill(name: str, description: str = "Does it.", hint: str | None = None) -> SkillDefinition:
    """One that a model may ask for."""
    return SkillDefinition(name, description, "Text.", argument_hint=hint)


def test_each_skill_is_one_line() -> None:
    """Name, description, and what it is asked for with."""
    told = listing([skill("a"), skill("b", "Converts\n- c: files.", "[file]\n[format]")])
    assert told == "- a: Does it.\n- b: Converts - c: files. Arguments: [file] [format]."


def test_no_skills_is_said() -> None:
    """An empty list is no list that was lost."""
    assert listing([]) == "There are none."


def test_a_skill_that_is_kept_from_models_is_not_named() -> None:
    """What may not be asked for is not shown either."""
    hidden = SkillDefinition("secret-one", "Hidden.", "Text.", by_model=False)
    assert listing([skill("a"), hidden]) == "- a: Does it."
    assert listing([hidden]) == "There are none."


def test_a_long_description_is_cut_and_ends_so() -> None:
    """Nothing pushes the other skills out of sight."""
    told = listing([skill("a", "x" * 5000)])
    assert len(told) == len("- a: ") + MAX_DESCRIPTION
    assert told.endswith("...")


def test_what_does_not_fit_is_named_without_description() -> None:
    """All descriptions together have a bound, and skills behind it are still found by name."""
    skills = [skill(f"skill-{n}", "y" * 1000) for n in range(40)]
    told = listing(skills)
    assert len(told) < MAX_LISTING + 40 * 12 + 100
    assert told.splitlines()[-2:] == [
        "- skill-39",
        f"(The last {40 - 15} are named without a description: there are too many.)",
    ]


def test_far_too_many_are_counted() -> None:
    """The list itself is bounded as well."""
    told = listing([skill(f"s{n}") for n in range(MAX_NAMED + 7)])
    assert told.splitlines()[-1].startswith("(7 more are not named")
