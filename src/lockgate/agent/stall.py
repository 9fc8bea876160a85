"""Notices a model that makes the same failing call again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockgate.tools.fingerprint import canonical_digest
from lockgate.tools.result import REFUSALS, ErrorKind, ToolResult

if TYPE_CHECKING:
    from lockgate.agent.model import ToolCall

SETTLED = REFUSALS | {
    ErrorKind.UNKNOWN_TOOL,
    ErrorKind.INVALID_ARGUMENTS,
    ErrorKind.TOOL_CHANGED,
    ErrorKind.UNAUTHORIZED,
}
"""Failures that no other call of the turn can mend: a success in between does not excuse them."""


class StallGuard:
    """Counts, for one turn, how often each call (its name and exact arguments) has failed.

    A call repeated within one reply counts once, for the model had not seen it fail yet. A success
    of any call forgets the failures that it may have mended: a test that fails, an edit, and the
    test again is work, not a stall.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: Counter[str] = Counter()
        self._settled: Counter[str] = Counter()

    def observe(self, answered: Sequence[tuple[ToolCall, ToolResult]]) -> str | None:
        """Take in the results of one reply. The name of a tool whose call has failed too often."""
        if any(not result.is_error for _, result in answered):
            self._open.clear()
        seen: set[str] = set()
        stalled: str | None = None
        for call, result in answered:
            if result.kind is None:
                continue
            key = canonical_digest([call.name, call.arguments])
            if key in seen:
                continue
            seen.add(key)
            counts = self._settled if result.kind in SETTLED else self._open
            counts[key] += 1
            if counts[key] >= self._limit and stalled is None:
                stalled = call.name
        return stalled
