"""A bound over all executions of a runtime: what a reload of the configuration has made tighter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from lockgate.calls.declared import HOOK
from lockgate.policy.ceiling import narrow, whole
from lockgate.rules.offers import bind_offer
from lockgate.tools.context import Bounds, Execution
from lockgate.tools.registry import Snapshot
from lockgate.traits import SideEffectLevel


@dataclass(frozen=True, slots=True)
class Limit:
    """Holds for executions that have begun, too: from their next call on."""

    ceiling: SideEffectLevel
    offer: tuple[str, ...] | None
    """Tool names and patterns; None: everything."""
    control: tuple[Path, ...] = ()
    """Real paths, and names, of more files that decide what is in force (`Environment.control`)."""

    def within(self, bounds: Bounds, snapshot: Snapshot, *, entry: str) -> Bounds:
        """`bounds`, never wider than this. The offer says nothing of a hook's own calls."""
        offer: frozenset[str] | None = None
        if self.offer is not None and entry != HOOK:
            patterns = self.offer
            # In a tuple: what is derived may not be None.
            offer = snapshot.derived(
                (bind_offer, patterns), lambda: (bind_offer(patterns, snapshot),)
            )[0]
        return narrow(whole(self.ceiling, offer), bounds)

    def over(self, execution: Execution, snapshot: Snapshot) -> Execution:
        """`execution` within this."""
        environment = execution.environment
        if self.control:
            control = (*environment.control, *self.control)
            environment = replace(environment, control=tuple(dict.fromkeys(control)))
        bounds = self.within(execution.bounds, snapshot, entry=execution.entry)
        return replace(execution, bounds=bounds, environment=environment)
