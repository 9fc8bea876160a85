"""From verdicts and outcomes to records, and what happens when one can not be written."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, Literal

import msgspec

from lockgate.calls.call import Call
from lockgate.calls.decide import Ask, Run
from lockgate.calls.records import DecisionRecord, Ledger, OutcomeRecord
from lockgate.calls.redaction import redacted
from lockgate.calls.refusals import MAX_NAME, Refuse, unrecorded
from lockgate.decision import Reason
from lockgate.errors import Fate
from lockgate.policy.approval import Answer
from lockgate.tools.registry import Registered
from lockgate.tools.result import ToolResult

_log: Final = logging.getLogger("lockgate.calls")


def why_unwritten(error: Exception) -> str:
    """Why a record could not be written: the system's own word (No space left on device), else
    the kind of error, whose text may hold anything."""
    system = error.strerror if isinstance(error, OSError) else None
    return system or type(error).__name__


def not_written(run: Run, error: Exception) -> ToolResult:
    """The result of a call that could not be written down before it was made."""
    what = f"its decision could not be recorded ({why_unwritten(error)})"
    return unrecorded(run.registered, what).result()


class Recorder:
    """Writes the two records of every call (B-02)."""

    def __init__(self, ledger: Ledger, time: Callable[[], float], *, content: bool = False) -> None:
        """`content`: decisions hold the arguments, `redacted`."""
        self._ledger = ledger
        self._time = time
        self._content = content

    def running(self, call: Call, digest: str, run: Run, notes: tuple[Reason, ...] = ()) -> None:
        """The call is about to be made; `notes` tell what hooks did. Raises as the ledger does."""
        reasons = run.reasons + notes if notes else run.reasons
        registered, execution, answer = run.registered, call.execution, run.answer
        origin = registered.definition.origin
        if answer is not None or self._content or execution.agent is not None:
            record = self._decision("run", call, digest, registered, reasons, answer=answer)
        else:
            # What nearly every call is, without the steps that leave out most of it.
            record = DecisionRecord(
                call.id,
                self._time(),
                execution.entry,
                execution.id,
                call.name,
                "run",
                reasons,
                digest,
                execution.session_id,
                execution.principal,
                call.parent_call,
                origin.server,
                origin.fingerprint.digest,
                registered.side_effect_level._value_,
                registered.is_destructive,
                registered.is_idempotent,
                origin.ruling,
            )
        self._ledger.decision(record)

    def refused(
        self, call: Call, digest: str, refuse: Refuse, notes: tuple[Reason, ...] = ()
    ) -> None:
        """The call is not made. A ledger that fails changes nothing about that."""
        record = self._decision(
            "refuse",
            call,
            digest,
            refuse.registered,
            refuse.reasons + notes,
            answer=refuse.answer,
            kind=refuse.kind.value,
            reason=refuse.code,
        )
        self._write(call, record)

    def suspended(
        self, call: Call, digest: str, ask: Ask, ticket: str, notes: tuple[Reason, ...] = ()
    ) -> None:
        """The call waits for an answer from elsewhere."""
        reasons = ask.reasons + notes
        record = self._decision("suspend", call, digest, ask.registered, reasons, ticket=ticket)
        self._write(call, record)

    def finished(
        self,
        call: Call,
        result: ToolResult | None,
        fate: Fate,
        duration: float,
        attempts: int,
        hooks: tuple[Reason, ...] = (),
    ) -> None:
        """What came of a call that was run; no result if it was cancelled. `hooks` is what hooks
        did to what the model is shown of it.

        If the ledger fails, the call reads as outcome unknown later, which is the safe way round.
        """
        kind = None if result is None else result.kind
        # By position: names cost as much again for that many, and every call pays it.
        record = OutcomeRecord(
            call.id,
            self._time(),
            result is None or result.is_error,
            fate._value_,
            duration,
            attempts,
            None if kind is None else kind.value,
            "cancelled" if result is None else result.reason,
            call.execution.id,
            hooks or msgspec.UNSET,
        )
        try:
            self._ledger.outcome(record)
        except Exception as error:  # noqa: BLE001 - whatever a ledger raises, there is no record
            self.unwritten(call, error)

    def unwritten(self, call: Call, error: Exception) -> None:
        """Say in the log that a record is missing; no argument is in it."""
        _log.warning("no record of call %s could be written: %s", call.id, why_unwritten(error))

    def _write(self, call: Call, record: DecisionRecord) -> None:
        try:
            self._ledger.decision(record)
        except Exception as error:  # noqa: BLE001 - whatever a ledger raises, there is no record
            self.unwritten(call, error)

    def _decision(
        self,
        decision: Literal["run", "refuse", "suspend"],
        call: Call,
        digest: str,
        registered: Registered | None,
        reasons: tuple[Reason, ...],
        *,
        answer: Answer | None = None,
        kind: str | None = None,
        reason: str | None = None,
        ticket: str | None = None,
    ) -> DecisionRecord:
        execution = call.execution
        server = fingerprint = level = destructive = idempotent = ruling = None
        if registered is not None:
            origin = registered.definition.origin
            server, ruling = origin.server, origin.ruling
            fingerprint = origin.fingerprint.digest
            level = registered.side_effect_level._value_
            destructive, idempotent = registered.is_destructive, registered.is_idempotent
        # By position: names cost as much again for that many, and every call pays it.
        return DecisionRecord(
            call.id,
            self._time(),
            execution.entry,
            execution.id,
            call.name if registered is not None else call.name[:MAX_NAME],
            decision,
            reasons,
            digest,
            execution.session_id,
            execution.principal,
            call.parent_call,
            server,
            fingerprint,
            level,
            destructive,
            idempotent,
            ruling,
            None if answer is None else answer.approver,
            None if answer is None else answer.approved,
            None if answer is None else answer.scope.value,
            kind,
            reason,
            ticket,
            redacted(dict(call.arguments)) if self._content else msgspec.UNSET,
            msgspec.UNSET if execution.agent is None else execution.agent,
        )
