"""One line about a call that is over: what was decided, who answered, how long, its fate."""

from __future__ import annotations

from typing import Final

from lockgate.agent.events import CallFinished
from lockgate.calls.call import Suspended
from lockgate.calls.records import DecisionRecord
from lockgate.errors import Fate
from lockgate.showing import visible
from lockgate.tools.result import ErrorKind, ToolResult

SHOWN: Final = 200
"""Characters of a name, an argument or a result that are shown."""
_SHORT: Final = 0.05
"""Seconds that are not worth telling."""


def came_of_it(event: CallFinished, record: DecisionRecord | None) -> str:
    """The line, harmless on a terminal: `NAME -> ran, yes by terminal, 1.2 s: what it said`."""
    name, result = cut(visible(event.tool)), event.result
    parts = [_decided(record, result)]
    if record is not None and record.approver is not None:
        parts.append(f"{'yes' if record.approved else 'no'} by {visible(record.approver)}")
    if event.seconds >= _SHORT:
        parts.append(lasted(event.seconds))
    if isinstance(result, Suspended):
        return f"{name} -> {', '.join(parts)}: an answer will come elsewhere, {result.ticket}"
    if result.kind is not None:
        parts.append(result.kind.value.replace("_", " "))
    if event.fate == Fate.NOT_SENT.value:
        parts.append("nothing was sent")
    elif event.fate == Fate.UNKNOWN.value and result.kind is not ErrorKind.OUTCOME_UNKNOWN:
        parts.append("its fate is unknown")
    return f"{name} -> {', '.join(parts)}: {_brief(result)}"


def _decided(record: DecisionRecord | None, result: ToolResult | Suspended) -> str:
    if isinstance(result, Suspended):
        return "waits"
    if record is None:
        return "was not made" if result.is_error else "ran"
    return {"run": "ran", "refuse": "refused", "suspend": "waits"}[record.decision]


def _brief(result: ToolResult) -> str:
    """The first line of what worked, and how many follow; of a failure as much as there is room,
    its lines one after the other."""
    first, *rest = result.text.strip().split("\n")
    if result.is_error or not rest:
        return cut(visible(" ".join((first, *rest))))
    return f"{cut(visible(first))} (and {len(rest)} more line{'' if len(rest) == 1 else 's'})"


def lasted(seconds: float) -> str:
    """A stretch of time: `0.3 s`, `12 s`, `2 min 5 s`."""
    if seconds < 10:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def cut(text: str, shown: int = SHOWN) -> str:
    """`text`, or its head and how long the whole is."""
    return text if len(text) <= shown else f"{text[:shown]} ... ({len(text)} characters)"
