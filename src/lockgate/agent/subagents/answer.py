"""What a child's turn came to, as the result of the call that brought it about."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lockgate.agent.run import RunResult, RunStatus
from lockgate.errors import Fate
from lockgate.tools.result import ErrorKind, Outcome, ToolResult

MAX_ANSWER: Final = 60_000
"""Characters of an answer that are handed on; head and tail are kept."""
MAX_LAST_WORDS: Final = 4_000
"""Characters of what was said last, where there is no answer."""

_KINDS: Final[Mapping[RunStatus, ErrorKind]] = MappingProxyType(
    {
        RunStatus.INTERRUPTED: ErrorKind.INTERRUPTED,
        RunStatus.SUSPENDED: ErrorKind.NOT_APPROVED,
    }
)


def outcome_of(label: str, result: RunResult) -> Outcome:
    """The outcome of a call whose child has ended. It is final: no child is run a second time."""
    return Outcome(answer_of(label, result), Fate.ANSWERED, final=True)


def answer_of(label: str, result: RunResult) -> ToolResult:
    """The answer of the child `label`, or why there is none: bounded, with the tickets of calls
    that wait, and what it said last."""
    if result.answered:
        return ToolResult.of(_bounded(result.text, MAX_ANSWER) or "(it answered without a word)")
    why = result.detail or result.reason or result.status.value
    lines = [f"{label} gave no answer: {why}."]
    if result.waiting:
        lines.append(
            "It does not go on by itself. Each of these calls is made when its question is "
            "answered with yes, and its result is then told to whoever answers:"
        )
        lines.extend(f"- {one.tool}, ticket {one.ticket}" for one in result.waiting)
    if made := sum(isinstance(call.result, ToolResult) for call in result.calls):
        told = "1 call; what it" if made == 1 else f"{made} calls; what they"
        lines.append(f"It had made {told} did stays done.")
    if result.text:
        lines.append(f"It said last: {_bounded(result.text, MAX_LAST_WORDS)}")
    kind = _KINDS.get(result.status, ErrorKind.TOOL_ERROR)
    return ToolResult.error(kind, "\n".join(lines), reason=result.reason or result.status.value)


def _bounded(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters left out ...]\n{text[-half:]}"
