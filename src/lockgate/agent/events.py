"""What happens during a turn, told to whoever watches: a terminal, a log, a program.

Values only. A sink is called on the loop's thread and must return at once; one that fails is
logged and never harms the turn. Arguments and results are in the events, not in their `repr`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lockgate.agent.model import Usage
from lockgate.agent.run import RunStatus
from lockgate.calls.call import Suspended
from lockgate.calls.records import DecisionRecord
from lockgate.tools.result import ToolResult

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn begins."""

    execution_id: str
    model: str
    tools: tuple[str, ...]
    """The registered names that the model is shown."""
    missing: tuple[str, ...] = ()
    """The configured servers whose tools are not there (B-07)."""


@dataclass(frozen=True, slots=True)
class ModelWrites:
    """The model writes on: a piece of the text of a reply, as it comes.

    Pieces are for showing. What counts is the `ModelText` that follows the last one, also where it
    says something else (a provider that failed in the middle and was asked again). If none follows,
    the reply did not come to its end, and nothing of it is kept.
    """

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ModelText:
    """The model said something, whole: the text of a reply that came to its end."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call that the model asked for goes down the road."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CallDecided:
    """It was decided what becomes of a call, and nothing was sent yet."""

    record: DecisionRecord
    """The decision record as it was written; `record.call` is the call's id."""


@dataclass(frozen=True, slots=True)
class CallProgress:
    """A call says how far it is; only of tools that report it, as often as they like."""

    call_id: str
    tool: str
    progress: float
    """So far, in whatever the tool counts."""
    total: float | None = None
    """In all; None if that is not known."""
    message: str | None = field(default=None, repr=False)
    """In words, which may be a stranger's."""


@dataclass(frozen=True, slots=True)
class CallAwaited:
    """The turn is to end, and waits for a call that can not be broken off once it runs."""

    call_id: str
    tool: str


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A call has its result, whole; or waits for an answer that will come elsewhere."""

    call_id: str
    tool: str
    result: ToolResult | Suspended = field(repr=False)
    seconds: float = 0.0
    """From `CallStarted`, waiting for a person included; 0 for a call that was never started."""
    fate: str | None = None
    """Whether it reached whom it was for, as in its outcome record: a value of `errors.Fate`. None
    for a call that was not run."""


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is over."""

    status: RunStatus
    reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    """What the model's replies have cost."""
    child_tokens: int = 0
    """As in `run.RunResult`."""


@dataclass(frozen=True, slots=True)
class ChildEvent:
    """Something happened in the turn of a child: a sub-agent, or a skill that runs by itself."""

    agent: str
    """Its name, as in records and questions."""
    call_id: str
    """The call whose work it is."""
    event: Event
    """What happened there; a `ChildEvent` again if it was in a child of the child."""


Event: TypeAlias = (
    TurnStarted
    | ModelWrites
    | ModelText
    | CallStarted
    | CallDecided
    | CallProgress
    | CallAwaited
    | CallFinished
    | TurnFinished
    | ChildEvent
)

Sink: TypeAlias = Callable[[Event], None]


def ignore(event: Event) -> None:
    """The sink of a turn that nobody watches."""


def guarded(sink: Sink) -> Sink:
    """`sink`, but a failure of it is logged by its type and goes no further."""

    def emit(event: Event) -> None:
        try:
            sink(event)
        except Exception as error:  # noqa: BLE001 - whoever watches a turn must not break it
            _log.warning(
                "an event sink failed on %s: %s", type(event).__name__, type(error).__name__
            )

    return emit
