"""What is known of a running call: how often it was tried, and what became of it so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from lockgate.calls import refusals
from lockgate.calls.leash import Pulled
from lockgate.calls.replay import another_try, together
from lockgate.errors import Fate
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.tools.tool import Declared

MAX_DETAIL: Final = 2000
"""Characters of a failure's own words that are repeated to the model."""

_UNKNOWN: Final = Fate.UNKNOWN

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
    _settled: Fate | None = None
    """The fate of all ended attempts together; None before the first has ended."""
    _outcome: Outcome | None = None
    _pulled: Pulled | None = None
    _cause: str = ""
    _detail: str = ""

    def begin(self) -> None:
        """An attempt starts: from here on nobody can say that nothing was sent."""
        self.count += 1
        self.fate = _UNKNOWN

    def end(self, outcome: Outcome | None, pulled: Pulled | None) -> None:
        """An attempt ended: by itself with `outcome`, or by being `pulled`, or both.

        Neither means that it was cancelled from inside, which says nothing about what was sent. An
        outcome without a result is an error of the tool's.
        """
        outcome = _checked(outcome)
        self._outcome, self._pulled = outcome, pulled
        last = _UNKNOWN if outcome is None else outcome.fate
        self.fate = self._settled = together(self._settled, last)
        if last is _UNKNOWN:
            self._cause, self._detail = _WORDS[pulled]
            if outcome is not None:
                self._cause = outcome.result.reason or self._cause
                self._detail = _cut(outcome.result.text)

    def again(self) -> bool:
        """Whether the call may be tried once more, as far as its traits and its fate go."""
        outcome = self._outcome
        if self._pulled is not None:
            return False
        fate = _UNKNOWN if outcome is None else outcome.fate
        kind = None if outcome is None else outcome.result.kind
        return another_try(self.tool, fate, self.count, same_invocation=True, kind=kind).allowed

    def result(self, look: Sequence[str]) -> ToolResult:
        """What the call comes to. `look` are names of tools that may show what became of it.

        A fate that is unknown is told as such, whatever the tool made of it (B-03).
        """
        if self.fate is _UNKNOWN or self._outcome is None:
            return refusals.outcome_unknown(self.tool, self._cause, self._detail, self.count, look)
        result = self._outcome.result
        if self._pulled is Pulled.INTERRUPT and self.fate is Fate.NOT_SENT:
            return ToolResult.error(
                ErrorKind.INTERRUPTED, f"{result.text}\nNothing was sent.", reason="interrupted"
            )
        return result


def _checked(outcome: Outcome | None) -> Outcome | None:
    if outcome is None or isinstance(outcome.result, ToolResult):  # pyright: ignore[reportUnnecessaryIsInstance] - a tool may return anything
        return outcome
    what = f"the tool returned a {type(outcome.result).__name__} in the place of a result"
    return Outcome(ToolResult.error(ErrorKind.TOOL_ERROR, what, reason="no_result"), outcome.fate)


def _cut(text: str) -> str:
    if len(text) <= MAX_DETAIL:
        return text
    return f"{text[:MAX_DETAIL]} [{len(text) - MAX_DETAIL} more characters]"
