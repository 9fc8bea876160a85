"""Where the calls of a gate are made: the directories they start from, reach, and never reach."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Final

from lockgate.app.program_files import config_files
from lockgate.calls.filesystem import RealFileSystem, RememberedFileSystem
from lockgate.calls.paths import real_path
from lockgate.errors import ConfigError
from lockgate.mcp.endpoint import Endpoint, StdioEndpoint
from lockgate.process.program import expand_home
from lockgate.settings.config import Config
from lockgate.settings.layers import locate
from lockgate.tools.context import Environment

NOTES_NAME: Final = "notes.md"
KNOWLEDGE_NAME: Final = "knowledge.db"
"""In the state directory, unless the configuration names another place."""
_BESIDE: Final = ("", "-wal", "-shm", "-journal")


def make_environment(
    config: Config,
    state_dir: Path,
    *,
    cwd: Path,
    environ: Mapping[str, str],
    threads: Executor | None = None,
) -> Environment:
    """The environment of every call of a gate, each path of it real. `cwd` and `environ` are those
    of the process."""
    project = config.project_dir or cwd
    barred = [state_dir]
    notes = config.notes or state_dir / NOTES_NAME
    knowledge = config.knowledge or state_dir / KNOWLEDGE_NAME
    # SQLite keeps a file beside it for what is not written into it yet, and some more.
    barred += [knowledge.with_name(f"{knowledge.name}{end}") for end in _BESIDE]
    control = [*config.sources, *config.definitions, *config_files(config, project, environ)]
    defined = (*config.agent.agents, *config.agent.skills)
    control += [one.path for one in defined if one.path is not None]
    control += [skill.directory for skill in config.agent.skills if skill.directory is not None]
    if config.answers is not None:
        barred.append(config.answers.parent)
    if config.credentials.file is not None:
        barred.append(config.credentials.file)
    try:
        layers = locate(project, environ, project / "lockgate.yaml")
    except ConfigError:  # no home: then there is no person's configuration either
        pass
    else:
        # All of lockgate's state, the answers for other projects too, and the person's own policy.
        barred += [layers.accepted_dir.parent, layers.person.parent]
        control.append(layers.project)
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    files = RememberedFileSystem(RealFileSystem())  # most of them lie below the same directories

    def real(path: Path) -> Path:
        return Path(real_path(str(path.absolute()), files))

    def each(paths: list[Path]) -> tuple[Path, ...]:
        # Each by where it really is, and by the name it goes by: a link may be put in its place.
        named = [path.absolute() for path in paths]
        return tuple(dict.fromkeys([*map(real, paths), *named]))

    return Environment(
        real(project),
        roots=tuple(map(real, config.roots)),
        threads=threads,
        barred=each(barred),
        control=each(control),
        notes=real(notes),
        knowledge=real(knowledge),
        home=real(Path(home)) if Path(home).is_absolute() else None,
        server_dirs={
            server.name: real(Path(expand_home(str(directory), environ)))
            for server in config.servers
            if (directory := _directory(server.endpoint)) is not None
        },
    )


def _directory(endpoint: Endpoint) -> Path | None:
    """Where the operator says that a server runs; None where nobody does. Many servers start
    relative paths at a directory that they are told to serve, and not where they run."""
    if isinstance(endpoint, StdioEndpoint) and endpoint.cwd_said:
        return endpoint.cwd
    return None
