"""What happens in a turn, as lines for a person: each call under its number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from lockgate.agent.events import (
    CallDecided,
    CallFinished,
    CallProgress,
    CallStarted,
    Event,
)
from lockgate.bridges.arguments import value_text
from lockgate.calls.call import Suspended
from lockgate.calls.records import DecisionRecord
from lockgate.cli.progress import ProgressLines
from lockgate.showing import folded, visible
from lockgate.tools.result import ToolResult
from lockgate.traits import SideEffectLevel

SHOWN: Final = 200
"""Characters of a name, an argument or a result that are shown."""
_ALL_SHOWN: Final = 1_000
"""Characters that are shown of all the arguments of a call."""
_MIN_COLUMNS: Final = 24


class Display:
    """A turn's sink: says a line for each call that starts, is decided and has ended.

    Calls run at the same time, and several may be equal: the number in front tells whose line it
    is. Everything of a stranger is on the line of its call, made visible, and cut.
    """

    def __init__(self, say: Callable[[str], None], columns: Callable[[], int | None]) -> None:
        """`columns` is how wide lines may be at the moment; None leaves them whole."""
        self._say = say
        self._columns = columns
        self._numbers: dict[str, int] = {}
        self._sent: dict[str, str] = {}
        self._progress: dict[str, ProgressLines] = {}

    def __call__(self, event: Event) -> None:
        """Take note of an event. The answer is not shown here: it goes to standard output."""
        match event:
            case CallStarted():
                given = _given(event.arguments)
                self._line("*", event.call_id, f"{_cut(visible(event.tool))}({given})")
            case CallDecided(record=record):
                if record.decision == "run" and record.level != SideEffectLevel.READ_ONLY.value:
                    self._sent[record.call] = record.tool
                self._line(" ", record.call, decided(record))
            case CallProgress():
                lines = self._progress.setdefault(event.call_id, ProgressLines(event.tool))
                text = lines.line(event.progress, event.total, event.message)
                if text is not None:
                    self._line(" ", event.call_id, text)
            case CallFinished(result=Suspended(ticket=ticket)):
                self._line(" ", event.call_id, f"waiting for an answer, ticket {ticket}")
            case CallFinished(result=ToolResult() as result):
                self._sent.pop(event.call_id, None)
                word = f"{result.kind.value}: " if result.kind else ""
                text = f"{_cut(visible(event.tool))} -> {word}{_cut(visible(result.text))}"
                self._line(" ", event.call_id, text)
            case _:
                return

    def broken_off(self) -> None:
        """Say which mutating calls have no result, where the turn ends without giving them one."""
        for call, tool in self._sent.items():
            what = "was sent, and there is no answer: it may have taken effect"
            self._line(" ", call, f"{_cut(visible(tool))} {what}; look before it is made again")

    def _line(self, mark: str, call: str, text: str) -> None:
        number = self._numbers.setdefault(call, len(self._numbers) + 1)
        first = f"{mark} [{number}] "
        columns = self._columns()
        if columns is not None:
            width = max(columns, _MIN_COLUMNS)
            lines = folded(text, width, first, " " * len(first))
            self._say("\n".join(line.rstrip() for line in lines))
        else:
            self._say(first + text)


def decided(record: DecisionRecord) -> str:
    """One line about a decision: what, by whom, why."""
    words = {"run": "runs", "refuse": "refused", "suspend": "waits"}
    why = "; ".join(visible(reason.text) for reason in record.reasons)
    by = ""
    if record.approver is not None:
        by = f" ({'yes' if record.approved else 'no'} by {visible(record.approver)})"
    return f"{words[record.decision]}{by}: {why}"


def _given(arguments: Mapping[str, Any]) -> str:
    shown = (f"{_cut(visible(k))}={_cut(value_text(v, under=k))}" for k, v in arguments.items())
    return _cut(", ".join(shown), _ALL_SHOWN)


def _cut(text: str, shown: int = SHOWN) -> str:
    return text if len(text) <= shown else f"{text[:shown]} ... ({len(text)} characters)"
