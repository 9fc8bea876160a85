"""The one ruling: what we believe a server's tool can do (S0-11).

Claim → ruling → declaration. `resolve` is called by the manager, once for each definition that it
registers, and nowhere else; whatever is shown later prints the ruling made here. For each axis the
operator's verdict comes first, then the claim if its server is trusted, then the worst case. Of a
definition that changed since it was pinned only what is strict counts, in claim and verdict (B-06).
Leniency (read-only wins over destructive) is for claims; a verdict that contradicts itself can not
even be constructed (`settings.Verdict`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from lockgate.mcp.host.pins import UNPINNED, PinState, Standing
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
_Any = TypeVar("_Any")

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


def resolve(
    claims: Claims, trust: AnnotationTrust, verdict: Verdict | None, pin: PinState = UNPINNED
) -> Ruling:
    """Rule on one tool: what it claims, whether its server is believed, what the operator said.

    `verdict` is None, or has no field set, when the operator said nothing about the tool. One that
    speaks of `destructive` or `idempotent` without a level makes the tool MUTATING (S0-13). Names,
    descriptions and schemas are not looked at: they never lower a level (PB-132). `pin` is how the
    definition stands to the one that was reviewed: where it CHANGED, no claim is believed and no
    verdict loosens, so the ruling is never laxer than the same one without a pin (B-06).
    """
    said = verdict or Verdict()
    trusted = trust is AnnotationTrust.TRUST
    doubt = "annotationTrust is ignore"
    if pin.standing is Standing.CHANGED:
        said = _strict(said)
        if trusted:
            trusted = False
            doubt = "it changed since it was " + ("pinned" if pin.changed else "judged")

    level, level_from, level_why = _axis(
        said.level,
        "readOnlyHint",
        claims.read_only,
        _LEVELS,
        None if trusted else doubt,
        SideEffectLevel.MUTATING,
    )
    if said.level is None and (said.destructive or said.idempotent):
        level, level_from = SideEffectLevel.MUTATING, "verdict"
        level_why = "the operator's verdict says how it mutates, so it is mutating"

    destructive, destructive_from, destructive_why = _axis(
        said.destructive,
        "destructiveHint",
        claims.destructive,
        _DESTRUCTIVE,
        None if trusted else doubt,
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
        None if trusted else doubt,
        IdempotencyBehavior.NON_IDEMPOTENT,
    )

    concurrent, concurrent_why = said.concurrent, "the operator's verdict"
    if concurrent is None:
        concurrent = ConcurrencyBehavior.SEQUENTIAL
        concurrent_why = "no hint speaks of it, so calls wait for each other"

    remarks = claims.remarks
    if claims.read_only and claims.destructive:
        remarks += ("it claims to be read-only and destructive at once",)
    reasons = {
        "level": level_why,
        "destructive": destructive_why,
        "idempotent": idempotent_why,
        "concurrent": concurrent_why,
    }
    if pin.standing is not Standing.UNPINNED:
        reasons["pin"], remark = _pinned(pin)
        if remark is not None:
            remarks += (remark,)
        if said != (verdict or Verdict()):
            remarks += ("the operator's verdict on it counts only where it is strict",)
    return Ruling(
        level,
        destructive,
        idempotent,
        concurrent,
        max(level_from, destructive_from, idempotent_from, key=_STRENGTH.__getitem__),
        reasons,
        remarks,
        pin.standing is Standing.CHANGED and bool(pin.changed),
    )


def _axis(
    word: _Trait | None,
    hint: str,
    claim: bool | None,
    meaning: Mapping[bool, _Trait],
    doubt: str | None,
    worst: _Trait,
) -> tuple[_Trait, Source, str]:
    """The operator's word, else the claim if there is no doubt in it, else the worst; whence, and
    why."""
    if word is not None:
        return word, "verdict", "the operator's verdict"
    if claim is None:
        return worst, "default", f"no {hint} is claimed, so the worst is assumed"
    claimed = f"the server claims {hint}: {str(claim).lower()}"
    if doubt is None:
        return meaning[claim], "claim", f"{claimed}, and annotationTrust is trust"
    return worst, "default", f"{claimed}, not believed because {doubt}"


def _strict(said: Verdict) -> Verdict:
    """The part of a verdict that loosens nothing."""
    return Verdict(
        _only(said.level, SideEffectLevel.MUTATING),
        _only(said.destructive, DestructiveBehavior.DESTRUCTIVE),
        _only(said.idempotent, IdempotencyBehavior.NON_IDEMPOTENT),
        _only(said.concurrent, ConcurrencyBehavior.SEQUENTIAL),
        said.pin,
    )


def _only(word: _Any | None, strict: _Any) -> _Any | None:
    return strict if word is strict else None


def _pinned(pin: PinState) -> tuple[str, str | None]:
    """What the pin says, as a reason, and what is remarkable about it."""
    match pin.standing:
        case Standing.SAME:
            return "it is what was pinned", None
        case Standing.CHANGED if not pin.changed:
            what = "the verdict on it was given for another definition"
            return what, f"{what}; until a new one is given nothing loosens for it"
        case Standing.CHANGED:
            what = f"it changed since it was pinned: {', '.join(pin.changed)}"
            return what, f"{what}; until it is reviewed nothing loosens for it"
        case _:
            return "it is not pinned", "its server has pins, and nobody has reviewed this tool"
