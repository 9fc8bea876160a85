"""Reading the configuration again while a gate is open, and putting into force what tightens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec.structs import replace as changed

from lockgate.app.hooking import HookMaker
from lockgate.app.reload import Reloaded, compared
from lockgate.calls.invoke import Invoker
from lockgate.calls.limit import Limit
from lockgate.errors import LocalError
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.hooks.registry import Hooks
from lockgate.settings.config import Config


class Reloader:
    """One for each gate that was opened from files."""

    def __init__(
        self,
        reread: Callable[[], Config] | None,
        *,
        make_hooks: HookMaker,
        hooks: Hooks,
        own: Sequence[Hook],
        invoker: Invoker,
        told: HookInput,
    ) -> None:
        """`reread` gives the configuration as its files are now; None: there are none. `own` are
        the program's hooks in code, which stay; `told` is what hooks are told of the gate."""
        self._reread = reread
        self._make_hooks = make_hooks
        self._hooks = hooks
        self._own = tuple(own)
        self._invoker = invoker
        self._told = told
        self._turn = asyncio.Lock()

    async def reload(self, current: Callable[[], Config]) -> Reloaded:
        """Read, ask the hooks of `config_reload`, and take what tightens what `current` gives.

        Raises `ConfigError` for a configuration that can not be used or is not accepted, and
        `LocalError` where there is none to read; nothing has changed then.
        """
        if self._reread is None:
            raise LocalError("the configuration was made by the program: there is no file to read")
        async with self._turn:
            # The files are read on the loop: they are small, and nothing may change in between.
            found = compared(current(), self._reread())
            details = {"taken": found.taken, "loosens": found.loosens, "waits": found.waits}
            merged = await self._hooks.fire(
                changed(
                    self._told,
                    event=HookEvent.CONFIG_RELOAD,
                    details={key: list(lines) for key, lines in details.items()},
                )
            )
            if merged.denied:
                return Reloaded(current(), refused=merged.why)
            config = found.config
            agent, files = config.agent, self._make_hooks.files_of(config)
            # The last that may raise: all of it is in force, or nothing.
            self._hooks.replace((*self._own, *self._make_hooks(config)))
            self._invoker.tighten(
                config.rules,
                config.approvals.exempt_at_or_below,
                Limit(agent.ceiling, agent.offer, files),
            )
            return found
