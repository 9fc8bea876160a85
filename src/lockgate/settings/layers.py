"""Which files a configuration is made of, and where a person's own state for a project lives."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lockgate.errors import ConfigError, Problem

FILE_NAME: Final = "lockgate.yaml"
"""The project's file, looked for in the working directory alone."""
PINS_NAME: Final = "lockgate.pins.json"
CREDENTIALS_NAME: Final = "credentials.json"


@dataclass(frozen=True, slots=True)
class Layers:
    """The files of one configuration, earlier layers first; none of them needs to exist."""

    person: Path
    """`$XDG_CONFIG_HOME/lockgate/config.yaml`."""
    project: Path
    """`./lockgate.yaml`, or the file that was named in its place."""
    named: bool
    """Named by the person (`-c`), not found: it must exist, and needs no acceptance (B-13)."""
    answers: Path
    """The person's own answers for this project: rules and verdicts, outside the tree."""
    project_dir: Path
    """The directory of the project's file; servers run there unless they say where."""
    state_dir: Path
    """The person's state for this project: answers, records, tickets."""
    accepted_dir: Path
    """Where accepted contents are remembered, for all projects."""

    @property
    def credentials(self) -> Path:
        """Where the person's logins are kept, for all projects: whoever logs in to a server is
        logged in to it."""
        return self.accepted_dir.parent / CREDENTIALS_NAME

    @property
    def pins(self) -> Path:
        """The project's reviewed definitions, beside its file; people commit it."""
        return self.project_dir / PINS_NAME


def locate(cwd: Path, environ: Mapping[str, str], explicit: Path | str | None = None) -> Layers:
    """Find the files, reading none of them.

    `explicit` takes the place of the project's file; it is relative to `cwd`. A base directory of
    the XDG specification that is unset or relative is the usual one under HOME. Raises
    `ConfigError` if that needs a HOME and there is none, or one that is no full path, and for a
    `lockgate.yml` that would otherwise be overlooked.
    """
    named = explicit is not None
    project = Path(cwd) / (explicit if explicit is not None else FILE_NAME)
    if not named and not project.exists():
        _refuse_look_alike(project)
    project_dir = project.parent
    config = _base(environ, "XDG_CONFIG_HOME", ".config")
    state = _base(environ, "XDG_STATE_HOME", ".local/state") / "lockgate"
    own = state / _project_name(project_dir)
    return Layers(
        person=config / "lockgate" / "config.yaml",
        project=project,
        named=named,
        answers=own / "answers.yaml",
        project_dir=project_dir,
        state_dir=own,
        accepted_dir=state / "accepted",
    )


def _base(environ: Mapping[str, str], name: str, below_home: str) -> Path:
    value = environ.get(name, "")
    if value and Path(value).is_absolute():
        return Path(value)
    home = environ.get("HOME") or environ.get("USERPROFILE")
    if not home:
        raise ConfigError(Problem("HOME is not set", hint=f"set HOME, or {name} to a full path"))
    if not Path(home).is_absolute():
        # Taken as it is, it would put what was accepted into the project that wants to be.
        hint = f"set HOME to one, or {name}"
        raise ConfigError(Problem("HOME is not a full path", hint=hint))
    return Path(home) / below_home


def _project_name(project_dir: Path) -> str:
    real = project_dir.resolve()
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", real.name).strip("-.")[:40]
    return f"{readable}-{digest}" if readable else digest


def _refuse_look_alike(project: Path) -> None:
    # Overlooking it would leave its deny rules out of force.
    for other in (project.with_suffix(".yml"), project.with_suffix(".json")):
        if other.exists():
            raise ConfigError(
                Problem(
                    "is not read", file=other, hint=f"call it {project.name}, or name it with -c"
                )
            )
