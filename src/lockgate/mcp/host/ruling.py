"""A ruling: what one server's tool is declared to be, and why. Made by `trust`, read by others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    SideEffectLevel,
)

Source: TypeAlias = Literal["default", "claim", "verdict"]
"""`default`: the worst case, nothing believed; `claim`: trusted annotations; `verdict`: the
operator's word."""


@dataclass(frozen=True, slots=True, repr=False)
class Ruling:
    """What one tool definition is declared to be, and why."""

    level: SideEffectLevel
    destructive: DestructiveBehavior
    """NON_DESTRUCTIVE whenever `level` is READ_ONLY (S0-13)."""
    idempotent: IdempotencyBehavior
    """Nobody reads it under READ_ONLY."""
    concurrent: ConcurrencyBehavior
    source: Source
    """The strongest source behind `level`, `destructive` or `idempotent`."""
    reasons: Mapping[str, str]
    """One sentence for each of `level`, `destructive`, `idempotent`, `concurrent`; and for `pin`
    where its server has pins."""
    remarks: tuple[str, ...] = ()
    """What is odd about the claim, one sentence each."""
    unreviewed: bool = False
    """Whether it is another definition than the one that was pinned."""

    def __post_init__(self) -> None:
        if (
            self.level is SideEffectLevel.READ_ONLY
            and self.destructive is DestructiveBehavior.DESTRUCTIVE
        ):
            raise ValueError("a ruling is never read-only and destructive at once")

    def laxer_than(self, other: Ruling) -> bool:
        """Whether this lets anything pass that `other` does not, on any axis."""
        mutates = self.level is SideEffectLevel.MUTATING
        return (
            (not mutates and other.level is SideEffectLevel.MUTATING)
            or _laxer(self.destructive, other.destructive, DestructiveBehavior.DESTRUCTIVE)
            or (mutates and _laxer(self.idempotent, other.idempotent, _NON_IDEMPOTENT))
            or _laxer(self.concurrent, other.concurrent, ConcurrencyBehavior.SEQUENTIAL)
        )

    def __repr__(self) -> str:
        traits = (self.level, self.destructive, self.idempotent, self.concurrent)
        return f"<Ruling {' '.join(trait.name for trait in traits)} by {self.source}>"


_NON_IDEMPOTENT = IdempotencyBehavior.NON_IDEMPOTENT


def _laxer(mine: object, theirs: object, strict: object) -> bool:
    return mine is not strict and theirs is strict
