"""The one ruling: what we believe a server's tool can do (S0-11).

Claim → ruling → declaration. `resolve` is called by the manager, once for each definition that it
registers, and nowhere else; whatever is shown later prints the ruling made here. For each axis the
operator's verdict comes first, then the claim if the server is trusted, then the worst case.
Leniency (read-only wins over destructive) is for claims; a verdict that contradicts itself can not
even be constructed (`settings.Verdict`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from lockgate.mcp.host.settings import AnnotationTrust, Verdict
from lockgate.mcp.protocol.claims import Claims
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    SideEffectLevel,
)

Source: TypeAlias = Literal["default", "claim", "verdict"]
"""`default`: the worst case, nothing believed; `claim`: trusted annotations; `verdict`: the
operator's word."""

_STRENGTH: Mapping[Source, int] = {"default": 0, "claim": 1, "verdict": 2}

_T = TypeVar("_T")


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
    """One sentence for each of `level`, `destructive`, `idempotent`, `concurrent`."""
    remarks: tuple[str, ...] = ()
    """What is odd about the claim, one sentence each."""

    def __repr__(self) -> str:
        traits = (self.level, self.destructive, self.idempotent, self.concurrent)
        return f"<Ruling {' '.join(trait.name for trait in traits)} by {self.source}>"


def resolve(claims: Claims, trust: AnnotationTrust, verdict: Verdict | None) -> Ruling:
    """Rule on one tool: what it claims, whether its server is believed, what the operator said.

    `verdict` is None, or has no field set, when the operator said nothing about the tool. A
    verdict on `destructive` or `idempotent` without a level makes the tool MUTATING. Names,
    descriptions and schemas are not looked at: they never lower a level.
    """
    verdict = verdict or Verdict()
    level, level_from, level_why = _axis(
        "level",
        verdict.level or _implied_level(verdict),
        "readOnlyHint",
        claims.read_only,
        {True: SideEffectLevel.READ_ONLY, False: SideEffectLevel.MUTATING},
        trust,
        SideEffectLevel.MUTATING,
    )
    if verdict.level is None and level_from == "verdict":
        level_why = "the operator's verdict says how it mutates, so it is mutating"
    destructive, destructive_from, destructive_why = _axis(
        "destructive",
        verdict.destructive,
        "destructiveHint",
        claims.destructive,
        {True: DestructiveBehavior.DESTRUCTIVE, False: DestructiveBehavior.NON_DESTRUCTIVE},
        trust,
        DestructiveBehavior.DESTRUCTIVE,
    )
    if level is SideEffectLevel.READ_ONLY:
        destructive, destructive_from = DestructiveBehavior.NON_DESTRUCTIVE, level_from
        destructive_why = "what is read-only can not destroy"
    idempotent, idempotent_from, idempotent_why = _axis(
        "idempotent",
        verdict.idempotent,
        "idempotentHint",
        claims.idempotent,
        {True: IdempotencyBehavior.IDEMPOTENT, False: IdempotencyBehavior.NON_IDEMPOTENT},
        trust,
        IdempotencyBehavior.NON_IDEMPOTENT,
    )
    concurrent = verdict.concurrent or ConcurrencyBehavior.SEQUENTIAL
    return Ruling(
        level,
        destructive,
        idempotent,
        concurrent,
        max(level_from, destructive_from, idempotent_from, key=_STRENGTH.__getitem__),
        {
            "level": level_why,
            "destructive": destructive_why,
            "idempotent": idempotent_why,
            "concurrent": (
                "no claim speaks of it; sequential unless the operator says otherwise"
                if verdict.concurrent is None
                else f"the operator's verdict says {concurrent.value}"
            ),
        },
        (*claims.remarks, *_contradiction(claims)),
    )


def _axis(
    axis: str,
    word: _T | None,
    hint: str,
    claim: bool | None,
    meaning: Mapping[bool, _T],
    trust: AnnotationTrust,
    worst: _T,
) -> tuple[_T, Source, str]:
    """The verdict's word, else the claim if trusted, else the worst; where from, and why."""
    if word is not None:
        return word, "verdict", f"the operator's verdict says {getattr(word, 'value', word)}"
    if claim is None:
        return worst, "default", f"no {hint} is claimed, so the worst is assumed"
    said = f"{hint}: {str(claim).lower()}"
    if trust is AnnotationTrust.TRUST:
        return meaning[claim], "claim", f"the server claims {said} and annotationTrust is trust"
    return worst, "default", f"the server claims {said}, not believed: annotationTrust is ignore"


def _implied_level(verdict: Verdict) -> SideEffectLevel | None:
    if verdict.destructive is None and verdict.idempotent is None:
        return None
    return SideEffectLevel.MUTATING


def _contradiction(claims: Claims) -> tuple[str, ...]:
    if claims.read_only and claims.destructive:
        return ("it claims to be read-only and destructive at once",)
    return ()
