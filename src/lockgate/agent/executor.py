"""The loop of one turn: model, calls, results, until an answer or a bound.

It works on one snapshot of the registry and asks the same function that refuses a call which
definitions to show (S0-06, S3-18). It can not tell a remote tool from a local one (S3-01). What the
model says is written down before any of its calls is made, and every call gets one result, in the
order of the calls, so that the transcript stays acceptable whatever happens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lockgate.agent.budget import TokenBudget
from lockgate.agent.clip import clip_batch
from lockgate.agent.events import (
    CallDecided,
    CallFinished,
    CallProgress,
    CallStarted,
    ModelText,
    Sink,
    TurnFinished,
    TurnStarted,
    guarded,
    ignore,
)
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import (
    Model,
    ModelReply,
    ModelRequest,
    ToolAnswer,
    ToolCall,
    UserMessage,
)
from lockgate.agent.run import MadeCall, RunResult, RunStatus
from lockgate.agent.stall import StallGuard
from lockgate.agent.stop import Stop
from lockgate.agent.transcript import Said, settle, with_unique_ids
from lockgate.agent.witness import Witness
from lockgate.calls.batch import run_batch
from lockgate.calls.call import Call, Suspended
from lockgate.calls.invoke import Invoker
from lockgate.calls.leash import Leash
from lockgate.calls.records import DecisionRecord
from lockgate.errors import PeerError
from lockgate.policy.ceiling import shown
from lockgate.tools.context import Execution, InterruptToken, ProgressSink
from lockgate.tools.registry import Snapshot
from lockgate.tools.result import ErrorKind, ToolResult


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn is made of. Nothing in it changes while the turn runs."""

    prompt: str
    execution: Execution
    snapshot: Snapshot
    """The tools of this turn: what changes meanwhile is seen by the next one."""
    instructions: str
    interrupt: InterruptToken | None = None
    sink: Sink = ignore
    missing: tuple[str, ...] = ()
    """Configured servers whose tools are not there; told to the sink."""
    parent_call: str | None = None
    """The call that this turn is the work of; None: a turn of a session."""
    budget: TokenBudget | None = None
    """What its tokens count against; None: the bound of its limits alone."""


class Executor:
    """Runs turns: one model, one road for the calls."""

    def __init__(
        self,
        model: Model,
        invoker: Invoker,
        *,
        new_call_id: Callable[[], str],
        limits: TurnLimits | None = None,
        witness: Witness | None = None,
    ) -> None:
        """`new_call_id` gives the ids of records: unique, whatever ids the model gives. `witness`
        is the one before the invoker's ledger; without it decisions are not told to the sink.
        """
        self._model = model
        self._invoker = invoker
        self._new_call_id = new_call_id
        self._limits = limits or TurnLimits()
        self._witness = witness

    async def run(self, turn: Turn, transcript: Said) -> RunResult:
        """Run one turn and add what is said in it to `transcript`, as it happens.

        Never raises for what a model's provider or a tool does. A cancellation passes through; the
        transcript then holds what was said, and the next turn answers what was left open.
        """
        settle(transcript)
        loop = _Loop(self._model, self._invoker, self._new_call_id, self._limits, turn, transcript)
        if self._witness is None:
            return await loop.run()
        with self._witness.watching(turn.execution.id, loop.decided):
            return await loop.run()


@dataclass(frozen=True, slots=True)
class _End:
    """Why the loop is over."""

    status: RunStatus
    reason: str | None = None
    detail: str = ""


_ANSWERED = _End(RunStatus.ANSWERED)


class _Loop:
    """The state of one turn."""

    def __init__(
        self,
        model: Model,
        invoker: Invoker,
        new_call_id: Callable[[], str],
        limits: TurnLimits,
        turn: Turn,
        transcript: Said,
    ) -> None:
        self._model = model
        self._invoker = invoker
        self._new_call_id = new_call_id
        self._limits = limits
        self._turn = turn
        self._transcript = transcript
        self._emit = guarded(turn.sink)
        self._stall = StallGuard(limits.repeated_failures)
        self._stop = Stop(turn.interrupt, limits.seconds)
        self._definitions = tuple(
            tool.definition for tool in shown(turn.snapshot, turn.execution.bounds)
        )
        self._made: list[MadeCall] = []
        self._decisions: dict[str, DecisionRecord] = {}
        self._text = ""
        self._tokens = 0
        self._budget = turn.budget or TokenBudget(limits.tokens)
        self._cut_off = 0

    async def run(self) -> RunResult:
        names = tuple(definition.name for definition in self._definitions)
        self._emit(
            TurnStarted(self._turn.execution.id, self._model.name, names, self._turn.missing)
        )
        self._transcript.append(UserMessage(self._turn.prompt))
        with self._stop:
            end = await self._iterate()
        self._emit(TurnFinished(end.status, end.reason))
        return RunResult(
            self._text,
            end.status,
            self._turn.execution.id,
            end.reason,
            end.detail,
            tuple(self._transcript),
            tuple(self._made),
            tuple(made.result for made in self._made if isinstance(made.result, Suspended)),
            self._tokens,
        )

    async def _iterate(self) -> _End:
        for _ in range(self._limits.iterations):
            if (stopped := self._stopped()) is not None:
                return stopped
            try:
                reply = await self._ask()
            except PeerError as error:
                return _End(RunStatus.MODEL_FAILED, error.fault.value, str(error))
            if reply is not None:
                end = await self._take(reply)
                if end is not None:
                    return end
        return self._stopped() or _End(
            RunStatus.BOUND,
            "iterations",
            f"no answer after {self._limits.iterations} rounds of model and tools",
        )

    async def _ask(self) -> ModelReply | None:
        """The model's next reply; None if the turn was stopped first."""
        with Leash(interrupt=self._stop.token):
            return await self._model.reply(
                ModelRequest(tuple(self._transcript), self._definitions, self._turn.instructions)
            )
        return None

    async def _take(self, reply: ModelReply) -> _End | None:
        """Write the reply down, then make its calls. None: go on."""
        reply = with_unique_ids(reply, self._transcript)
        self._transcript.append(reply)
        self._tokens += reply.usage.total
        self._budget.spend(reply.usage.total)
        if reply.text:
            self._text = reply.text
            self._emit(ModelText(reply.text))
        if reply.cut_off:
            return self._refuse_cut_off(reply)
        self._cut_off = 0
        if not reply.calls:
            self._text = reply.text
            return _ANSWERED
        limit = self._budget.used_up
        if limit is not None:
            self._skip(reply.calls, "token_limit", "the turn has used up its tokens")
            return _End(RunStatus.BOUND, "tokens", f"the turn has used up its {limit:,} tokens")
        return await self._make(reply.calls)

    def _refuse_cut_off(self, reply: ModelReply) -> _End | None:
        """A reply that is not whole is no answer, and none of its calls is made."""
        self._cut_off += 1
        self._skip(reply.calls, "cut_off", "the reply that asked for it was cut off before its end")
        if reply.calls and self._cut_off < self._limits.repeated_failures:
            return None  # the results tell the model, which may try a shorter way
        return _End(RunStatus.BOUND, "cut_off", "the model's reply was cut off before its end")

    async def _make(self, wanted: Sequence[ToolCall]) -> _End | None:
        turn = self._turn
        calls = [self._call(w, turn) for w in wanted]
        results = await run_batch(self._invoke, calls, turn.snapshot)
        self._record(wanted, [call.id for call in calls], results)
        if (stopped := self._stopped()) is not None:
            return stopped
        waiting = [result for result in results if isinstance(result, Suspended)]
        if waiting:
            tickets = ", ".join(f"{s.tool} (ticket {s.ticket})" for s in waiting)
            return _End(RunStatus.SUSPENDED, "waiting", f"an answer is awaited for {tickets}")
        answered = [
            (call, result)
            for call, result in zip(wanted, results, strict=True)
            if isinstance(result, ToolResult)
        ]
        stalled = self._stall.observe(answered)
        if stalled is not None:
            return _End(
                RunStatus.BOUND,
                "repeated_failure",
                f"the same call of {stalled} failed {self._limits.repeated_failures} times",
            )
        return None

    def _call(self, wanted: ToolCall, turn: Turn) -> Call:
        """The call that the model wants; its progress is asked for if anybody watches the turn."""
        identity, name, given = self._new_call_id(), wanted.name, wanted.arguments
        progress = None if turn.sink is ignore else self._watched(identity, name)
        return Call(
            identity,
            name,
            given,
            turn.execution,
            turn.parent_call,
            self._stop.token,
            progress=progress,
        )

    def _watched(self, identity: str, name: str) -> ProgressSink:
        return lambda so_far, total, message: self._emit(
            CallProgress(identity, name, so_far, total, message)
        )

    async def _invoke(self, call: Call, snapshot: Snapshot) -> ToolResult | Suspended:
        """One call down the road, told to the sink as it happens."""
        self._emit(CallStarted(call.id, call.name, call.arguments))
        clock = asyncio.get_running_loop().time
        began = clock()
        result = await self._invoker.invoke(call, snapshot)
        self._emit(CallFinished(call.id, call.name, result, clock() - began))
        return result

    def decided(self, record: DecisionRecord) -> None:
        """A decision was written down."""
        self._decisions[record.call] = record
        self._emit(CallDecided(record))

    def _record(
        self,
        wanted: Sequence[ToolCall],
        ids: Sequence[str],
        results: Sequence[ToolResult | Suspended],
    ) -> None:
        """Add one answer for each call that has one, as the model is shown it."""
        clipped = iter(clip_batch([r for r in results if isinstance(r, ToolResult)], self._limits))
        for call, call_id, result in zip(wanted, ids, results, strict=True):
            told = next(clipped) if isinstance(result, ToolResult) else result
            if isinstance(told, ToolResult):
                self._transcript.append(ToolAnswer(call.id, call.name, told))
            decision = self._decisions.pop(call_id, None)
            self._made.append(MadeCall(call_id, call.name, call.arguments, told, decision))

    def _skip(self, calls: Sequence[ToolCall], reason: str, why: str) -> None:
        """Answer calls that are not made at all."""
        ids = [self._new_call_id() for _ in calls]
        results = [
            ToolResult.error(ErrorKind.SKIPPED, f"{call.name} was not run: {why}", reason=reason)
            for call in calls
        ]
        for call, call_id, result in zip(calls, ids, results, strict=True):
            self._emit(CallFinished(call_id, call.name, result))
        self._record(calls, ids, results)

    def _stopped(self) -> _End | None:
        match self._stop.cause:
            case None:
                return None
            case "interrupted":
                return _End(RunStatus.INTERRUPTED, "interrupted", "the turn was interrupted")
            case "seconds":
                seconds = self._limits.seconds
                return _End(RunStatus.BOUND, "seconds", f"the turn took over {seconds:g} s")
