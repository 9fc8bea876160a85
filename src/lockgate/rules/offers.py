"""Which tools an execution is shown at all, written as names and `mcp__server__*` patterns."""

from __future__ import annotations

from collections.abc import Iterable

from lockgate.errors import ConfigError, Problem
from lockgate.rules.pattern import PatternError, ToolPattern, parse_pattern
from lockgate.tools.registry import Snapshot


def bind_offer(patterns: Iterable[str] | None, snapshot: Snapshot) -> frozenset[str] | None:
    """The registered names that an offer means in `snapshot`.

    None is an offer of everything and stays None; no pattern at all is an offer of nothing. A
    pattern that matches nothing offers nothing: see `unmatched`. Raises `ConfigError` for a pattern
    that can not be read.
    """
    if patterns is None:
        return None
    parsed = [_parsed(pattern) for pattern in patterns]
    return frozenset(
        name
        for name, entry in snapshot.entries.items()
        if any(pattern.matches(entry.tool) for pattern in parsed)
    )


def unmatched(patterns: Iterable[str] | None, snapshot: Snapshot) -> tuple[str, ...]:
    """The patterns of an offer that match no tool of `snapshot`, as they were written."""
    return tuple(
        text
        for text in patterns or ()
        if not any(_parsed(text).matches(entry.tool) for entry in snapshot.entries.values())
    )


def _parsed(text: str) -> ToolPattern:
    try:
        return parse_pattern(text)
    except PatternError as error:
        message = f"the offer {text!r} at character {error.position + 1} {error.message}"
        raise ConfigError(Problem(message, hint=error.hint)) from None
