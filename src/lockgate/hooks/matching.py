"""Which hooks a call is for: matchers in the grammar of permission rules, bound to each tool.

A matcher is asked what a deny rule is asked: whether any part of the call may be meant, a file that
a search may come upon included. One that can not be evaluated, or speaks of what the tool has not,
counts as matching: a hook that guards is rather asked once too often.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from lockgate.decision import Decision
from lockgate.hooks.event import HookEvent
from lockgate.hooks.hook import Hook
from lockgate.hooks.registry import Hooks
from lockgate.rules.about import AboutTool
from lockgate.rules.bind import bind
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule, RuleSet
from lockgate.tools.registry import Registered, Snapshot
from lockgate.tools.subject import Subjects

Resolve: TypeAlias = Callable[[AboutTool], Subjects]
"""Gives the subjects of the call at hand, with the paths that this matcher speaks of."""

_UNREAD: Final = frozenset({"shell_characters", "shell_length", "shell_unplaced", "shell_readings"})
"""Codes of the doubts about a shell line in which any command may stand unseen."""
_MOST: Final = 5000
"""Tools whose bound matchers are kept."""


def parse_matcher(
    text: object,
    source: str | None = None,
    *,
    servers: Collection[str] | None = None,
    known_tools: Collection[str] | None = None,
    places: Places | None = None,
) -> Rule:
    """Read a hook's matcher: `Tool`, `Tool(subject)`, `Tool(name=pattern)`, `mcp__server__*`, ...

    `servers`, `known_tools` and `places` as for `rules.parse.parse_rule`; raises `ConfigError` as
    that does.
    """
    return parse_rule(
        text,
        Decision.ASK,
        servers=servers,
        known_tools=known_tools,
        source=source,
        places=places,
    )


def with_matcher_read(
    hook: Hook, *, servers: Collection[str] | None = None, places: Places | None = None
) -> Hook:
    """`hook` with its matcher as a rule, if it is written as text. Raises as `parse_matcher`."""
    if not isinstance(hook.matcher, str):
        return hook
    source = f"the hook {hook.name}"
    return replace(
        hook, matcher=parse_matcher(hook.matcher, source, servers=servers, places=places)
    )


class Matchers:
    """The hooks of calls, bound to the tools that are called. Used on one loop."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._of: tuple[Hook, ...] = ()
        self._bound: dict[str, tuple[Registered, dict[int, AboutTool]]] = {}

    def matching(
        self, event: HookEvent, tool: Registered, arguments: Mapping[str, Any], resolve: Resolve
    ) -> tuple[Hook, ...]:
        """The hooks of `event` that a call of `tool` with `arguments` is for, in declared order."""
        hooks = self._hooks.of(event)
        if not hooks:
            return ()
        return tuple(
            hook
            for hook in hooks
            if (about := self._about(hook, tool)) is None or _matches(about, arguments, resolve)
        )

    def possible(self, event: HookEvent, tool: Registered) -> tuple[Hook, ...]:
        """Those that some call of `tool` is for, whatever its arguments."""
        return tuple(
            hook
            for hook in self._hooks.of(event)
            if (about := self._about(hook, tool)) is None or _may_match(about)
        )

    def _about(self, hook: Hook, tool: Registered) -> AboutTool | None:
        """What the matcher of `hook` says of `tool`; None if it has none, and is told of all."""
        matcher = hook.matcher
        if not isinstance(matcher, Rule):
            return None
        if self._of is not self._hooks.all:  # they were replaced
            self._of = self._hooks.all
            self._bound.clear()
        known = self._bound.get(tool.name)
        if known is None or known[0] is not tool:
            if len(self._bound) >= _MOST:
                self._bound.clear()
            known = self._bound[tool.name] = (tool, {})
        about = known[1].get(id(hook))  # held by `_of`, so the number stays its own
        if about is None:
            alone = Snapshot({tool.name: tool}, 0)
            about = known[1][id(hook)] = bind(RuleSet((matcher,)), alone).about(tool.name)
        return about


def _matches(about: AboutTool, arguments: Mapping[str, Any], resolve: Resolve) -> bool:
    if about.fixed is not None:
        return bool(about.fixed[0].rules)
    try:
        subjects = resolve(about)
        opinion = about.judge(arguments, subjects, attended=True, now=0.0)
        if not opinion.rules and about.may_come_upon(subjects):
            return True  # what a deny rule withholds in a search can not be known before it
    except Exception:  # noqa: BLE001 - what can not be looked at counts as meant
        return True
    # What is doubtful about a shell line by itself has no rule behind it: most of it leaves open
    # what the commands do, and not which they are.
    return bool(opinion.rules) or any(reason.code in _UNREAD for reason in opinion.reasons)


def _may_match(about: AboutTool) -> bool:
    opinion = about.whatever(attended=True)
    return bool(opinion.rules or opinion.notes)
