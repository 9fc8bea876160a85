"""Declared hooks made runnable: programs, endpoints, and tools that are called down the road."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lockgate.agent.runtime import drawn
from lockgate.app.own_hooks import own_hooks
from lockgate.app.program_files import config_files
from lockgate.bridges.hook_caller import HookCaller
from lockgate.calls.batch import Invoke
from lockgate.calls.paths import real_path
from lockgate.hooks.declared.plan import CommandHandler, DeclaredHook, HttpHandler, ToolHandler
from lockgate.hooks.hook import Hook, HookFunction
from lockgate.process.environment import child_environment
from lockgate.process.program import Program
from lockgate.settings.config import Config
from lockgate.tools.context import Environment
from lockgate.tools.registry import Snapshot

if TYPE_CHECKING:
    from lockgate.hooks.declared.mcp_tool import Caller


class HookMaker:
    """Makes the hooks of a configuration runnable, at the start and when it is read again."""

    def __init__(
        self,
        environ: Mapping[str, str],
        cwd: Path,
        invoke: Invoke,
        snapshot: Callable[[], Snapshot],
        environment: Environment,
    ) -> None:
        """`invoke` is the road for hooks that are tools, `snapshot` gives the tools of now."""
        self._environ = environ
        self._cwd = cwd
        self._invoke = invoke
        self._snapshot = snapshot
        self._environment = environment
        self._new_id = drawn()

    def __call__(self, config: Config) -> tuple[Hook, ...]:
        """The declared hooks of `config` in its order, then those of its skills. Starts nothing.

        Raises as `own_hooks` for a hook that a program's skill has.
        """
        made = self._declared(config, config.hooks)
        for skill in config.agent.skills:
            declared = [hook for hook in skill.hooks if isinstance(hook, DeclaredHook)]
            given = [hook for hook in skill.hooks if isinstance(hook, Hook)]
            hooks = (
                *self._declared(config, declared),
                *own_hooks(
                    given,
                    config,
                    cwd=self._cwd,
                    environ=self._environ,
                    tools=self._snapshot().entries,
                ),
            )
            made += tuple(replace(hook, within=skill.name) for hook in hooks)
        return made

    def _declared(self, config: Config, hooks: Sequence[DeclaredHook]) -> tuple[Hook, ...]:
        if not hooks:
            return ()
        caller = HookCaller(
            self._invoke,
            self._snapshot,
            ceiling=config.agent.ceiling,
            environment=self._environment,
            new_id=self._new_id,
        )
        return runnable(
            hooks,
            self._environ,
            variables=config.hook_variables,
            cwd=self._cwd,
            caller=caller,
        )

    def files_of(self, config: Config) -> tuple[Path, ...]:
        """What programs of `config` run: each file by where it really is, and by its name."""
        found = config_files(config, self._cwd, self._environ)
        named = [path.absolute() for path in found]
        return tuple(dict.fromkeys([*(Path(real_path(str(path))) for path in named), *named]))


def runnable(
    declared: Iterable[DeclaredHook],
    environ: Mapping[str, str],
    *,
    variables: Iterable[str],
    cwd: Path,
    caller: Caller,
) -> tuple[Hook, ...]:
    """The hooks of a configuration, in its order.

    `environ` is the host's environment, of which templates may use `variables` and programs get the
    short list of every child. Programs run in `cwd`; `caller` makes the calls of hooks that are
    tools. Nothing is started.
    """
    env = {name: environ[name] for name in variables if name in environ}
    return tuple(
        Hook(
            hook.event,
            _function(hook, environ, env, cwd, caller),
            hook.name,
            hook.matcher,
            hook.denies_on_error,
            hook.timeout,
            hook.source,
        )
        for hook in declared
    )


def program_of(hook: DeclaredHook, environ: Mapping[str, str], cwd: Path | None) -> Program | None:
    """What a hook starts; None if it is no program."""
    handler = hook.handler
    if not isinstance(handler, CommandHandler):
        return None
    return _program(hook.name, handler, environ, cwd)


def _program(
    name: str, handler: CommandHandler, environ: Mapping[str, str], cwd: Path | None
) -> Program:
    env = child_environment(environ, handler.env)
    return Program(name, handler.command, handler.args, env, cwd)


def _function(
    hook: DeclaredHook,
    environ: Mapping[str, str],
    env: Mapping[str, str],
    cwd: Path,
    caller: Caller,
) -> HookFunction:
    handler, source = hook.handler, hook.source or ""
    # Each late: a gate without such a hook needs no program, no HTTP library.
    match handler:
        case CommandHandler():
            from lockgate.hooks.declared.command import CommandHook

            return CommandHook(_program(hook.name, handler, environ, cwd))
        case HttpHandler():
            from lockgate.hooks.declared.http import HttpHook

            return HttpHook(handler, env, timeout=hook.timeout)
        case ToolHandler():
            from lockgate.hooks.declared.mcp_tool import ToolHook

            return ToolHook(
                handler, env, caller, name=hook.name, timeout=hook.timeout, source=source
            )
