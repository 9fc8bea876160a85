"""The calls of a model's replies: made, told to whoever watches, and answered in the transcript.

Every call gets one result, in the order of the calls, also where the turn is interrupted or
cancelled in the middle, so that a provider accepts the transcript whatever happens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from lockgate.agent.clip import clip_batch
from lockgate.agent.events import (
    CallAwaited,
    CallDecided,
    CallFinished,
    CallProgress,
    CallStarted,
    Sink,
)
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import ToolAnswer, ToolCall
from lockgate.agent.run import MadeCall
from lockgate.agent.transcript import Said, Transcript
from lockgate.agent.turn import Turn
from lockgate.calls.batch import run_batch
from lockgate.calls.call import Call, Suspended
from lockgate.calls.invoke import Invoker
from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.errors import Fate
from lockgate.tools.context import InterruptToken, ProgressSink
from lockgate.tools.registry import Snapshot
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel


class _Errand:
    """One call on its way, and what is known of it so far."""

    __slots__ = ("call", "decision", "fate", "result", "seconds", "wanted")

    def __init__(self, wanted: ToolCall, call: Call) -> None:
        self.wanted = wanted
        self.call = call
        self.decision: DecisionRecord | None = None
        self.fate: str | None = None
        self.result: ToolResult | Suspended | None = None
        self.seconds = 0.0


class ReplyCalls:
    """Makes the calls of one turn's replies."""

    def __init__(
        self,
        invoker: Invoker,
        new_call_id: Callable[[], str],
        limits: TurnLimits,
        turn: Turn,
        transcript: Said,
        emit: Sink,
        interrupt: InterruptToken,
        recorded: bool,
    ) -> None:
        """`emit` never raises. `interrupt` is set when the turn is to end. `recorded`: every record
        is told to `decided` and `ended`."""
        self._invoker = invoker
        self._new_call_id = new_call_id
        self._limits = limits
        self._turn = turn
        self._transcript = transcript
        self._emit = emit
        self._interrupt = interrupt
        self._recorded = recorded
        self._errands: dict[str, _Errand] = {}
        """Those of the reply that is being seen to, by the id of the call."""
        self.made: list[MadeCall] = []
        """Every call of the turn so far that has its answer, or waits for one elsewhere."""

    async def make(self, wanted: Sequence[ToolCall]) -> list[ToolResult | Suspended]:
        """Make these calls and write their answers down; the results, whole, in order.

        Cancelled, it writes down what is known of each.
        """
        errands = [_Errand(each, self._call(each)) for each in wanted]
        made, beyond = errands[: self._limits.calls], errands[self._limits.calls :]
        self._errands = {errand.call.id: errand for errand in made}
        self._interrupt.listen(self._interrupted)
        try:
            self._skip(
                beyond,
                "too_many_calls",
                f"a reply may have {self._limits.calls:,} calls; ask for it in a later one",
            )
            results = await run_batch(
                self._invoke, [errand.call for errand in made], self._turn.snapshot
            )
            for errand, result in zip(made, results, strict=True):
                errand.result = result  # that of a fault of ours is made by the batch
            return [*results, *(each.result for each in beyond if each.result is not None)]
        except BaseException:
            for errand in errands:
                if errand.result is None:
                    errand.result = _left_open(errand, recorded=self._recorded)
            raise
        finally:
            self._interrupt.forget(self._interrupted)
            self._record(wanted, errands)
            self._errands = {}

    def skip(self, calls: Sequence[ToolCall], reason: str, why: str) -> None:
        """Answer calls that are not made at all."""
        errands = [_Errand(each, self._call(each)) for each in calls]
        self._skip(errands, reason, why)
        self._record(calls, errands)

    def _skip(self, errands: Sequence[_Errand], reason: str, why: str) -> None:
        for errand in errands:
            name = errand.call.name
            text = f"{name} was not run: {why}"
            errand.result = ToolResult.error(ErrorKind.SKIPPED, text, reason=reason)
            self._emit(CallFinished(errand.call.id, name, errand.result))

    def decided(self, record: DecisionRecord) -> None:
        """A decision about one of them was written down."""
        errand = self._errands.get(record.call)
        if errand is not None:
            errand.decision = record
        self._emit(CallDecided(record))

    def ended(self, record: OutcomeRecord) -> None:
        """The outcome of one of them was written down."""
        errand = self._errands.get(record.call)
        if errand is not None:
            errand.fate = record.fate

    def _call(self, wanted: ToolCall) -> Call:
        """The call that the model wants; its progress is asked for if anybody watches the turn."""
        turn, identity = self._turn, self._new_call_id()
        return Call(
            identity,
            wanted.name,
            wanted.arguments,
            turn.execution,
            turn.parent_call,
            self._interrupt,
            progress=self._progress(identity, wanted.name) if turn.watched else None,
            fault=wanted.fault,
        )

    def _progress(self, identity: str, name: str) -> ProgressSink:
        return lambda so_far, total, message: self._emit(
            CallProgress(identity, name, so_far, total, message)
        )

    async def _invoke(self, call: Call, snapshot: Snapshot) -> ToolResult | Suspended:
        """One call down the road, told to the sink as it happens."""
        self._emit(CallStarted(call.id, call.name, call.arguments))
        errand = self._errands[call.id]
        clock = asyncio.get_running_loop().time
        began = clock()
        result = errand.result = await self._invoker.invoke(call, snapshot)
        errand.seconds = clock() - began
        self._keep(errand.wanted, result)
        self._emit(CallFinished(call.id, call.name, result, errand.seconds, errand.fate))
        return result

    def _keep(self, wanted: ToolCall, result: ToolResult | Suspended) -> None:
        """Have a kept session know at once what it could not say yet: under which ticket a call
        waits, and a result before the other calls of the reply have theirs."""
        if not isinstance(self._transcript, Transcript):
            return
        if isinstance(result, Suspended):
            self._transcript.put_off(wanted, result.ticket)
        elif len(self._errands) > 1:
            (told,) = clip_batch([result], self._limits)
            self._transcript.finished(ToolAnswer(wanted.id, wanted.name, told))

    def _interrupted(self) -> None:
        """Say which of the calls that run can not be broken off."""
        for errand in self._errands.values():
            record = errand.decision
            if record is None or record.decision != "run" or errand.fate is not None:
                continue
            registered = self._turn.snapshot.get(record.tool)
            if registered is not None and not registered.interruptible:
                self._emit(CallAwaited(errand.call.id, errand.call.name))

    def _record(self, wanted: Sequence[ToolCall], errands: Sequence[_Errand]) -> None:
        """Add one answer for each call that has one, as the model is shown it."""
        results = [e.result for e in errands if isinstance(e.result, ToolResult)]
        clipped = iter(clip_batch(results, self._limits))
        answers: list[ToolAnswer] = []
        for call, errand in zip(wanted, errands, strict=True):
            told: Any = errand.result
            if isinstance(told, ToolResult):
                told = next(clipped)
                answers.append(ToolAnswer(call.id, call.name, told))
            self.made.append(
                MadeCall(
                    errand.call.id,
                    call.name,
                    call.arguments,
                    told,
                    errand.decision,
                    errand.seconds,
                    errand.fate,
                )
            )
        self._transcript.extend(answers)


def _left_open(errand: _Errand, *, recorded: bool) -> ToolResult:
    """The result of a call whose turn was cancelled before it had one.

    Nothing is sent before it is recorded; where nobody tells of records, it may have been.
    """
    name, record = errand.call.name, errand.decision
    unsent = recorded if record is None else record.decision != "run"
    if unsent or errand.fate == Fate.NOT_SENT.value:
        text = f"{name} was not run: the turn was cancelled before it began."
        return ToolResult.error(ErrorKind.SKIPPED, text, reason="cancelled")
    if record is not None and record.level == SideEffectLevel.READ_ONLY.value:
        text = f"{name} was broken off with its turn. It only reads, so nothing was changed by it."
        return ToolResult.error(ErrorKind.INTERRUPTED, text, reason="cancelled")
    text = (
        f"The outcome of {name} is unknown: the turn was cancelled while it ran. It may have taken "
        "effect: look before you repeat it."
    )
    return ToolResult.error(ErrorKind.OUTCOME_UNKNOWN, text, reason="cancelled")
