"""How far an execution may reach: one comparison for what is shown and for what is refused.

`refusal` is the only reader of a ceiling and an offer. The definition filters and the road of a
call both ask it, so what is shown and what can be executed never differ (S0-06).
"""

from __future__ import annotations

from lockgate.decision import Reason
from lockgate.tools.context import Bounds
from lockgate.tools.registry import Snapshot
from lockgate.tools.tool import Declared, Tool
from lockgate.traits import SideEffectLevel


def whole(ceiling: SideEffectLevel, offer: frozenset[str] | None = None) -> Bounds:
    """The bounds of an execution that has no parent."""
    return Bounds(ceiling, offer)


def narrow(parent: Bounds, wish: Bounds) -> Bounds:
    """What a child may have: never more than its parent, never more than it wished (B-04).

    An empty intersection of offers is nothing; None on both sides stays everything.
    """
    ceiling = wish.ceiling if parent.ceiling.permits(wish.ceiling) else parent.ceiling
    if parent.offer is None:
        offer = wish.offer
    elif wish.offer is None:
        offer = parent.offer
    else:
        offer = parent.offer & wish.offer
    return Bounds(ceiling, offer)


def shown(snapshot: Snapshot, bounds: Bounds) -> tuple[Tool, ...]:
    """The tools of `snapshot` that an execution within `bounds` is shown: those it may call.

    In the order of registration. Filtered by `refusal` itself, so that nothing is shown that would
    be refused for its bounds, and nothing hidden that would not (S0-06). Kept with the snapshot:
    asking again costs one look-up.
    """
    return snapshot.derived(
        (shown, bounds),
        lambda: tuple(
            entry.tool for entry in snapshot.entries.values() if refusal(entry, bounds) is None
        ),
    )


def refusal(tool: Declared, bounds: Bounds) -> Reason | None:
    """Why `tool` is out of bounds, or None. Reads names and `permits()`, nothing else (S0-05)."""
    if bounds.offer is not None and tool.name not in bounds.offer:
        return Reason("not_offered", f"{tool.name} is not offered to this execution")
    level = tool.side_effect_level
    if not bounds.ceiling.permits(level):
        return Reason(
            "above_ceiling",
            f"{tool.name} is declared {level.value}, this execution allows {bounds.ceiling.value}",
        )
    return None
