"""What happens in a turn, for a person: what the model says, and each call under its number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from lockgate.agent.events import (
    CallAwaited,
    CallDecided,
    CallFinished,
    CallProgress,
    CallStarted,
    ChildEvent,
    Event,
    ModelText,
    ModelWrites,
    TurnFinished,
    TurnStarted,
)
from lockgate.agent.model import Usage
from lockgate.bridges.arguments import value_text
from lockgate.bridges.voice import Voice
from lockgate.calls.heard import REWRITES
from lockgate.calls.records import DecisionRecord
from lockgate.cli.call_line import came_of_it, cut, lasted
from lockgate.cli.going_on import GoingOn
from lockgate.cli.own_lines import marked_lines
from lockgate.cli.progress import ProgressLines
from lockgate.cli.writing import Writing
from lockgate.showing import folded, visible
from lockgate.traits import SideEffectLevel

_ALL_SHOWN: Final = 1_000
"""Characters that are shown of all the arguments of a call."""
_MIN_COLUMNS: Final = 24
_MODEL: Final = "the model"
_BEGUN_ANEW: Final = "[the model began its reply anew]"
_BROKEN_OFF: Final = "[broken off here; nothing of this reply is kept]"


class Display:
    """A turn's sink: a line for each call that starts, and one that says what came of it.

    Calls run at the same time, and several may be equal: the number in front tells whose line it
    is. Everything of a stranger is on the line of its call, made visible, and cut. What the model
    says appears as it is written (`flows`), or else before the calls that it asks for; then the
    answer, which asks for none, is not shown here.
    """

    def __init__(
        self,
        voice: Voice,
        columns: Callable[[], int | None],
        *,
        flows: bool = False,
        patient: bool = True,
    ) -> None:
        """`columns` is how wide lines may be at the moment; None leaves them whole: nobody looks.
        Unless `patient`, what takes its time is told where somebody does; needs a running loop."""
        self._voice = voice
        self._columns = columns
        self._flows = flows
        self._patient = patient
        self._numbers: dict[str, int] = {}
        self._decisions: dict[str, DecisionRecord] = {}
        self._progress: dict[str, ProgressLines] = {}
        self._tools: dict[str, str] = {}
        """Of the calls that are under way."""
        self._depths: dict[str, int] = {}
        self._writing: Writing | None = None
        self._unsaid: dict[tuple[str, ...], str] = {}
        """What was said last, until it shows whether calls follow; by the child that said it."""
        self._going_on = GoingOn(self._still)

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        self._take(event, ())

    def close(self) -> None:
        """The turn is over: what goes on beyond it, such as a sub-agent in the background, is still
        shown, and not how long it takes."""
        self._patient = True
        self._going_on.close()

    def broken_off(self) -> None:
        """Say what has no result where the turn ends without giving it one: a reply that was being
        written, and mutating calls."""
        self._end_writing()
        for call, record in self._decisions.items():
            if record.decision == "run" and record.level != SideEffectLevel.READ_ONLY.value:
                what = "was sent, and there is no answer: it may have taken effect"
                self._line(
                    " ", call, f"{cut(visible(record.tool))} {what}; look before it is made again"
                )

    def _take(self, event: Event, path: tuple[str, ...]) -> None:
        match event:
            case ChildEvent():
                self._take(event.event, (*path, event.agent))
            case TurnStarted():
                self._thinking(path)
            case ModelWrites(text=text):
                self._write(text, path)
            case ModelText(text=text):
                self._said(text, path)
            case CallStarted():
                self._started(event, path)
            case CallDecided(record=record):
                self._decisions[record.call] = record
                self._numbers.setdefault(record.call, len(self._numbers) + 1)
                self._rewritten(record)
                if record.decision == "run":
                    self._begin(record.call)
            case CallProgress():
                self._going_on.end(event.call_id)
                lines = self._progress.setdefault(event.call_id, ProgressLines(event.tool))
                text = lines.line(event.progress, event.total, event.message)
                if text is not None:
                    self._line(" ", event.call_id, text)
            case CallAwaited():
                name = cut(visible(event.tool))
                told = f"{name} can not be broken off and is waited for; Ctrl+C leaves at once"
                self._line(" ", event.call_id, told)
            case CallFinished():
                self._finished(event, path)
            case TurnFinished():
                self._over(event, path)

    # ------------------------------------------------------------------ what is said

    def _write(self, text: str, path: tuple[str, ...]) -> None:
        if path or not self._flows:
            return
        self._going_on.end(_MODEL)
        if self._writing is None:
            self._writing = Writing()
        self._voice.go_on(self._writing.more(text))

    def _said(self, text: str, path: tuple[str, ...]) -> None:
        if path or not self._flows:
            self._unsaid[path] = text
            return
        self._going_on.end(_MODEL)
        writing, self._writing = self._writing, None
        if writing is None:
            self._voice.go_on(f"{marked_lines(text)}\n")
        elif writing.text != text:
            self._voice.say(_BEGUN_ANEW)
            self._voice.go_on(f"{marked_lines(text)}\n")
        elif not text.endswith("\n"):
            self._voice.go_on(f"{writing.rest()}\n")

    def _say_unsaid(self, path: tuple[str, ...]) -> None:
        text = self._unsaid.pop(path, "")
        if path and text:
            self._say(f"{_indent(path)}{_who(path)} says: ", cut(visible(text.strip())))
        elif text.strip():
            self._voice.say(marked_lines(text.rstrip("\n")) if self._columns() else text)

    def _end_writing(self) -> None:
        if self._writing is not None:
            self._voice.go_on(self._writing.rest())
            self._writing = None
            self._voice.say(_BROKEN_OFF)

    # ------------------------------------------------------------------ calls

    def _started(self, event: CallStarted, path: tuple[str, ...]) -> None:
        self._going_on.end(_MODEL)
        self._say_unsaid(path)
        self._tools[event.call_id] = event.tool
        self._depths[event.call_id] = len(path)
        name = cut(visible(event.tool))
        who = f"{_who(path)}: " if path else ""
        self._line("*", event.call_id, f"{who}{name}({_given(event.arguments)})")

    def _rewritten(self, record: DecisionRecord) -> None:
        """Say that a call is not made as its line has it: the record does not hold the values."""
        for reason in record.reasons if record.decision != "refuse" else ():
            if reason.code == REWRITES:
                told = f"not with these arguments: {cut(visible(reason.text))}"
                self._line(" ", record.call, told)

    def _finished(self, event: CallFinished, path: tuple[str, ...]) -> None:
        call = event.call_id
        self._going_on.end(call)
        self._say_unsaid(path)
        self._progress.pop(call, None)
        self._depths.setdefault(call, len(path))
        record = self._decisions.pop(call, None)
        self._line(" ", call, came_of_it(event, record))
        self._tools.pop(call, None)
        if not self._tools:
            self._thinking(path)

    def _over(self, event: TurnFinished, path: tuple[str, ...]) -> None:
        self._unsaid.pop(path, None)
        if path:
            return
        self._going_on.close()
        self._end_writing()
        if self._columns() is not None and (event.usage != Usage() or event.child_tokens):
            self._say("  ", _cost(event.usage, event.child_tokens))

    # ------------------------------------------------------------------ what goes on

    def _thinking(self, path: tuple[str, ...]) -> None:
        if not path:
            self._begin(_MODEL)

    def _begin(self, key: str) -> None:
        if self._columns() is not None and not self._patient:
            self._going_on.begin(key)

    def _still(self, key: str, seconds: float) -> None:
        if self._voice.asked:
            return  # it would be told after the answer, when it is no news any more
        if key == _MODEL:
            self._say("  ", f"... the model has been thinking for {lasted(seconds)}")
        else:
            name = cut(visible(self._tools.get(key, "")))
            self._line(" ", key, f"{name} has been running for {lasted(seconds)} ...")

    # ------------------------------------------------------------------ lines

    def _line(self, mark: str, call: str, text: str) -> None:
        number = self._numbers.setdefault(call, len(self._numbers) + 1)
        inner = "  " * self._depths.get(call, 0)
        self._say(f"{inner}{mark} [{number}] ", text)

    def _say(self, first: str, text: str) -> None:
        columns = self._columns()
        if columns is not None:
            width = max(columns, _MIN_COLUMNS)
            margin = " " * min(len(first), width // 2)
            lines = folded(text, width, first[: width // 2], margin)
            self._voice.say("\n".join(line.rstrip() for line in lines))
        else:
            self._voice.say(first + text)


def _who(path: tuple[str, ...]) -> str:
    return cut(visible(path[-1]))


def _indent(path: tuple[str, ...]) -> str:
    return "  " * len(path)


def _cost(usage: Usage, children: int) -> str:
    cached = f" ({usage.cached:,} from the cache)" if usage.cached else ""
    others = f"; {children:,} more in sub-agents" if children else ""
    return f"{usage.input:,} tokens read{cached}, {usage.output:,} written{others}"


def _given(arguments: Mapping[str, Any]) -> str:
    shown = (f"{cut(visible(k))}={cut(value_text(v, under=k))}" for k, v in arguments.items())
    return cut(", ".join(shown), _ALL_SHOWN)
