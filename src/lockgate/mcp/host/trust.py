"""The one ruling: what we believe a server's tool can do (S0-11).

Claim → ruling → declaration. `resolve` is called by the manager, once for each definition that it
registers, and nowhere else; whatever is shown later prints the ruling made here. For each axis the
operator's verdict comes first, then the claim if its server is trusted, then the worst case.
Leniency (read-only wins over destructive) is for claims; a verdict that contradicts itself can not
even be constructed (`settings.Verdict`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from lockgate.mcp.host.ruling import Ruling, Source
from lockgate.mcp.host.settings import AnnotationTrust, Verdict
from lockgate.mcp.protocol.claims import Claims
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    SideEffectLevel,
)

_Trait = TypeVar("_Trait", SideEffectLevel, DestructiveBehavior, IdempotencyBehavior)

_LEVELS: Mapping[bool, SideEffectLevel] = {
    True: SideEffectLevel.READ_ONLY,
    False: SideEffectLevel.MUTATING,
}
_DESTRUCTIVE: Mapping[bool, DestructiveBehavior] = {
    True: DestructiveBehavior.DESTRUCTIVE,
    False: DestructiveBehavior.NON_DESTRUCTIVE,
}
_IDEMPOTENT: Mapping[bool, IdempotencyBehavior] = {
    True: IdempotencyBehavior.IDEMPOTENT,
    False: IdempotencyBehavior.NON_IDEMPOTENT,
}
"""What a hint's true and false mean on its axis."""

_STRENGTH: Mapping[Source, int] = {"default": 0, "claim": 1, "verdict": 2}


def resolve(claims: Claims, trust: AnnotationTrust, verdict: Verdict | None) -> Ruling:
    """Rule on one tool: what it claims, whether its server is believed, what the operator said.

    `verdict` is None, or has no field set, when the operator said nothing about the tool. One that
    speaks of `destructive` or `idempotent` without a level makes the tool MUTATING (S0-13). Names,
    descriptions and schemas are not looked at: they never lower a level (PB-132).
    """
    said = verdict or Verdict()
    trusted = trust is AnnotationTrust.TRUST

    level, level_from, level_why = _axis(
        said.level, "readOnlyHint", claims.read_only, _LEVELS, trusted, SideEffectLevel.MUTATING
    )
    if said.level is None and (said.destructive or said.idempotent):
        level, level_from = SideEffectLevel.MUTATING, "verdict"
        level_why = "the operator's verdict says how it mutates, so it is mutating"

    destructive, destructive_from, destructive_why = _axis(
        said.destructive,
        "destructiveHint",
        claims.destructive,
        _DESTRUCTIVE,
        trusted,
        DestructiveBehavior.DESTRUCTIVE,
    )
    if level is SideEffectLevel.READ_ONLY:
        destructive, destructive_from = DestructiveBehavior.NON_DESTRUCTIVE, level_from
        destructive_why = "what is read-only can not destroy"

    idempotent, idempotent_from, idempotent_why = _axis(
        said.idempotent,
        "idempotentHint",
        claims.idempotent,
        _IDEMPOTENT,
        trusted,
        IdempotencyBehavior.NON_IDEMPOTENT,
    )

    concurrent, concurrent_why = said.concurrent, "the operator's verdict"
    if concurrent is None:
        concurrent = ConcurrencyBehavior.SEQUENTIAL
        concurrent_why = "no hint speaks of it, so calls wait for each other"

    remarks = claims.remarks
    if claims.read_only and claims.destructive:
        remarks += ("it claims to be read-only and destructive at once",)
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
            "concurrent": concurrent_why,
        },
        remarks,
    )


def _axis(
    word: _Trait | None,
    hint: str,
    claim: bool | None,
    meaning: Mapping[bool, _Trait],
    trusted: bool,
    worst: _Trait,
) -> tuple[_Trait, Source, str]:
    """The operator's word, else the claim if it is trusted, else the worst; whence, and why."""
    if word is not None:
        return word, "verdict", "the operator's verdict"
    if claim is None:
        return worst, "default", f"no {hint} is claimed, so the worst is assumed"
    claimed = f"the server claims {hint}: {str(claim).lower()}"
    if trusted:
        return meaning[claim], "claim", f"{claimed}, and annotationTrust is trust"
    return worst, "default", f"{claimed}, not believed because annotationTrust is ignore"
