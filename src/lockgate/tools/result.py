"""What came of a call: a result for the model, its kind for programs, its fate for replay."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

import msgspec

from lockgate.content import Content, JSONObject, Text
from lockgate.errors import Fate


class ErrorKind(enum.Enum):
    """Why a call has no regular result. Closed: a consumer may match on every member."""

    INVALID_ARGUMENTS = "invalid_arguments"
    UNKNOWN_TOOL = "unknown_tool"
    NOT_OFFERED = "not_offered"
    ABOVE_CEILING = "above_ceiling"
    DENIED = "denied"
    NOT_APPROVED = "not_approved"
    TOOL_CHANGED = "tool_changed"
    UNAUTHORIZED = "unauthorized"
    RATE_LIMITED = "rate_limited"
    NOT_CONNECTED = "not_connected"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"
    SKIPPED = "skipped"
    OUTCOME_UNKNOWN = "outcome_unknown"
    TOOL_ERROR = "tool_error"
    INTERNAL = "internal"


REFUSALS = frozenset(
    {
        ErrorKind.NOT_OFFERED,
        ErrorKind.ABOVE_CEILING,
        ErrorKind.DENIED,
        ErrorKind.NOT_APPROVED,
    }
)
"""Kinds that mean: policy said no and nothing was run (exit code 3)."""


class ToolResult(msgspec.Struct, frozen=True):
    """The result of one call, as the model, people and programs see it."""

    content: tuple[Content, ...] = ()
    is_error: bool = False
    kind: ErrorKind | None = None
    """Set exactly when `is_error`."""
    reason: str | None = None
    """A code that makes one kind actionable, such as `nobody_to_ask` under NOT_APPROVED; of a
    regular result what is wrong with it, such as `unfit_output` (`calls.outputs`)."""
    structured: Any = None
    """The decoded `structuredContent`, or None."""
    meta: JSONObject | None = None
    """What a server sends beside its answer (`_meta`), as it came: for programs that know what it
    means. No model is shown it."""

    def __post_init__(self) -> None:
        if self.is_error is (self.kind is None):
            raise ValueError("an error result has a kind, and only an error result has one")

    @classmethod
    def of(cls, text: str, *, structured: Any = None) -> ToolResult:
        """A regular result of one text block."""
        return cls((Text(text),), structured=structured)

    @classmethod
    def error(
        cls,
        kind: ErrorKind,
        text: str,
        *,
        reason: str | None = None,
        content: Iterable[Content] | None = None,
        structured: Any = None,
        meta: JSONObject | None = None,
    ) -> ToolResult:
        """An error result: `text` is what the model reads, unless `content` takes its place."""
        blocks = (Text(text),) if content is None else tuple(content)
        return cls(blocks, True, kind, reason, structured, meta)

    @property
    def text(self) -> str:
        """Everything in it that can be read as text, blocks separated by newlines."""
        return "\n".join(block.as_text() for block in self.content)


class Outcome(msgspec.Struct, frozen=True):
    """A result and the fate of what was sent to get it (B-03)."""

    result: ToolResult
    fate: Fate = Fate.ANSWERED
    final: bool = False
    """Whether the call is not to be made once more, whatever its fate and its tool's traits say."""
