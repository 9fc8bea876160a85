"""Changing a configuration file on a person's behalf, without losing their acceptance of it.

What a command writes is accepted by being written, if the file was accepted before or is new: the
person gave the command. A file that nobody accepted stays so.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lockgate.errors import ConfigError, Problem
from lockgate.mcp.host.settings import Verdict
from lockgate.settings.acceptance import Acceptance, AcceptedFiles, digest_of
from lockgate.settings.assembly import servers_of
from lockgate.settings.atomic import write_atomically
from lockgate.settings.edit import add_servers, remove_server
from lockgate.settings.entry import ServerEntry
from lockgate.settings.filelock import locked
from lockgate.settings.findings import Findings
from lockgate.settings.joining import faults_of
from lockgate.settings.keys import ROOT
from lockgate.settings.layers import Layers
from lockgate.settings.reading import At, Draft, read_section
from lockgate.settings.verdict_text import set_verdicts
from lockgate.settings.yamlfile import decode, parse
from lockgate.textfile import read_file

_PERSONAL_MODE: Final = 0o600
_PROJECT_MODE: Final = 0o666


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a change."""

    path: Path
    created: bool
    accepted: bool
    """Whether the file may be used as it is now; False: it waits for the person's acceptance."""


def write_servers(layers: Layers, path: Path, entries: Sequence[ServerEntry]) -> Written:
    """Add servers to `path`, one of the files of `layers`; a missing file is made.

    Raises `ConfigError`, and writes nothing, if the file is not valid, has a server of one of the
    names, or would not be valid afterwards.
    """

    def change(text: str) -> str:
        present = _names(text, path)
        for entry in entries:
            if entry.name in present:
                hint = f"remove it first: lockgate mcp remove {entry.name}"
                message = f'a server called "{entry.name}" is there already'
                raise ConfigError(Problem(message, file=path, hint=hint))
        changed = add_servers(text, entries, path)
        _names(changed, path)
        return changed

    return _change(layers, path, change)


def erase_server(layers: Layers, path: Path, name: str) -> Written:
    """Take a server out of `path`, one of the files of `layers`.

    Raises `ConfigError`, and writes nothing, if it is not there or can not be cut out.
    """

    def change(text: str) -> str:
        _names(text, path)
        return remove_server(text, name, path)

    return _change(layers, path, change)


def write_verdicts(
    layers: Layers, path: Path, server: str, verdicts: Mapping[str, Verdict]
) -> Written:
    """Give verdicts on tools of a server that stands in `path`, one of the files of `layers`.

    A verdict takes the place of the one there was on the same tool. Raises `ConfigError`, and
    writes nothing, if the server is not there, or the file can not be edited safely or would not be
    valid afterwards.
    """

    def change(text: str) -> str:
        _names(text, path)
        changed = set_verdicts(text, server, verdicts, path)
        _names(changed, path)
        return changed

    return _change(layers, path, change)


def server_names(path: Path) -> tuple[str, ...]:
    """The servers that a file names; none if there is no file. Raises `ConfigError`."""
    data = read_file(path)
    return () if data is None else _names(decode(data, path), path)


def check_entry(entry: ServerEntry, path: Path) -> None:
    """Raise `ConfigError` if nothing that stood in `path` could start this server."""
    _draft(add_servers("", [entry], path), path)


def _names(text: str, path: Path) -> tuple[str, ...]:
    return tuple(servers_of(_draft(text, path)))


def _draft(text: str, path: Path) -> Draft:
    findings = Findings()
    node = parse(text, path, findings)
    draft: Draft = {}
    if node is not None:
        draft = read_section(ROOT, node, At(findings, path.parent, None))
    findings.raise_any()
    return draft


def _change(layers: Layers, path: Path, change: Callable[[str], str]) -> Written:
    with locked(path):
        return _change_alone(layers, path, change)


def _change_alone(layers: Layers, path: Path, change: Callable[[str], str]) -> Written:
    before = read_file(path)
    text = decode(before or b"", path)
    changed = change(text)
    _refuse_new_faults(layers, path, text, changed)
    data = changed.encode()
    if before is not None and before.startswith(codecs.BOM_UTF8):
        data = codecs.BOM_UTF8 + data
    is_project = path == layers.project
    accepted = AcceptedFiles(layers.accepted_dir)
    # An empty file has nothing in it that somebody else could have put there.
    ours = not text.strip() or (
        is_project and accepted.look_up(path, before or b"") is Acceptance.ACCEPTED
    )
    if read_file(path) != before:
        message = "was changed by another program at the same time"
        raise ConfigError(Problem(message, file=path, hint="run the command again"))
    mode = _PROJECT_MODE if is_project else _PERSONAL_MODE
    write_atomically(path, data, mode=mode)
    if is_project and ours:
        accepted.accept(path, digest_of(data))
    return Written(path, before is None, not is_project or ours or layers.named)


def _refuse_new_faults(layers: Layers, path: Path, before: str, after: str) -> None:
    """A file that could be used must be usable afterwards; other faults of it are not ours."""
    own: Draft = {} if path == layers.person else _own(layers)
    old = faults_of(layers, (own, _draft(before, path)), own)
    known = {problem.message for problem in old.problems}
    found = faults_of(layers, (own, _draft(after, path)), own).problems
    if new := [problem for problem in found if problem.message not in known]:
        raise ConfigError(*new)


def _own(layers: Layers) -> Draft:
    try:
        data = read_file(layers.person)
        return {} if data is None else _draft(decode(data, layers.person), layers.person)
    except ConfigError:
        return {}  # its faults are told when it is used; the project's file can change meanwhile
