"""What a hook says, in one form for every kind of handler."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from lockgate.hooks.failure import HookFailure


class HookDecision(enum.Enum):
    """A hook's word. The strictest of several counts (`hooks.merge`)."""

    DEFER = "defer"
    """No opinion."""
    ALLOW = "allow"
    """No objection. It never answers the gate's question."""
    ASK = "ask"
    """A person has to be asked, whatever rules and earlier answers say."""
    DENY = "deny"


class HookResult(msgspec.Struct, frozen=True):
    """What one hook says of one event. Raises `HookFailure`, a `LocalError`, for no decision."""

    decision: HookDecision | None = None
    """None: the hook only did something. Its word (`"deny"`) is taken for it."""
    reason: str = ""
    """Why, for people and for the model."""
    updated_input: Mapping[str, Any] | None = None
    """PRE_TOOL only: the arguments in whose place the call is made."""
    context: str = ""
    """Told to the model with the result, or with the prompt."""
    updated_output: str | None = None
    """POST_TOOL only: the text that the model is shown in the place of the result."""

    def __post_init__(self) -> None:
        # A program may give anything, and what is no decision would decide nothing.
        decision: Any = self.decision
        if decision is not None and not isinstance(decision, HookDecision):
            if decision not in _WORDS:
                words = ", ".join(_WORDS)
                raise HookFailure(f"decision of a HookResult is one of {words}, or None")
            msgspec.structs.force_setattr(self, "decision", HookDecision(decision))


_WORDS: Final = tuple(decision.value for decision in HookDecision)

NO_OPINION = HookResult()
