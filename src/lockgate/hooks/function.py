"""A function as a hook: `@hook(HookEvent.PRE_TOOL, matcher="Bash(git push:*)")`."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from lockgate.errors import LocalError
from lockgate.hooks.event import HookEvent
from lockgate.hooks.hook import TIMEOUT, Hook, HookFunction
from lockgate.rules.rule import Rule


def hook(
    event: HookEvent,
    *,
    matcher: Rule | str | None = None,
    name: str | None = None,
    denies_on_error: bool = False,
    timeout: float = TIMEOUT,
) -> Callable[[HookFunction], Hook]:
    """Make an async function that takes a `HookInput` the hook of `event`.

    It returns a `HookResult`, or None for no opinion. `name` is by default the function's;
    `matcher`, `denies_on_error` and `timeout` (seconds) as of `Hook`. Raises `LocalError` for a
    function that can not be waited for.
    """

    def made(function: HookFunction) -> Hook:
        called = getattr(function, "__call__", None)  # noqa: B004 - whether an object's call waits
        if not (inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)):
            raise LocalError("a hook is an async function: async def name(told: HookInput)")
        told = name or getattr(function, "__name__", type(function).__name__)
        return Hook(event, function, told, matcher, denies_on_error, timeout)

    return made
