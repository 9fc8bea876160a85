"""Regular results held against the output schema of their tool, where it has one (PB-120).

The schema is a promise to programs. One that is broken is told, and the call stays what it was: it
was made, and the content says what came of it (docs/decisions/0028).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from lockgate.content import Content, Text
from lockgate.schema.validate import Violation
from lockgate.tools.registry import Registered
from lockgate.tools.result import ToolResult

UNFIT: Final = "unfit_output"
"""The reason of a regular result whose structured content does not fit the tool's schema."""
NO_OUTPUT: Final = "no_structured_output"
"""The reason of one that has none, though the tool's schema asks for some."""

_TOLD: Final = 5
"""Violations that the remark names."""
_CHARACTERS: Final = 300
"""Of one violation at most: it may list what the schema admits."""


def checked(result: ToolResult, registered: Registered) -> ToolResult:
    """`result`, unless it breaks the promise of the tool's output schema; then with a remark.

    Structured content that does not fit is no structured content of the result that is returned.
    Error results are not held against the schema: they are no output. The remark repeats no value.
    """
    schema = registered.output_schema
    if schema is None or result.is_error:
        return result
    violations = schema.violations(result.structured)
    if not violations:
        return result
    content = result.content
    if result.structured is None:
        reason = NO_OUTPUT
        remark = "has no structured content, which the tool's output schema asks for"
    else:
        reason = UNFIT
        remark = f"does not fit the tool's output schema: {_told(violations)}"
        content = content or _as_text(result.structured)
    content += (Text(f"[this answer {remark}]"),)
    return msgspec.structs.replace(result, content=content, structured=None, reason=reason)


def _told(violations: Sequence[Violation]) -> str:
    told = "; ".join(_cut(str(violation)) for violation in violations[:_TOLD])
    more = len(violations) - _TOLD
    return f"{told}; and {more} more" if more > 0 else told


def _cut(text: str) -> str:
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…"


def _as_text(structured: Any) -> tuple[Content, ...]:
    """What a result without content is shown as; nothing if it has no JSON form."""
    try:
        return (Text(msgspec.json.encode(structured).decode()),)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return ()
