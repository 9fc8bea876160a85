"""What is configured, as it was written: for listing and editing, not for starting anything.

No variable is expanded and no acceptance is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockgate.settings.acceptance import Acceptance, AcceptedFiles
from lockgate.settings.assembly import servers_of
from lockgate.settings.findings import Findings
from lockgate.settings.joining import faults_of
from lockgate.settings.keys import ROOT
from lockgate.settings.layers import Layers
from lockgate.settings.loading import read_layer
from lockgate.settings.reading import Draft, merge_drafts
from lockgate.settings.server_keys import SERVER


@dataclass(frozen=True, slots=True)
class WrittenServer:
    """One configured server."""

    name: str
    draft: Draft
    """Its keys, from all files that give some."""
    files: tuple[Path, ...]
    """Where it is written, earlier layers first."""

    def __getitem__(self, key: str) -> Any:
        """The value of a key, or its default."""
        given = self.draft.get(key)
        return SERVER[key].default if given is None else given.value


@dataclass(frozen=True, slots=True)
class Survey:
    """All configured servers, and what is to be said of the files."""

    servers: tuple[WrittenServer, ...]
    files: tuple[Path, ...]
    """The files that are there, earlier layers first."""
    waiting: Path | None
    """The project's file, when it must be accepted before anything starts."""
    faults: Findings
    """What keeps the files together from being used, though each can be read."""


def survey(layers: Layers) -> Survey:
    """Read the person's and the project's file. Raises `ConfigError` with every finding."""
    findings = Findings()
    paths = dict.fromkeys((layers.person, layers.project))
    files = [file for path in paths if (file := read_layer(path, findings)) is not None]
    drafts: list[Draft] = []
    own: Draft = {}
    merged: Draft = {}
    found: dict[str, list[Path]] = {}
    for file in files:
        draft = file.draft(findings, None)
        for name in servers_of(draft):
            found.setdefault(name, []).append(file.path)
        drafts.append(draft)
        if file.path == layers.person:
            own = draft
        merged = merge_drafts(ROOT, merged, draft)
    findings.raise_any()
    waiting = None
    if not layers.named:
        accepted = AcceptedFiles(layers.accepted_dir)
        for file in files:
            if file.path == layers.project and file.node is not None:
                state = accepted.look_up(file.path, file.data)
                waiting = file.path if state is not Acceptance.ACCEPTED else None
    servers: Mapping[str, Any] = servers_of(merged)
    return Survey(
        tuple(
            WrittenServer(name, given.value, tuple(found[name])) for name, given in servers.items()
        ),
        tuple(file.path for file in files),
        waiting,
        faults_of(layers, drafts, own),
    )
