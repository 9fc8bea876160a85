"""The loop of one turn: model, calls, results, until an answer or a bound.

It works on one snapshot of the registry and asks the same function that refuses a call which
definitions to show (S0-06, S3-18). What the model says is written down before any of its calls is
made. A reply that did not come to its end is no reply: nothing of it is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from lockgate.agent.budget import TokenBudget
from lockgate.agent.events import (
    ModelText,
    ModelWrites,
    TurnFinished,
    TurnStarted,
    guarded,
)
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import (
    Hearing,
    Model,
    ModelReply,
    ModelRequest,
    ToolCall,
    Usage,
    UserMessage,
)
from lockgate.agent.reply_calls import ReplyCalls
from lockgate.agent.run import RunResult, RunStatus
from lockgate.agent.stall import StallGuard
from lockgate.agent.stop import Stop
from lockgate.agent.transcript import Said, with_unique_ids
from lockgate.agent.turn import Turn
from lockgate.calls.call import Suspended
from lockgate.calls.invoke import Invoker
from lockgate.calls.leash import Leash
from lockgate.errors import LockgateError, PeerError
from lockgate.policy.ceiling import shown
from lockgate.tools.context import Bounds
from lockgate.tools.registry import Snapshot
from lockgate.tools.result import ToolResult
from lockgate.tools.tool import ToolDefinition

_log: Final = logging.getLogger(__name__)

ANY_MODEL_WRITES: Final = 4_096
"""Tokens that a reply of any model may have. A provider refuses to be asked for more than its model
can write, which nobody here knows, so a longer reply is not bounded beforehand."""


@dataclass(frozen=True, slots=True)
class _End:
    """Why the loop is over."""

    status: RunStatus
    reason: str | None = None
    detail: str = ""


_ANSWERED = _End(RunStatus.ANSWERED)


class TurnLoop:
    """One turn. It can not tell a remote tool from a local one (S3-01)."""

    def __init__(
        self,
        model: Model,
        invoker: Invoker,
        new_call_id: Callable[[], str],
        limits: TurnLimits,
        turn: Turn,
        transcript: Said,
        *,
        recorded: bool = False,
    ) -> None:
        """`recorded`: what is decided and what comes of it is told to `calls`."""
        self._model = model
        self._within = invoker.within
        self._limits = limits
        self._turn = turn
        self._transcript = transcript
        self._emit = guarded(turn.sink)
        self._stall = StallGuard(limits.repeated_failures)
        self._stop = Stop(turn.interrupt, limits.seconds)
        self.calls = ReplyCalls(
            invoker, new_call_id, limits, turn, transcript, self._emit, self._stop.token, recorded
        )
        """Makes the calls."""
        self._heard: Hearing | None = self._hear if turn.watched else None
        self._budget = turn.budget or TokenBudget(limits.tokens)
        self._usage = Usage()
        self._reads_next = 0
        """Tokens that the next request will cost at least; 0 where the provider does not tell."""
        self._text = ""
        self._cut_off = 0

    async def run(self) -> RunResult:
        """Run it. A cancellation passes through."""
        self._emit(
            TurnStarted(
                self._turn.execution.id,
                self._model.name,
                self._shown_now().names,
                self._turn.missing,
            )
        )
        self._transcript.append(UserMessage(self._turn.prompt))
        with self._stop:
            end = await self._iterate()
        children = self._budget.used - self._usage.total
        self._emit(TurnFinished(end.status, end.reason, self._usage, children))
        made = tuple(self.calls.made)
        return RunResult(
            self._text,
            end.status,
            self._turn.execution.id,
            end.reason,
            end.detail,
            tuple(self._transcript),
            made,
            tuple(call.result for call in made if isinstance(call.result, Suspended)),
            self._usage,
            children,
        )

    async def _iterate(self) -> _End:
        for _ in range(self._limits.iterations):
            if (stopped := self._stopped()) is not None:
                return stopped
            try:
                reply = await self._ask()
            except PeerError as error:
                # An interrupt may look like a lost connection to whoever was asking.
                return self._stopped() or _End(
                    RunStatus.MODEL_FAILED, error.fault.value, str(error)
                )
            except LockgateError:
                raise
            except Exception as error:  # noqa: BLE001 - a program's own model is a stranger's code
                return self._stopped() or self._failed(f"raised {type(error).__name__}")
            if (fault := _fault_of(reply)) is not None:  # None is also that of a turn stopped
                return self._stopped() or self._failed(fault)
            if reply is not None and (end := await self._take(reply)) is not None:
                return end
        return self._stopped() or _End(
            RunStatus.BOUND,
            "iterations",
            f"no answer after {self._limits.iterations} rounds of model and tools",
        )

    def _failed(self, what: str) -> _End:
        """The model is at fault; `what` holds nothing that it said."""
        detail = f"the model {self._model.name} {what}"
        _log.warning("%s", detail)
        return _End(RunStatus.MODEL_FAILED, "model_error", detail)

    async def _ask(self) -> ModelReply | None:
        """The model's next reply; None if the turn was stopped first."""
        request = ModelRequest(
            tuple(self._transcript),
            self._shown_now().definitions,
            self._turn.instructions,
            self._longest_reply(),
        )
        with Leash(interrupt=self._stop.token):
            return await self._model.reply(request, self._heard)
        return None

    def _shown_now(self) -> _Shown:
        """What the model is shown now: a configuration that is read again may have left less of the
        turn's bounds (S0-06)."""
        snapshot, execution = self._turn.snapshot, self._turn.execution
        bounds = self._within(execution.bounds, snapshot, entry=execution.entry)
        return _shown(snapshot, bounds)

    def _longest_reply(self) -> int | None:
        """What is left of the tokens, once it is less than any model can write."""
        bound = self._budget.nearest
        left = None if bound is None else bound[0] - self._reads_next
        return None if left is None or left >= ANY_MODEL_WRITES else max(left, 1)

    def _hear(self, text: str) -> None:
        """The model has written on."""
        if text:
            self._emit(ModelWrites(text))

    async def _take(self, reply: ModelReply) -> _End | None:
        """Write the reply down, then make its calls. None: go on."""
        self._count(reply.usage)
        if _says_something(reply):
            reply = with_unique_ids(reply, self._transcript)
            self._transcript.append(reply)
        if reply.text:
            self._text = reply.text
            self._emit(ModelText(reply.text))
        if reply.cut_off:
            return self._refuse_cut_off(reply)
        self._cut_off = 0
        if not reply.calls:
            self._text = reply.text
            return _ANSWERED
        bound = self._budget.nearest
        if bound is not None and bound[0] <= self._reads_next:
            # Nobody would read the results any more.
            self.calls.skip(reply.calls, "token_limit", "the turn has used up its tokens")
            detail = f"the turn has used up its {bound[1]:,} tokens"
            if bound[0]:
                detail = f"of {bound[1]:,} tokens {bound[0]:,} are left; the next reply reads more"
            return _End(RunStatus.BOUND, "tokens", detail)
        return await self._make(reply)

    def _count(self, usage: Usage) -> None:
        self._budget.spend(usage.total)
        self._usage += usage
        # What was read and written now is read again with the next request, and the results too.
        self._reads_next = usage.total if usage.input else 0

    def _refuse_cut_off(self, reply: ModelReply) -> _End | None:
        """A reply that is not whole is no answer, and none of its calls is made."""
        self._cut_off += 1
        self.calls.skip(
            reply.calls, "cut_off", "the reply that asked for it was cut off before its end"
        )
        if reply.calls and self._cut_off < self._limits.repeated_failures:
            return None  # the results tell the model, which may try a shorter way
        return _End(RunStatus.BOUND, "cut_off", "the model's reply was cut off before its end")

    async def _make(self, reply: ModelReply) -> _End | None:
        results = await self.calls.make(reply.calls)
        if (stopped := self._stopped()) is not None:
            return stopped
        waiting = [result for result in results if isinstance(result, Suspended)]
        if waiting:
            tickets = ", ".join(f"{s.tool} (ticket {s.ticket})" for s in waiting)
            return _End(RunStatus.SUSPENDED, "waiting", f"an answer is awaited for {tickets}")
        stalled = self._stall.observe(
            [
                (call, result)
                for call, result in zip(reply.calls, results, strict=True)
                if isinstance(result, ToolResult)
            ]
        )
        if stalled is not None:
            return _End(
                RunStatus.BOUND,
                "repeated_failure",
                f"the same call of {stalled} failed {self._limits.repeated_failures} times",
            )
        return None

    def _stopped(self) -> _End | None:
        match self._stop.cause:
            case None:
                return None
            case "interrupted":
                return _End(RunStatus.INTERRUPTED, "interrupted", "the turn was interrupted")
            case "seconds":
                seconds = self._limits.seconds
                return _End(RunStatus.BOUND, "seconds", f"the turn took over {seconds:g} s")


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the model of a turn is shown of the tools."""

    definitions: tuple[ToolDefinition, ...]
    names: tuple[str, ...]


def _shown(snapshot: Snapshot, bounds: Bounds) -> _Shown:
    """Kept with the snapshot: a turn on tools that have not changed costs one look-up."""

    def make() -> _Shown:
        definitions = tuple(tool.definition for tool in shown(snapshot, bounds))
        return _Shown(definitions, tuple(definition.name for definition in definitions))

    return snapshot.derived((_shown, bounds), make)


def _fault_of(reply: Any) -> str | None:
    """Why it is no reply, if a program's own model gave something else."""
    if not isinstance(reply, ModelReply):
        return f"returned {type(reply).__name__}, which is no ModelReply"
    text, calls, usage = cast("tuple[Any, Any, Any]", (reply.text, reply.calls, reply.usage))
    if not isinstance(text, str) or not isinstance(usage, Usage):
        return "returned a ModelReply whose text is no text, or whose usage is no Usage"
    made = cast("Sequence[Any] | None", calls if isinstance(calls, tuple | list) else None)
    if made is None or any(not isinstance(call, ToolCall) for call in made):
        return "returned a ModelReply whose calls are no tuple of ToolCall"
    return None


def _says_something(reply: ModelReply) -> bool:
    """Whether a provider would take the reply back: it refuses one without text and calls."""
    return bool(reply.calls or reply.text.strip())
