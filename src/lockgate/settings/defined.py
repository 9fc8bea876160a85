"""What a configuration names besides itself: skills, each in a file of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lockgate.agent.definitions.document import Document
from lockgate.agent.definitions.folders import by_name
from lockgate.agent.skills.definition import SkillDefinition
from lockgate.agent.skills.reading import skill_of, skill_paths
from lockgate.errors import ConfigError
from lockgate.settings.acceptance import Pending
from lockgate.settings.definition_files import Definitions
from lockgate.settings.definition_keys import DefinitionPlace
from lockgate.settings.findings import Findings
from lockgate.settings.layers import Layers
from lockgate.settings.reading import Draft
from lockgate.settings.telling import word

_SHOWN: Final = 200
"""Characters of a description that are told before it is accepted."""


@dataclass(frozen=True, slots=True)
class Defined:
    """Everything that was read."""

    skills: tuple[SkillDefinition, ...] = ()
    places: tuple[Path, ...] = ()
    """The directories and files that it came from, as they are named."""
    waiting: tuple[Pending, ...] = ()
    """What the person has to accept before any of it is used."""


def defined_by(
    layers: Layers, merged: Draft, findings: Findings, *, accepted_too: bool = False
) -> Defined:
    """Read what the merged draft names, expanded. What is wrong goes to `findings`.

    `accepted_too` gives among what waits also what does not wait any more.
    """
    places = places_of(merged, "skills")
    if not places:
        return Defined()
    skills = Definitions(skill_paths, _skill, _told)
    read = skills.read(places, findings)
    found = tuple(one.definition for one in read)
    try:
        by_name(found)
    except ConfigError as error:
        findings.include(error)
    return Defined(
        found,
        tuple(Path(place.path) for place in places),
        skills.waiting(read, layers, accepted_too=accepted_too),
    )


def places_of(merged: Draft, key: str) -> tuple[DefinitionPlace, ...]:
    """Where definitions of one kind are, by the key of `agent` that says so."""
    agent: Mapping[str, object] = merged["agent"].value if "agent" in merged else {}
    return merged["agent"].value[key].value if key in agent else ()


def _skill(document: Document) -> SkillDefinition:
    return skill_of(document)


def _told(skill: SkillDefinition) -> Iterator[str]:
    """What accepting a skill means."""
    text = skill.description
    shown = word(text[:_SHOWN]) + ("..." if len(text) > _SHOWN else "")
    lines = skill.text.count("\n") + 1
    files = f", and {len(skill.files)} files beside them" if skill.files else ""
    yield (f"let a model follow the {lines} lines of the skill {skill.name}{files}: {shown}")
