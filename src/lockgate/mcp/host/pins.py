"""How a definition stands to the one that was reviewed: the pins, as the host needs them (B-06)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

from lockgate.mcp.host.settings import PinPolicy, Verdict
from lockgate.tools.fingerprint import Fingerprint


class PinBook(Protocol):
    """The definitions that somebody has reviewed and accepted."""

    def pinned(self, server: str) -> Mapping[str, Fingerprint]:
        """By original name, what was accepted of the tools of `server`; empty if nothing was."""
        ...


class NoPins:
    """A book in which nothing is pinned."""

    def pinned(self, server: str) -> Mapping[str, Fingerprint]:
        """Nothing."""
        del server
        return _NOTHING


_NOTHING: Final[Mapping[str, Fingerprint]] = MappingProxyType({})


class Standing(enum.Enum):
    """What the pins say of one definition."""

    UNPINNED = "unpinned"
    """Nothing of its server is pinned, or the operator turned pins off."""
    NEW = "new"
    """Other tools of its server are pinned, and this one is not."""
    SAME = "same"
    """It is what was reviewed."""
    CHANGED = "changed"
    """It is not what was reviewed."""


@dataclass(frozen=True, slots=True)
class PinState:
    """What the pins say of one definition, and in which fields it differs."""

    standing: Standing
    changed: tuple[str, ...] = ()
    """Of a CHANGED one: the fields of the fingerprint that differ, sorted; empty there if all that
    is known is that a verdict was given for another definition."""


UNPINNED: Final = PinState(Standing.UNPINNED)
"""Of a definition that no pin speaks of."""


def pin_state(
    policy: PinPolicy, pinned: Mapping[str, Fingerprint], tool: str, fingerprint: Fingerprint
) -> PinState:
    """How the definition `fingerprint` of `tool` stands to what is `pinned` of its server."""
    if policy is PinPolicy.OFF or not pinned:
        return UNPINNED
    pin = pinned.get(tool)
    if pin is None:
        return PinState(Standing.NEW)
    if pin.digest == fingerprint.digest:
        return PinState(Standing.SAME)
    return PinState(Standing.CHANGED, pin.changed(fingerprint) or ("digest",))


def verdict_state(verdict: Verdict | None, state: PinState, fingerprint: Fingerprint) -> PinState:
    """`state`, unless the verdict on the tool was given for another definition: then CHANGED."""
    if verdict is None or verdict.pin is None or verdict.pin == fingerprint.digest:
        return state
    return state if state.standing is Standing.CHANGED else PinState(Standing.CHANGED)


def withheld(policy: PinPolicy, state: PinState, server: str) -> str | None:
    """Why `pins: block` leaves a tool out; None if it does not."""
    if policy is not PinPolicy.BLOCK or state.standing is Standing.SAME:
        return None
    if state.standing is Standing.CHANGED:
        what = ", ".join(state.changed)
        return f"changed since it was pinned ({what}): lockgate pins diff {server}"
    return f"not reviewed: lockgate review {server}"
