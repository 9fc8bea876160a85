"""What a model is shown of the skills before it asks for one: names and descriptions, bounded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lockgate.agent.skills.definition import SkillDefinition

MAX_DESCRIPTION: Final = 1024
"""Characters of one description, as the open format of skills allows."""
MAX_LISTING: Final = 16_000
"""Characters of all descriptions together; of the rest the names are listed."""
MAX_NAMED: Final = 200
"""Skills that are listed at all; the rest is counted."""
_HINT: Final = 100


def listing(skills: Iterable[SkillDefinition]) -> str:
    """One line for each skill that a model may ask for, in their order.

    Where not all fits, what was left out is said: a description that was cut ends with `...`,
    skills without one say so, and those that are not named are counted.
    """
    asked = [skill for skill in skills if skill.by_model]
    if not asked:
        return "There are none."
    lines: list[str] = []
    left, bare = MAX_LISTING, 0
    for skill in asked[:MAX_NAMED]:
        line = _line(skill)
        if bare or len(line) > left:
            bare += 1
            line = f"- {skill.name}"
        else:
            left -= len(line)
        lines.append(line)
    if bare:
        lines.append(f"(The last {bare} are named without a description: there are too many.)")
    if (more := len(asked) - MAX_NAMED) > 0:
        lines.append(f"({more} more are not named: there are too many. They can be asked for.)")
    return "\n".join(lines)


def _line(skill: SkillDefinition) -> str:
    hint = f" Arguments: {_cut(skill.argument_hint, _HINT)}." if skill.argument_hint else ""
    return f"- {skill.name}: {_cut(skill.description, MAX_DESCRIPTION)}{hint}"


def _cut(text: str, most: int) -> str:
    """On one line, so that no description passes for the line of another skill."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3].rstrip()}..."
