"""What is known of a running call: how often it was tried, and what became of it so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec

from lockgate.calls import refusals
from lockgate.calls.leash import Pulled
from lockgate.calls.replay import another_try, together
from lockgate.errors import Fate, Fault
from lockgate.policy.ceiling import shown
from lockgate.tools.context import Bounds
from lockgate.tools.registry import Registered, Snapshot
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.tools.tool import Declared

MAX_DETAIL: Final = 2000
"""Characters of a failure's own words that are repeated to the model."""

_ANSWERED: Final = Fate.ANSWERED
_UNKNOWN: Final = Fate.UNKNOWN
_NOT_SENT: Final = Fate.NOT_SENT
_LOST: Final = frozenset({Fault.CLOSED.value, Fault.NOT_CONNECTED.value})
"""Reasons of a result that stands for a connection which was lost."""
_UNREAD: Final = frozenset({Fault.MALFORMED.value, Fault.TOO_LARGE.value})
"""Reasons of a result that stands for an answer which nobody could read."""

_WORDS: Final[Mapping[Pulled | None, tuple[str, str]]] = {
    Pulled.DEADLINE: ("timeout", "its time was up before an answer came"),
    Pulled.INTERRUPT: ("interrupted", "the turn was interrupted while it ran"),
    None: ("abandoned", "whatever it waited for was taken away"),
}


class Attempts(msgspec.Struct):
    """The attempts of one call. Starts as not sent; `begin` makes that unknown until `end`."""

    tool: Declared
    count: int = 0
    """How often the tool was started."""
    fate: Fate = Fate.NOT_SENT
    """What is known now; while an attempt runs, that it may have taken effect."""
    sent: int = 0
    """How many of those that ended are not proven to have done nothing."""
    _settled: Fate | None = None
    """The fate of all ended attempts together; None before the first has ended."""
    _outcome: Outcome | None = None
    _pulled: Pulled | None = None
    _cause: str = ""
    _detail: str = ""
    _unsent: str = ""
    """What kept the last try from being sent, if one before it was."""

    def begin(self) -> None:
        """An attempt starts: from here on nobody can say that nothing was sent."""
        self.count += 1
        self.fate = _UNKNOWN

    def answered(self, outcome: Outcome | None) -> ToolResult | None:
        """The result of a first attempt that was answered, and by no error.

        What `end`, `again` and `result` come to for nearly every call; None for all others, and
        then nothing is noted.
        """
        if outcome is None or outcome.fate is not _ANSWERED or self.count != 1:
            return None
        result = outcome.result
        if type(result) is not ToolResult or result.is_error:
            return None
        self.fate = self._settled = _ANSWERED
        self._outcome = outcome
        self.sent = 1
        return result

    def end(self, outcome: Outcome | None, pulled: Pulled | None) -> None:
        """An attempt ended: by itself with `outcome`, or by being `pulled`, or both.

        Neither means that it was cancelled from inside, which says nothing about what was sent. An
        outcome without a result is an error of the tool's.
        """
        outcome = _checked(outcome)
        self._outcome, self._pulled = outcome, pulled
        last = _UNKNOWN if outcome is None else outcome.fate
        self.fate = self._settled = together(self._settled, last)
        if last is _NOT_SENT:
            if self.sent and outcome is not None:
                self._unsent = _cut(outcome.result.text)
            return
        self.sent += 1
        if last is _UNKNOWN:
            self._cause, self._detail = _WORDS[pulled]
            if outcome is not None:
                self._cause = outcome.result.reason or self._cause
                self._detail = _cut(outcome.result.text)

    def again(self) -> bool:
        """Whether the call may be tried once more, as far as its traits and its fate go."""
        outcome = self._outcome
        if self._pulled is not None or (outcome is not None and outcome.final):
            return False
        fate = _UNKNOWN if outcome is None else outcome.fate
        kind = None if outcome is None else outcome.result.kind
        return another_try(self.tool, fate, self.count, same_invocation=True, kind=kind).allowed

    def result(self, look: Sequence[str]) -> ToolResult:
        """What the call comes to. `look` are names of tools that may show what became of it.

        A fate that is unknown is told as such, whatever the tool made of it (B-03); but of a call
        that only reads and found nobody there, that is all there is to tell.
        """
        if self.fate is _UNKNOWN or self._outcome is None:
            lost = self._lost_read() if self.tool.is_read_only else None
            if lost is not None:
                return lost
            return refusals.outcome_unknown(
                self.tool, self._cause, self._detail, self.sent, look, self._unsent
            )
        result = self._outcome.result
        if self._is_unread(result):
            return refusals.answer_unread(result)
        if self._pulled is Pulled.INTERRUPT and self.fate is Fate.NOT_SENT:
            return ToolResult.error(
                ErrorKind.INTERRUPTED, f"{result.text}\nNothing was sent.", reason="interrupted"
            )
        return result

    def _lost_read(self) -> ToolResult | None:
        """What is told if the last try was not sent, or its connection was lost; else None.

        A time that ran out is not told as such: an earlier try was sent (B-03)."""
        outcome = self._outcome
        if outcome is None or self._pulled is not None:
            return None
        kind, reason = outcome.result.kind, outcome.result.reason
        if outcome.fate is not _NOT_SENT and reason in _LOST:
            kind = ErrorKind.NOT_CONNECTED
        elif outcome.fate is not _NOT_SENT or kind is None or kind is ErrorKind.TIMEOUT:
            return None
        unsent = "" if kind is ErrorKind.NOT_CONNECTED else self._unsent
        return refusals.read_lost(kind, reason, self._detail, unsent)

    def _is_unread(self, result: ToolResult) -> bool:
        """Whether it was answered, by something that nobody could read, and may have been done."""
        return (
            result.reason in _UNREAD
            and self.fate is Fate.ANSWERED
            and result.kind is ErrorKind.TOOL_ERROR
            and not self.tool.is_read_only
        )


def near_readers(snapshot: Snapshot, bounds: Bounds, registered: Registered) -> tuple[str, ...]:
    """Names of tools shown within `bounds`, of the same place, that read."""
    server = registered.definition.origin.server
    near = (
        other.name
        for other in shown(snapshot, bounds)
        if other.is_read_only and other.definition.origin.server == server
    )
    return tuple(islice(near, 3))


def _checked(outcome: Outcome | None) -> Outcome | None:
    if outcome is None or isinstance(outcome.result, ToolResult):  # pyright: ignore[reportUnnecessaryIsInstance] - a tool may return anything
        return outcome
    what = f"the tool returned a {type(outcome.result).__name__} in the place of a result"
    failed = ToolResult.error(ErrorKind.TOOL_ERROR, what, reason="no_result")
    return Outcome(failed, outcome.fate, outcome.final)


def _cut(text: str) -> str:
    if len(text) <= MAX_DETAIL:
        return text
    return f"{text[:MAX_DETAIL]} [{len(text) - MAX_DETAIL} more characters]"
