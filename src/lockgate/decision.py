"""The verdict on a call and the reasons that travel with it. Strictest wins, by `max()`."""

from __future__ import annotations

import enum

import msgspec


class Decision(enum.IntEnum):
    """Ordered by strictness, so that `max()` of several opinions is the one that counts."""

    ALLOW = 0
    ASK = 1
    DENY = 2


class Reason(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Why: a code for programs, a sentence for people, and where the rule behind it stands."""

    code: str
    """Stable, snake_case: `above_ceiling`, `deny_rule`, `destructive`, `exempt`, ..."""
    text: str
    """One sentence, without values of arguments."""
    source: str | None = None
    """The rule, file position, setting or claim that is behind it."""

    def __str__(self) -> str:
        return f"{self.text} ({self.source})" if self.source else self.text


class Decided(msgspec.Struct, frozen=True):
    """A decision with its reasons; never without one."""

    decision: Decision
    reasons: tuple[Reason, ...]

    def __post_init__(self) -> None:
        if not self.reasons:
            raise ValueError("a decision needs a reason")


def strictest(opinions: tuple[Decided, ...]) -> Decided:
    """The strictest of several opinions, with the reasons of every opinion that is as strict.

    `opinions` must not be empty: with nothing to go by, nothing may be allowed.
    """
    if not opinions:
        raise ValueError("no opinion is not a decision")
    top = max(opinion.decision for opinion in opinions)
    reasons = tuple(r for o in opinions if o.decision is top for r in o.reasons)
    return Decided(top, reasons)
