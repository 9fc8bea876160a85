"""What a tool can do to the world, as five independent traits.

A *Level* is ordered, a *Behavior* is not. No trait is derived from another and none depends on
the arguments of a call (S0-15). Every default is the worst case: a tool that declares nothing is
MUTATING, DESTRUCTIVE, NON_IDEMPOTENT, SEQUENTIAL and NON_INTERRUPTIBLE (S0-02).
"""

from __future__ import annotations

import enum
from typing import Final


class SideEffectLevel(enum.Enum):
    """The highest effect a tool can have, a ladder of two rungs (S0-01)."""

    READ_ONLY = "read-only"
    """Changes no state outside the execution. The peer's logs, a read-through cache and the
    execution's own bookkeeping do not count; moving a cursor ("what is new since last time") does.
    """
    MUTATING = "mutating"
    """Everything else, and whatever nobody looked at."""

    def permits(self, required: SideEffectLevel) -> bool:
        """Whether a ceiling at this level admits something that needs `required`.

        The only comparison of levels there is; ordering operators are absent on purpose.
        """
        return self is _MUTATING or required is _READ_ONLY


# Before Python 3.12 looking up a member costs eight times as much as a name; every call compares.
_READ_ONLY: Final = SideEffectLevel.READ_ONLY
_MUTATING: Final = SideEffectLevel.MUTATING


class DestructiveBehavior(enum.Enum):
    """Whether a tool by itself can overwrite, remove or invalidate. Read only under MUTATING."""

    NON_DESTRUCTIVE = "non-destructive"
    DESTRUCTIVE = "destructive"


class IdempotencyBehavior(enum.Enum):
    """Whether a second run with the same arguments changes nothing more. Read only under MUTATING.

    It says nothing about safety: `rm -rf` is idempotent. Its one consumer is `calls.replay`.
    """

    IDEMPOTENT = "idempotent"
    NON_IDEMPOTENT = "non-idempotent"


class ConcurrencyBehavior(enum.Enum):
    """Whether calls of one tool may overlap. Read by lanes, whatever the level."""

    CONCURRENT_SAFE = "concurrent-safe"
    SEQUENTIAL = "sequential"


class InterruptBehavior(enum.Enum):
    """What a turn interrupt does to a running call, whatever the level."""

    COOPERATIVE = "cooperative"
    """The call is cancelled; if something was sent, its fate is unknown."""
    NON_INTERRUPTIBLE = "non-interruptible"
    """The call is waited for."""
