"""What came of one turn: the answer, or why there is none, and everything that was done for it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lockgate.agent.model import Message, Usage
from lockgate.calls.call import Suspended
from lockgate.calls.records import DecisionRecord
from lockgate.tools.result import ToolResult


class RunStatus(enum.Enum):
    """How a turn ended. Closed: a caller may match on every member."""

    ANSWERED = "answered"
    """The model gave an answer, even if calls on the way were refused."""
    BOUND = "bound"
    """A bound was reached; `reason` is `iterations`, `seconds`, `tokens`, `repeated_failure` or
    `cut_off`."""
    INTERRUPTED = "interrupted"
    """The turn was interrupted. Every call has its result."""
    SUSPENDED = "suspended"
    """Calls wait for an answer that will come elsewhere; `waiting` holds their tickets."""
    MODEL_FAILED = "model_failed"
    """The model could not be reached or did not reply; `reason` is the fault."""
    DENIED = "denied"
    """A hook denied the turn before it began: `reason` is `hook`, `detail` says which and why. The
    model was asked nothing, and nothing was added to the transcript."""


@dataclass(frozen=True, slots=True)
class MadeCall:
    """One call that the model asked for."""

    id: str
    """The id in the decision and outcome records."""
    tool: str
    """As the model wrote it."""
    arguments: Mapping[str, Any] = field(repr=False)
    result: ToolResult | Suspended = field(repr=False)
    """What the model was shown of the result (`TurnLimits.result_characters`)."""
    decision: DecisionRecord | None = field(default=None, repr=False)
    """What was decided and why; None for a call that never came before the gate."""
    seconds: float = 0.0
    """As in `events.CallFinished`."""
    fate: str | None = None
    """As in `events.CallFinished`."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of one turn. `str()` of it is what a person wants to read."""

    text: str
    """The answer; when there is none, the last thing the model said in this turn, or nothing."""
    status: RunStatus
    execution_id: str
    reason: str | None = None
    """A code, unless the turn was answered."""
    detail: str = ""
    """One sentence for people, unless the turn was answered."""
    transcript: tuple[Message, ...] = field(default=(), repr=False)
    """The whole session up to here, this turn included."""
    calls: tuple[MadeCall, ...] = ()
    """Every call of this turn, in the order of the transcript."""
    waiting: tuple[Suspended, ...] = ()
    """The calls that wait for an answer elsewhere; `resume` takes their tickets."""
    usage: Usage = field(default_factory=Usage)
    """What the model's replies of this turn have cost, as their provider tells it."""
    child_tokens: int = 0
    """Tokens that its sub-agents and the skills that run by themselves have cost beside that. One
    in the background that goes on costs more than is known here."""

    @property
    def tokens(self) -> int:
        """All of them: what a bound counts."""
        return self.usage.total + self.child_tokens

    @property
    def answered(self) -> bool:
        """Whether the model gave its answer."""
        return self.status is RunStatus.ANSWERED

    @property
    def note(self) -> str:
        """Why there is no answer, in brackets; empty if there is one."""
        return "" if self.answered else f"[no answer: {self.detail or self.reason}]"

    def __str__(self) -> str:
        if self.answered:
            return self.text
        return f"{self.text}\n{self.note}" if self.text else self.note
