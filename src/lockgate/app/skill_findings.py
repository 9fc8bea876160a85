"""What `lockgate check` says of skills: what of one is not in force, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from lockgate.agent.skills.definition import SkillDefinition
from lockgate.app.finding import Finding
from lockgate.errors import ConfigError
from lockgate.rules.in_tree import IN_TREE
from lockgate.rules.pattern import parse_pattern
from lockgate.settings.config import Config

SKILL: Final = "Skill"


def skill_findings(
    config: Config,
    absent: Callable[[str | None, Config], tuple[str, str] | None],
    model_fault: Callable[[str], ConfigError | None],
) -> Iterator[Finding]:
    """Everything about skills. `absent` says why there is no tool of a name, `model_fault` what is
    wrong with the name of a model."""
    skills, agent = config.agent.skills, config.agent
    if not skills:
        if SKILL in config.builtin and len(config.builtin) < len(IN_TREE):
            what = "Skill is not there: no skills are configured"
            yield Finding("builtin", what, "say where skills are: agent: {skills: [./skills]}")
        return
    if agent.offer is not None and SKILL not in agent.offer:
        what = "does not name Skill, so no model is shown the skills"
        yield Finding("agent.offer", what, "add Skill, or take out agent.skills")
    for skill in skills:
        yield from _of_one(skill, config, absent, model_fault)


def _of_one(
    skill: SkillDefinition,
    config: Config,
    absent: Callable[[str | None, Config], tuple[str, str] | None],
    model_fault: Callable[[str], ConfigError | None],
) -> Iterator[Finding]:
    where = f"skill {skill.name}"
    for remark in skill.remarks:
        yield Finding(where, remark, note=True)
    for text in skill.tools or ():
        pattern = parse_pattern(text)
        if pattern.server is None and (missing := absent(pattern.tool, config)):
            what, hint = missing
            yield Finding(where, f'its tools name "{text}": {what}', hint, note=True)
        elif pattern.server is not None and pattern.server not in {s.name for s in config.servers}:
            what = f'its tools name "{text}", of a server that is not configured'
            yield Finding(where, what, note=True)
    if skill.model is not None and (fault := model_fault(skill.model)) is not None:
        yield Finding(where, f"its model {skill.model} can not be used: {fault}")
