"""The hooks that a program hands in, made ready: their matchers read where its rules are."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from lockgate.errors import ConfigError, LocalError, Problem
from lockgate.hooks.hook import Hook
from lockgate.hooks.matching import with_matcher_read
from lockgate.hooks.registry import Hooks
from lockgate.rules.in_tree import IN_TREE
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule
from lockgate.schema.spelling import nearest
from lockgate.settings.config import Config


def own_hooks(
    hooks: Iterable[Hook],
    config: Config,
    *,
    cwd: Path,
    environ: Mapping[str, str],
    tools: Collection[str] | None = None,
) -> tuple[Hook, ...]:
    """`hooks`, in their order; relative paths in matchers start from the project's directory.

    `tools` are the names of the program's own; with them a matcher that names neither one of them
    nor one of ours is a fault: it would guard nothing. Raises `ConfigError` for that, and for a
    matcher that can not be read or names a server that is not configured, and `LocalError` for a
    hook that could not be run as it says.
    """
    given = tuple(_listed(hooks))
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
    read = Hooks(with_matcher_read(hook, servers=servers, places=places) for hook in given).all
    if tools is not None:
        for hook in read:
            _check_named(hook, (*tools, *IN_TREE))
    return read


def _check_named(hook: Hook, known: Collection[str]) -> None:
    rule = hook.matcher
    if not isinstance(rule, Rule) or rule.server is not None or rule.tool in (None, *known):
        return
    near = nearest(rule.tool, known)
    what = f'the matcher "{rule.text}" of the hook {hook.name} names no tool there is'
    hint = f"did you mean {' or '.join(near)}?" if near else "give the tool under tools"
    raise ConfigError(Problem(what, hint=hint))


def _listed(hooks: object) -> Iterable[Hook]:
    if isinstance(hooks, Iterable) and not isinstance(hooks, str | bytes):
        return hooks  # pyright: ignore[reportUnknownVariableType] - each is looked at next
    raise LocalError(f"hooks must be a list of lockgate.Hook, not {type(hooks).__name__}")


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
