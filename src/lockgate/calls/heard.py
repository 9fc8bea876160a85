"""What hooks said of a call before it was decided, kept with it for as long as it lasts.

Hooks are asked once. Whatever is decided anew, after an answer that took time or in another
process, goes by what they said then.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from lockgate.content import Text
from lockgate.decision import Reason
from lockgate.tools.result import ToolResult

ASKS: Final = "hook_asks"
"""The code of the reason for which a hook has a call asked about (`hooks.merge`)."""


class Heard(msgspec.Struct, frozen=True):
    """What the hooks before a call left behind, apart from its arguments."""

    asks: tuple[Reason, ...] = ()
    """Why it has to be asked about; no allow rule answers that."""
    notes: tuple[Reason, ...] = ()
    """What the records tell besides."""
    context: str = ""
    """What the model is told with the result."""


def asked_before(concerns: Iterable[Reason], context: str) -> Heard | None:
    """What is still to count of a call that was suspended, by the reasons of its question."""
    asks = tuple(reason for reason in concerns if reason.code == ASKS)
    return Heard(asks, (), context) if asks or context else None


def with_context(result: ToolResult, context: str) -> ToolResult:
    """`result` with what hooks have to say to the model, marked as theirs."""
    if not context:
        return result
    told = Text(f"[from hooks, not from the tool]\n{context}")
    return msgspec.structs.replace(result, content=(*result.content, told))
