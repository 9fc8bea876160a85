"""What a configuration names besides itself: sub-agents and skills, each in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lockgate.agent.skills.definition import SkillDefinition
from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.errors import ConfigError
from lockgate.settings.acceptance import Pending
from lockgate.settings.definition_keys import DefinitionPlace
from lockgate.settings.findings import Findings
from lockgate.settings.layers import Layers
from lockgate.settings.reading import Draft
from lockgate.settings.telling import beginning, word
from lockgate.traits import SideEffectLevel

if TYPE_CHECKING:
    from lockgate.settings.skill_hooks import SkillHooks

_SHOWN: Final = 200
"""Characters of a description that are told before it is accepted."""
_SHOWN_INSTRUCTIONS: Final = 300
"""Characters of the instructions of a sub-agent, likewise."""


@dataclass(frozen=True, slots=True)
class Defined:
    """Everything that was read."""

    skills: tuple[SkillDefinition, ...] = ()
    agents: tuple[AgentDefinition, ...] = ()
    places: tuple[Path, ...] = ()
    """The directories and files that it came from, as they are named."""
    waiting: tuple[Pending, ...] = ()
    """What the person has to accept before any of it is used."""


def defined_by(
    layers: Layers,
    merged: Draft,
    findings: Findings,
    hooks: Callable[[], SkillHooks],
    *,
    accepted_too: bool = False,
) -> Defined:
    """Read what the merged draft names, expanded. What is wrong goes to `findings`.

    `hooks` makes what reads those of skills. `accepted_too` gives among what waits also what does
    not wait any more.
    """
    in_agents, in_skills = places_of(merged, "agents"), places_of(merged, "skills")
    if not in_agents and not in_skills:
        return Defined()
    # Late: most configurations name none, and need nothing that reads them.
    from lockgate.agent.definitions.folders import by_name, files_of
    from lockgate.agent.skills.reading import skill_of, skill_paths
    from lockgate.agent.subagents.reading import read_definition
    from lockgate.settings.definition_files import Definitions

    of_skills = hooks()
    agents = Definitions(files_of, read_definition, told_agent)
    skills = Definitions(
        skill_paths,
        lambda document: skill_of(document, hooks=of_skills),
        _told,
        starts=of_skills.starts,
        calls=of_skills.calls,
    )
    read_agents, read_skills = agents.read(in_agents, findings), skills.read(in_skills, findings)
    for read in (read_agents, read_skills):
        try:
            by_name([one.definition for one in read])
        except ConfigError as error:
            findings.include(error)
    return Defined(
        tuple(one.definition for one in read_skills),
        tuple(one.definition for one in read_agents),
        tuple(Path(place.path) for place in (*in_agents, *in_skills)),
        (
            *agents.waiting(read_agents, layers, accepted_too=accepted_too),
            *skills.waiting(read_skills, layers, accepted_too=accepted_too),
        ),
    )


def places_of(merged: Draft, key: str) -> tuple[DefinitionPlace, ...]:
    """Where definitions of one kind are, by the key of `agent` that says so."""
    agent: Mapping[str, object] = merged["agent"].value if "agent" in merged else {}
    return merged["agent"].value[key].value if key in agent else ()


def _told(skill: SkillDefinition) -> Iterator[str]:
    """What accepting a skill means."""
    count = skill.text.count("\n") + 1
    lines = "one line" if count == 1 else f"{count} lines"
    count_files = len(skill.files) + skill.unlisted
    files = f", which has {count_files} more files" if count_files else ""
    shown = _cut(skill.description)
    who = "a model" if skill.by_model else "you and no model"
    yield f"let {who} ask for the skill {skill.name}{files}: {shown}"
    if skill.model is not None:
        yield f"run the model {word(skill.model)} for {skill.name}"
    yield f"have its {lines} followed: {beginning(skill.text, _SHOWN_INSTRUCTIONS)}"


def told_agent(agent: AgentDefinition) -> Iterator[str]:
    """What accepting a sub-agent means."""
    tools = "every tool" if agent.tools is None else ", ".join(map(word, agent.tools)) or "no tool"
    reads = ", to read only" if agent.ceiling is SideEffectLevel.READ_ONLY else ""
    yield (
        f"let a model start the sub-agent {agent.name} with {tools}{reads}, as far as its parent "
        f"has it: {_cut(agent.description)}"
    )
    if agent.model is not None:
        yield f"run the model {word(agent.model)} for {agent.name}"
    yield f"tell {agent.name}: {beginning(agent.instructions, _SHOWN_INSTRUCTIONS)}"


def _cut(text: str) -> str:
    return word(text[:_SHOWN]) + ("..." if len(text) > _SHOWN else "")
