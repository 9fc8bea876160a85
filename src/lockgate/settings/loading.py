"""From files to one frozen `Config`: each read once, accepted, expanded, merged and checked."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from lockgate.errors import ConfigError, Problem
from lockgate.mcp.host.settings import AnnotationTrust
from lockgate.settings.acceptance import (
    Acceptance,
    AcceptedFiles,
    NotAccepted,
    Pending,
    pending_of,
)
from lockgate.settings.assembly import Assembly, servers_of
from lockgate.settings.config import Config
from lockgate.settings.findings import Findings
from lockgate.settings.keys import ANSWERS, ROOT
from lockgate.settings.layers import Layers
from lockgate.settings.nodes import Node
from lockgate.settings.reading import At, Draft, Given, Section, merge_drafts, read_section
from lockgate.settings.yamlfile import decode, parse, read_file

_log = logging.getLogger("lockgate.settings")

_STARTED_BY: Final = ("command", "args", "env", "cwd")
"""The keys that say what a server is; trust given to one program is not trust in another."""


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
    merged: Draft = {}
    for file in files:
        draft = file.draft(findings, environ)
        _refuse_inherited_trust(merged, draft, findings)
        merged = merge_drafts(ROOT, merged, draft)
    own = servers_of(person.draft(Findings(), None) if person else {})
    config = Assembly(layers, merged, findings, own).config()
    findings.raise_any()
    if not config.servers:
        names = ", ".join(str(file.path) for file in files)
        _log.info("no MCP servers are configured (read: %s)", names or "no file")
    return replace(config, sources=tuple(file.path for file in files))


def pending(layers: Layers) -> Pending | None:
    """What the project's file would do; None if there is no file.

    Its `acceptance` says whether that content is accepted already. Raises `ConfigError` for a file
    that can not be used.
    """
    findings = Findings()
    file = read_layer(layers.project, findings)
    return None if file is None else _examine(layers, file, findings)


def _examine(layers: Layers, file: LayerFile, findings: Findings) -> Pending:
    state = AcceptedFiles(layers.accepted_dir).look_up(file.path, file.data)
    if state is Acceptance.ACCEPTED:
        # An accepted file is read once more, with its variables: its faults are told then.
        draft = file.draft(Findings(), None)
    else:
        draft = file.draft(findings, None)
        findings.raise_any()
    return pending_of(file.path, file.data, state, draft)


def _same(first: Path, second: Path) -> bool:
    return first.resolve() == second.resolve()


def _refuse_inherited_trust(earlier: Draft, later: Draft, findings: Findings) -> None:
    before, after = (servers_of(draft) for draft in (earlier, later))
    for name, given in after.items():
        old: Draft = before[name].value if name in before else {}
        new: Draft = given.value
        changed = next((new[key] for key in _STARTED_BY if key in new), None)
        if not old or changed is None:
            continue
        trusted = old.get("annotationTrust")
        if trusted and trusted.value is AnnotationTrust.TRUST and "annotationTrust" not in new:
            findings.add(
                changed.place,
                changed.path,
                f'server "{name}": changes what is started, while {trusted.place} trusts it',
                "say annotationTrust here as well, or give the server another name",
            )
        told: Mapping[str, Given] = old["verdicts"].value if "verdicts" in old else {}
        again: Mapping[str, Given] = new["verdicts"].value if "verdicts" in new else {}
        if left := [tool for tool in told if tool not in again]:
            findings.add(
                changed.place,
                changed.path,
                f'server "{name}": changes what is started, while {told[left[0]].place} has a'
                f" verdict on its tools",
                f"repeat the verdicts here ({', '.join(left)}), or use another name",
            )
