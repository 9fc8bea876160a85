"""A hook that says what a script has, and remembers what it was told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import TIMEOUT, Hook
from lockgate.hooks.matching import parse_matcher
from lockgate.hooks.result import HookResult
from lockgate.rules.places import Places


class ScriptedHook:
    """Says its results in order, then nothing. A scripted `BaseException` is raised.

    With `hold` it says nothing until `release` is called: for limits, interrupts, cancellation.
    """

    def __init__(
        self, said: Iterable[HookResult | BaseException | None] = (), *, hold: bool = False
    ) -> None:
        self._said = list(said)
        self._released = asyncio.Event()
        if not hold:
            self._released.set()
        self.told: list[HookInput] = []
        """All that it was told, in order."""
        self.started = asyncio.Event()
        """Set once it was told something."""
        self.ended = 0
        """How often it came to its end, cut off or not."""

    @classmethod
    def always(cls, said: HookResult, times: int = 100) -> ScriptedHook:
        """One that says the same to the next `times` events."""
        return cls([said] * times)

    def release(self) -> None:
        """Let it say what it has to say."""
        self._released.set()

    async def __call__(self, told: HookInput) -> HookResult | None:
        """The next result of the script."""
        self.told.append(told)
        self.started.set()
        try:
            await self._released.wait()
        finally:
            self.ended += 1
        said = self._said.pop(0) if self._said else None
        if isinstance(said, BaseException):
            raise said
        return said

    def on(
        self,
        event: HookEvent,
        matcher: str | None = None,
        *,
        name: str = "scripted",
        denies_on_error: bool = False,
        timeout: float = TIMEOUT,
    ) -> Hook:
        """This as the hook of `event`; relative paths in `matcher` start from `/`."""
        rule = None if matcher is None else parse_matcher(matcher, places=Places("/"))
        return Hook(event, self, name, rule, denies_on_error, timeout)

    def __repr__(self) -> str:
        return f"<ScriptedHook: told {len(self.told)} times, {len(self._said)} left>"
