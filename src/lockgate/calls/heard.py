"""What hooks said of a call before it was decided, kept with it for as long as it lasts.

Hooks are asked once. Whatever is decided anew, after an answer that took time or in another
process, goes by what they said then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from lockgate.content import Content, EmbeddedResource, Text
from lockgate.decision import Reason
from lockgate.tools.result import ToolResult

ASKS: Final = "hook_asks"
"""The code of the reason for which a hook has a call asked about (`hooks.merge`)."""
REWRITES: Final = "hook_rewrites"
"""That of the note that a hook has changed its arguments (as above)."""
_MARK: Final = "[from hooks, not from the tool]"
_FORGED: Final = re.compile(r"\[(?=\s*from\s+hooks)", re.IGNORECASE)
"""How a mark begins, wherever in a line: there are many characters that show as a line's end."""


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
    told = Text(f"{_MARK}\n{context}")
    return msgspec.structs.replace(result, content=(*result.content, told))


def without_marks(result: ToolResult) -> ToolResult:
    """A tool's own result, in which nothing looks like what hooks say: a backslash stands before
    the bracket."""
    content = tuple([_unmarked(block) for block in result.content])
    if all(new is old for new, old in zip(content, result.content, strict=True)):
        return result
    return msgspec.structs.replace(result, content=content)


def _unmarked(block: Content) -> Content:
    if not isinstance(block, Text | EmbeddedResource) or not block.text:
        return block
    text = _FORGED.sub(r"\\[", block.text)
    return block if text == block.text else msgspec.structs.replace(block, text=text)
