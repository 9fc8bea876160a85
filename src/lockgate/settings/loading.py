"""From files to one frozen `Config`: each read once, accepted, expanded, merged and checked."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lockgate.errors import ConfigError, Problem
from lockgate.rules.rule import Rule
from lockgate.settings.acceptance import (
    Acceptance,
    AcceptedFiles,
    NotAccepted,
    Pending,
    pending_of,
)
from lockgate.settings.assembly import Assembly, servers_of
from lockgate.settings.config import Config
from lockgate.settings.defined import defined_by
from lockgate.settings.entries import RuleText
from lockgate.settings.findings import Findings
from lockgate.settings.joining import faults_of, join
from lockgate.settings.keys import ANSWERS, ROOT
from lockgate.settings.layers import Layers
from lockgate.settings.nodes import Node
from lockgate.settings.pins import Pins
from lockgate.settings.pins_file import load_pins
from lockgate.settings.reading import At, Draft, Section, read_section
from lockgate.settings.yamlfile import decode, parse
from lockgate.textfile import read_file

if TYPE_CHECKING:
    from lockgate.settings.skill_hooks import SkillHooks

_log = logging.getLogger("lockgate.settings")


@dataclass(frozen=True, slots=True)
class LayerFile:
    """One file, read once: its bytes, and what they say."""

    path: Path
    section: Section
    data: bytes = field(repr=False)
    node: Node | None = field(repr=False)

    def draft(self, findings: Findings, environ: Mapping[str, str] | None) -> Draft:
        """What the file gives; with `environ` None as it was written."""
        if self.node is None:
            return {}
        return read_section(self.section, self.node, At(findings, self.path.parent, environ))


def read_layer(path: Path, findings: Findings, section: Section = ROOT) -> LayerFile | None:
    """Read one file; None if there is none. What is wrong with it goes to the findings."""
    data = b""
    try:
        found = read_file(path)
        if found is None:
            return None
        data = found
        return LayerFile(path, section, data, parse(decode(data, path), path, findings))
    except ConfigError as error:
        findings.include(error)
        return LayerFile(path, section, data, None)


def load(layers: Layers, environ: Mapping[str, str]) -> Config:
    """Read all layers and make the configuration of them.

    Nothing is started and no program is looked up. Raises `NotAccepted` for a project's file that
    was found and whose content is not accepted (B-13), and `ConfigError` with every finding
    otherwise (S0-14).
    """
    in_project = Findings()
    project = read_layer(layers.project, in_project)
    if project is None and layers.named:
        in_project.include(ConfigError(Problem("there is no such file", file=layers.project)))
    if project is not None and not layers.named:
        waiting = _examine(layers, project, in_project)
        if waiting.acceptance is not Acceptance.ACCEPTED and project.node is not None:
            raise NotAccepted(waiting)
    findings = Findings()
    person = None if _same(layers.person, layers.project) else read_layer(layers.person, findings)
    findings.include_all(in_project)
    answers = read_layer(layers.answers, findings, ANSWERS)
    files = [file for file in (person, project, answers) if file is not None]
    merged = join([file.draft(findings, environ) for file in files], findings)
    own = servers_of(person.draft(Findings(), None) if person else {})
    config = Assembly(layers, merged, findings, own, home=_home(environ)).config()
    defined = defined_by(layers, merged, findings, partial(_skill_hooks, layers, merged, environ))
    pins = _pins(layers, findings)
    findings.raise_any()
    if defined.waiting:
        raise NotAccepted(defined.waiting[0])
    if not config.servers:
        names = ", ".join(str(file.path) for file in files)
        _log.info("no MCP servers are configured (read: %s)", names or "no file")
    sources = tuple(file.path for file in files)
    return replace(
        config,
        agent=replace(config.agent, skills=defined.skills, agents=defined.agents),
        pins=pins,
        answers=layers.answers,
        sources=sources,
        definitions=defined.places,
    )


def _pins(layers: Layers, findings: Findings) -> Pins:
    try:
        return load_pins(layers)
    except NotAccepted:
        findings.raise_any()  # faults of the configuration come first
        raise
    except ConfigError as error:
        findings.include(error)
        return Pins()


def pending(layers: Layers) -> Pending | None:
    """What the project's file would do; None if there is no file.

    Its `acceptance` says whether that content is accepted already. Raises `ConfigError` for a file
    that can not be used.
    """
    findings = Findings()
    file = read_layer(layers.project, findings)
    return None if file is None else _examine(layers, file, findings)


def pending_definitions(layers: Layers, environ: Mapping[str, str]) -> tuple[Pending, ...]:
    """What the definitions that the project's file names would do, accepted or not: one for each
    path it gives. Raises `ConfigError` for what can not be used."""
    read = (read_layer(path, Findings()) for path in (layers.person, layers.project))
    # What else is wrong with them, such as a variable that is not set, is told when they are used.
    drafts: list[Draft] = [{} if file is None else file.draft(Findings(), environ) for file in read]
    hooks = partial(_skill_hooks, layers, join(drafts, Findings()), environ)
    findings = Findings()
    found = defined_by(layers, drafts[1], findings, hooks, accepted_too=True)
    findings.raise_any()
    return found.waiting


def _skill_hooks(layers: Layers, merged: Draft, environ: Mapping[str, str]) -> SkillHooks:
    """What reads the hooks that skills declare, where the merged draft is in force."""
    from lockgate.settings.skill_hooks import SkillHooks

    def rule(text: RuleText, findings: Findings) -> Rule | None:
        return Assembly(layers, merged, findings, (), home=_home(environ)).matcher(text)

    return SkillHooks(
        merged,
        rule=rule,
        servers=servers_of(merged),
        environ=environ,
        project_dir=layers.project_dir,
    )


def _examine(layers: Layers, file: LayerFile, findings: Findings) -> Pending:
    state = AcceptedFiles(layers.accepted_dir).look_up(file.path, file.data)
    if state is Acceptance.ACCEPTED:
        # An accepted file is read once more, with its variables: its faults are told then.
        findings = Findings()
    person = None if _same(layers.person, file.path) else read_layer(layers.person, findings)
    own: Draft = person.draft(findings, None) if person else {}
    draft = file.draft(findings, None)
    if state is not Acceptance.ACCEPTED:
        findings.raise_any()
        faults_of(layers, (own, draft), own).raise_any()
    return pending_of(file.path, file.data, state, draft, own)


def _home(environ: Mapping[str, str]) -> str | None:
    home = environ.get("HOME", "")
    return str(Path(home).resolve()) if Path(home).is_absolute() else None


def _same(first: Path, second: Path) -> bool:
    return first.resolve() == second.resolve()
