"""What a child is to be, and what of that it gets: never more than its parent has."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from lockgate.agent.limits import TurnLimits
from lockgate.policy.ceiling import narrow, whole
from lockgate.rules.offers import bind_offer
from lockgate.tools.context import Bounds, ToolContext
from lockgate.tools.registry import Snapshot
from lockgate.traits import SideEffectLevel


@dataclass(frozen=True, slots=True)
class Wish:
    """What a child is to be. What its parent has not, it does not get."""

    label: str
    """Its name in records, questions and events."""
    entry: str
    """The road its calls come by (`app.entries`)."""
    instructions: str
    prompt: str
    ceiling: SideEffectLevel | None = None
    """None: its parent's."""
    offer: tuple[str, ...] | None = None
    """Tool names and `mcp__server__*` patterns; None: everything that its parent is offered."""
    model: str | None = None
    """Its name, as in a configuration; None: its parent's model."""
    skill: str | None = None
    """The skill that it is the work of, whose hooks are for its calls; None: none of its own."""
    iterations: int | None = None
    """This and the following are bounds as in `TurnLimits`; None: its parent's, which it never
    exceeds."""
    seconds: float | None = None
    tokens: int | None = None


def narrowed(parent: Bounds, wish: Wish, snapshot: Snapshot) -> Bounds:
    """The bounds of a child: what it wishes of what its parent has (B-04).

    Raises `ConfigError` for a pattern that can not be read.
    """
    offer = snapshot.derived((bind_offer, wish.offer), lambda: (bind_offer(wish.offer, snapshot),))[
        0
    ]
    ceiling = parent.ceiling if wish.ceiling is None else wish.ceiling
    return narrow(parent, whole(ceiling, offer))


def limited(parent: TurnLimits, wish: Wish, context: ToolContext) -> TurnLimits:
    """The parent's limits, or what is wished if that is less; no longer than the call may take."""
    seconds = parent.seconds if wish.seconds is None else min(wish.seconds, parent.seconds)
    if context.ends is not None:
        seconds = max(0.001, min(seconds, context.ends - asyncio.get_running_loop().time()))
    iterations = parent.iterations
    if wish.iterations is not None:
        iterations = min(wish.iterations, iterations)
    return replace(parent, iterations=iterations, seconds=seconds, tokens=wish.tokens)
