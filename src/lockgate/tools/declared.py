"""A tool whose declaration is given when it is made, in plain words of yes and no."""

from __future__ import annotations

from lockgate.tools.tool import Tool, ToolDefinition
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    InterruptBehavior,
    SideEffectLevel,
)


class DeclaredTool(Tool):
    """What is left out is the worst case (S0-02). A subclass implements `_run`.

    READ_ONLY together with destructive is accepted, and the second is never read (S0-04).
    """

    def __init__(
        self,
        definition: ToolDefinition,
        *,
        level: SideEffectLevel = SideEffectLevel.MUTATING,
        destructive: bool = True,
        idempotent: bool = False,
        concurrent: bool = False,
        interruptible: bool = False,
    ) -> None:
        """Each word means what it does in `lockgate.tools.function.tool`."""
        self._definition = definition
        self._level = level
        self._destructive = (
            DestructiveBehavior.DESTRUCTIVE if destructive else DestructiveBehavior.NON_DESTRUCTIVE
        )
        self._idempotent = (
            IdempotencyBehavior.IDEMPOTENT if idempotent else IdempotencyBehavior.NON_IDEMPOTENT
        )
        self._concurrent = (
            ConcurrencyBehavior.CONCURRENT_SAFE if concurrent else ConcurrencyBehavior.SEQUENTIAL
        )
        self._interruptible = (
            InterruptBehavior.COOPERATIVE if interruptible else InterruptBehavior.NON_INTERRUPTIBLE
        )

    @property
    def definition(self) -> ToolDefinition:
        return self._definition

    @property
    def side_effect_level(self) -> SideEffectLevel:
        return self._level

    @property
    def destructive_behavior(self) -> DestructiveBehavior:
        return self._destructive

    @property
    def idempotency_behavior(self) -> IdempotencyBehavior:
        return self._idempotent

    @property
    def concurrency_behavior(self) -> ConcurrencyBehavior:
        return self._concurrent

    @property
    def interrupt_behavior(self) -> InterruptBehavior:
        return self._interruptible
