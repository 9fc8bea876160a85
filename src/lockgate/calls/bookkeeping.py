"""What becomes of a call, written down: refused, suspended, about to run; with the ticket used up.

Where the record fails, a call that changes something is not made (B-02).
"""

from __future__ import annotations

from lockgate.calls import refusals
from lockgate.calls.arguments import Taken
from lockgate.calls.asking import Deferred
from lockgate.calls.call import Call, Suspended
from lockgate.calls.decide import Run
from lockgate.calls.heard import with_context
from lockgate.calls.keeping import Keeping, Redemption
from lockgate.calls.recording import Recorder, not_written
from lockgate.calls.refusals import Refuse
from lockgate.calls.suspension import TicketGone
from lockgate.errors import Fate
from lockgate.tools.registry import Registered
from lockgate.tools.result import ToolResult


class Bookkeeping:
    """Writes to the records and the books of a runtime, in the order that keeps them true."""

    def __init__(self, recorder: Recorder, keeping: Keeping) -> None:
        self._recorder = recorder
        self._keeping = keeping

    def cancelled(self, call: Call, taken: Taken, registered: Registered) -> None:
        """The task that wanted the call was cancelled before it began."""
        refuse = refusals.cancelled(registered, call.name)
        self._recorder.refused(call, taken.digest, refuse, taken.notes)

    def refused(self, call: Call, taken: Taken, refuse: Refuse) -> ToolResult:
        """The call is not made; its result."""
        self._recorder.refused(call, taken.digest, refuse, taken.notes)
        return with_context(refuse.result(), taken.context)

    def suspended(self, call: Call, taken: Taken, deferred: Deferred) -> ToolResult | Suspended:
        """The call waits for an answer from elsewhere; a refusal if the question can not be
        kept."""
        ask = deferred.ask
        try:
            ticket = self._keeping.suspend(call, deferred, taken.context)
        except Exception as error:  # noqa: BLE001 - a question that is not kept is never answered
            what = f"the suspended call could not be kept ({type(error).__name__})"
            return self.refused(call, taken, refusals.unrecorded(ask.registered, what))
        self._recorder.suspended(call, taken.digest, ask, ticket.id, taken.notes)
        return Suspended(ticket.id, call.name, ticket.expires)

    def unmade(
        self, call: Call, taken: Taken, run: Run, ticket: Redemption | None
    ) -> ToolResult | None:
        """Record the decision; what stops the call after all, if something does. Raises
        `TicketGone`.

        No record, no mutating call (B-02)."""
        if call.interrupt is not None and call.interrupt.interrupted:
            return self.refused(call, taken, refusals.skipped(run.registered, call.name))
        try:
            if ticket is None:
                self._record(call, taken, run)
            else:
                self._redeem(call, taken, run, ticket)
        except TicketGone:
            raise
        except Exception as error:  # noqa: BLE001 - not recorded, or not used up: not run
            return not_written(run, error)
        return None

    def _record(self, call: Call, taken: Taken, run: Run) -> None:
        """Write the decision down. Raises if that fails and the tool is not READ_ONLY."""
        try:
            self._recorder.running(call, taken.digest, run, taken.notes)
        except Exception as error:
            self._recorder.unwritten(call, error)
            if not run.registered.is_read_only:
                raise

    def _redeem(self, call: Call, taken: Taken, run: Run, ticket: Redemption) -> None:
        """Use the ticket up and write the decision down, both or neither."""
        written = False

        def record(counted: Run) -> None:
            nonlocal written
            self._record(call, taken, counted)
            written = True

        try:
            self._keeping.redeem(ticket, call, run, record)
        except Exception as error:
            if written:  # the disk failed between the two: say that nothing came of the first
                result = not_written(run, error)
                self._recorder.finished(call, result, Fate.NOT_SENT, 0.0, 0)
            raise
