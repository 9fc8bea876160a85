"""Runs turns: model, calls, results, until an answer or a bound."""

from __future__ import annotations

from collections.abc import Callable

from lockgate.agent.limits import TurnLimits
from lockgate.agent.loop import TurnLoop
from lockgate.agent.model import Model
from lockgate.agent.run import RunResult
from lockgate.agent.transcript import Said, settle
from lockgate.agent.turn import Turn
from lockgate.agent.witness import Witness
from lockgate.calls.invoke import Invoker


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
        transcript then holds what was said, with an answer to every call of it.
        """
        settle(transcript)
        loop = TurnLoop(
            self._model,
            self._invoker,
            self._new_call_id,
            self._limits,
            turn,
            transcript,
            recorded=self._witness is not None,
        )
        if self._witness is None:
            return await loop.run()
        calls = loop.calls
        with self._witness.watching(turn.execution.id, calls.decided, calls.ended):
            return await loop.run()
