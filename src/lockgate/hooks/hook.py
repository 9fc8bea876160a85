"""One hook: when it runs, what it runs, and what its failure means."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import TypeAlias

from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.result import HookResult
from lockgate.rules.rule import Rule

HookFunction: TypeAlias = Callable[[HookInput], Awaitable[HookResult | None]]
"""What a hook runs. It may raise: see `Hook.denies_on_error`. None is no opinion."""

TIMEOUT = 30.0
"""Seconds that a hook has unless it says otherwise."""


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook, in code or declared: the same to everything that runs it."""

    event: HookEvent
    run: HookFunction
    name: str
    """For reasons, records and logs: what it runs and where it is declared, never a secret."""
    matcher: Rule | str | None = None
    """The calls it is about, in the grammar of permission rules: `Bash(git push:*)`,
    `mcp__files__*`; None: every one. Only of events that are about a call. What is written as text
    is read when a gate is opened with it, relative paths from the project's directory."""
    denies_on_error: bool = False
    """What a failure means where a hook may decide: a refusal, or a warning and on (S3-13)."""
    timeout: float = TIMEOUT
    """Seconds; overrunning them is a failure."""
    source: str | None = None
    """File and key path of a declared one."""
    within: str | None = None
    """The skill for whose execution alone it is, and for executions that this brings about; None:
    for all. Only of events that are about a call."""

    def is_for(self, skills: Collection[str]) -> bool:
        """Whether it is for an execution that is the work of these skills."""
        return self.within is None or self.within in skills
