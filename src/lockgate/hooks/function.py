"""A function as a hook: `@hook(HookEvent.PRE_TOOL, matcher="Bash(git push:*)")`."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from lockgate.errors import LocalError
from lockgate.hooks.event import HookEvent
from lockgate.hooks.hook import TIMEOUT, Hook, HookFunction
from lockgate.hooks.registry import check_timeout
from lockgate.rules.rule import Rule
from lockgate.schema.spelling import nearest


def hook(
    event: HookEvent | str,
    *,
    matcher: Rule | str | None = None,
    name: str | None = None,
    denies_on_error: bool = False,
    timeout: float = TIMEOUT,
) -> Callable[[HookFunction], Hook]:
    """Make an async function that takes a `HookInput` the hook of `event`
    (or of its word, `"pre_tool"`).

    It returns a `HookResult`, or None for no opinion. `name` is by default the function's;
    `matcher`, `denies_on_error` and `timeout` (seconds) as of `Hook`. Raises `LocalError` for a
    function that can not be waited for, a word that is no event, and a timeout that is none.
    """
    meant = _event(event)

    def made(function: HookFunction) -> Hook:
        called = getattr(function, "__call__", None)  # noqa: B004 - whether an object's call waits
        if not (inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)):
            raise LocalError("a hook is an async function: async def name(told: HookInput)")
        told = name or getattr(function, "__name__", type(function).__name__)
        check_timeout(told, timeout)
        return Hook(meant, function, told, matcher, denies_on_error, timeout)

    return made


def _event(event: object) -> HookEvent:
    for known in HookEvent:
        if event == known:
            return known
    words = [known.value for known in HookEvent]
    near = nearest(event, words) if isinstance(event, str) else ()
    hint = f"did you mean {near[0]!r}?" if near else f"event is one of {', '.join(words)}"
    raise LocalError(f"there is no event {event!r} for a hook: {hint}")
