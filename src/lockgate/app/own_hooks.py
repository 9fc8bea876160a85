"""The hooks that a program hands in, made ready: their matchers read where its rules are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from lockgate.errors import LocalError
from lockgate.hooks.hook import Hook
from lockgate.hooks.matching import with_matcher_read
from lockgate.hooks.registry import Hooks
from lockgate.rules.places import Places
from lockgate.settings.config import Config


def own_hooks(
    hooks: Iterable[Hook], config: Config, *, cwd: Path, environ: Mapping[str, str]
) -> tuple[Hook, ...]:
    """`hooks`, in their order; relative paths in matchers start from the project's directory.

    Raises `ConfigError` for a matcher that can not be read or names a server that is not
    configured, and `LocalError` for a hook that could not be run as it says.
    """
    given = tuple(hooks)
    if not given:
        return ()
    if any(not isinstance(hook, Hook) for hook in given):  # pyright: ignore[reportUnnecessaryIsInstance] - a program may hand in anything
        raise LocalError("hooks are lockgate.Hook values; lockgate.hook makes one of a function")
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    places = Places(
        _real(str(config.project_dir or cwd)),
        _real(home) if Path(home).is_absolute() else None,
        _real,
    )
    servers = [server.name for server in config.servers]
    read = tuple(with_matcher_read(hook, servers=servers, places=places) for hook in given)
    return Hooks(read).all


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
