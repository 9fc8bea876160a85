"""The hooks of a runtime, and how those of one event are run.

All of an event's hooks run at once, each within its own time limit, and what they said is merged in
declared order. A hook that fails is a warning, and on; or a denial, where it says so and its event
decides (docs/decisions/0007).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from lockgate.errors import LocalError
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.failure import failure_words
from lockgate.hooks.hook import Hook
from lockgate.hooks.merge import NOTHING_SAID, Failure, Merged, Said, merge
from lockgate.hooks.result import NO_OPINION, HookResult
from lockgate.rules.rule import Rule

MAX_TIMEOUT: Final = 3600.0
"""Seconds that a hook may have at most: every wait has a bound."""

_CUT_OFF: Final = Failure("cut off")
_log: Final = logging.getLogger("lockgate.hooks")


class Hooks:
    """All hooks of a runtime. Used on one loop; only a reload replaces them."""

    __slots__ = ("_by_event", "all", "any")

    def __init__(self, hooks: Iterable[Hook] = ()) -> None:
        """`hooks` in the order in which they were declared. Raises `LocalError` for one that could
        not be run as it says."""
        self.any = False
        """Whether there is any hook at all: what a call looks at first."""
        self.all: tuple[Hook, ...] = ()
        """In declared order."""
        self._by_event: dict[HookEvent, tuple[Hook, ...]] = {}
        self.replace(hooks)

    def replace(self, hooks: Iterable[Hook]) -> None:
        """Have these from now on: for a reload alone. What is under way keeps those it began with.

        Raises `LocalError` as making it does, and then nothing is replaced.
        """
        new = tuple(hooks)
        for hook in new:
            _check(hook)
        self.all = new
        self.any = bool(new)
        self._by_event = {
            event: found
            for event in HookEvent
            if (found := tuple(hook for hook in new if hook.event is event))
        }

    def of(self, event: HookEvent) -> tuple[Hook, ...]:
        """The hooks of `event`, in declared order, whatever their matchers say."""
        return self._by_event.get(event, ())

    async def fire(self, told: HookInput, matching: Sequence[Hook] | None = None) -> Merged:
        """Run the hooks of `told.event` and merge what they say.

        `matching` are those to run where the event is about a call (`hooks.matching`); None runs
        all of the event. Never raises what a hook raises. Cancellation passes, and leaves no task.
        """
        hooks = self.of(told.event) if matching is None else tuple(matching)
        if not hooks:
            return NOTHING_SAID
        firing = Firing(hooks, told)
        await firing.run()
        return firing.merged()

    def __repr__(self) -> str:
        return f"<Hooks {len(self.all)}>"


class Firing:
    """The hooks of one event being run: what has been said so far is known at any time."""

    def __init__(self, hooks: Sequence[Hook], told: HookInput) -> None:
        self._hooks = tuple(hooks)
        self._told = told
        self._said: list[HookResult | Failure] = [_CUT_OFF] * len(self._hooks)

    async def run(self) -> None:
        """Run all of them, each within its limit. Cancellation passes and ends those that run."""
        if len(self._hooks) == 1:  # no task of its own
            await self._run(0)
            return
        async with asyncio.TaskGroup() as group:
            for index in range(len(self._hooks)):
                group.create_task(self._run(index))

    def merged(self) -> Merged:
        """What they say together; one that has not ended counts as failed. Failures are logged,
        with the hook's name and the kind of error alone; as a warning unless the hook was cut off,
        which an interrupt or a cancellation alone does."""
        said: list[Said] = list(zip(self._hooks, self._said, strict=True))
        merged = merge(self._told.event, said)
        for name, kind in merged.failed:
            level = logging.INFO if kind == _CUT_OFF.kind else logging.WARNING
            _log.log(level, "the hook %s failed on %s: %s", name, self._told.event.value, kind)
        return merged

    async def _run(self, index: int) -> None:
        hook = self._hooks[index]
        limit = asyncio.timeout(hook.timeout)
        try:
            async with limit:
                said: Any = await hook.run(_own(self._told))
        except TimeoutError:
            late = limit.expired()
            self._said[index] = Failure("timeout" if late else TimeoutError.__name__)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling() > 0:
                raise
            # Whatever it waited for was taken away.
            self._said[index] = Failure(type(error).__name__)
        except Exception as error:  # noqa: BLE001 - whatever a hook raises is its failure
            self._said[index] = Failure(failure_words(error))
        else:
            self._said[index] = Failure("timeout") if limit.expired() else _result(said)


def _result(said: Any) -> HookResult | Failure:
    if said is None:
        return NO_OPINION
    if isinstance(said, HookResult):
        return said
    return Failure(f"it returned {type(said).__name__}, which is no HookResult")


def _own(told: HookInput) -> HookInput:
    """A copy for one hook, which may do with it what it likes."""
    return replace(
        told,
        tool_input=_copy(told.tool_input),
        tool_response=_copy(told.tool_response),
        details=_copy(dict(told.details)),
    )


def _copy(value: Any) -> Any:
    return None if value is None else msgspec.to_builtins(value)


def _check(hook: Hook) -> None:
    """Raise `LocalError` for a hook that could not be run as it says."""
    if not isinstance(hook, Hook):  # pyright: ignore[reportUnnecessaryIsInstance] - a program may hand in anything
        raise LocalError(f"a hook is a lockgate.Hook, not {type(hook).__name__}")
    if not isinstance(hook.event, HookEvent):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
        raise LocalError(f"the hook {hook.name} is for no event; give it a lockgate.HookEvent")
    if not isinstance(hook.matcher, Rule | str | None):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
        raise LocalError(f"the matcher of the hook {hook.name} is a text such as Bash(git push:*)")
    if hook.matcher is not None and not hook.event.is_about_a_call:
        raise LocalError(
            f"the hook {hook.name} has a matcher, and {hook.event.value} is about no call; "
            "leave it out"
        )
    if hook.within is not None and not hook.event.is_about_a_call:
        raise LocalError(
            f"the hook {hook.name} is of a skill, and {hook.event.value} is about no call"
        )
    if isinstance(hook.matcher, str):
        raise LocalError(f"the matcher of the hook {hook.name} is not read yet: lockgate.open does")
    check_timeout(hook.name, hook.timeout)


def check_timeout(name: str, limit: Any) -> None:
    """Raise `LocalError` for what is no time limit of the hook `name`."""
    is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
    if not is_number or not 0 < limit <= MAX_TIMEOUT:
        raise LocalError(
            f"the time limit of the hook {name} has to be a number of seconds over 0, "
            f"and at most {MAX_TIMEOUT:g} (timeout)"
        )
