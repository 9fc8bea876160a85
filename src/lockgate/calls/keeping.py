"""What is kept beside the records: remembered answers, tickets, and calls that stand open."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import msgspec

from lockgate.calls.asking import Deferred
from lockgate.calls.call import Call
from lockgate.calls.decide import Ask, Run
from lockgate.calls.refusals import Refuse
from lockgate.calls.replay import replayable
from lockgate.calls.suspension import Intent, Settlement, Ticket, TicketStore, ticket_for
from lockgate.calls.unknowns import OpenUnknown, UnknownBook, scope_of
from lockgate.errors import Fate, LocalError
from lockgate.policy.approval import LASTING, Answer, AnswerBook, Question, Scope
from lockgate.policy.grants import GrantBook, grant_of, session_of
from lockgate.tools.tool import Declared

_UNKNOWN: Final = Fate.UNKNOWN
_log: Final = logging.getLogger("lockgate.calls")


class Redemption(msgspec.Struct, frozen=True):
    """A ticket that has been answered and is still to be used up."""

    ticket: str
    question: Question
    settlement: Settlement


class Keeping:
    """Writes to the books of a runtime what a call leaves behind besides its records.

    Where the records still tell what happened, a book that fails is said in the log and stops
    nothing; where they would not, its error is raised.
    """

    def __init__(
        self,
        grants: GrantBook,
        unknowns: UnknownBook,
        tickets: TicketStore,
        time: Callable[[], float],
        new_id: Callable[[], str],
        ticket_lifetime: float,
        answers: AnswerBook | None = None,
    ) -> None:
        """`answers` keeps what is answered for good; without it such an answer counts once."""
        self._grants = grants
        self._unknowns = unknowns
        self._tickets = tickets
        self._time = time
        self._new_id = new_id
        self._ticket_lifetime = ticket_lifetime
        self._answers = answers

    def remember(self, call: Call, question: Question, answer: Answer) -> Answer:
        """Keep an answer that reaches further than this call; returns it as it counts now."""
        counted = self._kept(call, question, answer)
        self._granted(call, question, counted)
        return counted

    def suspend(self, call: Call, deferred: Deferred, context: str = "") -> Ticket:
        """Keep the question until it is answered, and `context` for the result. Raises what the
        ticket store raises."""
        now, expires = self._time(), deferred.later.expires
        if expires is None:
            expires = now + self._ticket_lifetime
        question = deferred.ask.question
        ticket = ticket_for(call, question, id=self._new_id(), created=now, expires=expires)
        if context:
            ticket = msgspec.structs.replace(ticket, context=context)
        return self._tickets.put(ticket)

    def use_up(self, redemption: Redemption, instead: Ask | Refuse | Deferred) -> None:
        """Use a ticket up whose call is not run now, and what is done instead.

        A yes is not used up by a tool that is not there: nothing came of it, and it can be given
        again when the tool is. Raises `TicketGone`, then too, and what else the store raises.
        """
        answer = redemption.settlement.answer
        if answer.approved and isinstance(instead, Refuse) and instead.registered is None:
            self._tickets.get(redemption.ticket)  # somebody else may have been first
        else:
            self._tickets.settle(redemption.ticket, redemption.settlement, lambda: None)

    def redeem(
        self, redemption: Redemption, call: Call, run: Run, record: Callable[[Run], None]
    ) -> None:
        """Use a ticket up for a call that is about to run, with its intent, and have `record`
        write the decision down, with the answer as it counts; all of it or nothing. Raises as
        `use_up` does, and what `record` raises."""
        tool, answer = run.registered, redemption.settlement.answer
        intent = Intent(self._unknown(call, tool), replayable(tool))
        settlement = replace(redemption.settlement, intent=intent)
        counted = answer

        def before() -> None:
            # Inside the transaction: whoever comes second keeps nothing.
            nonlocal counted
            counted = self._kept(call, redemption.question, answer)
            record(run if counted is answer else msgspec.structs.replace(run, answer=counted))

        self._tickets.settle(redemption.ticket, settlement, before)
        if counted.scope in LASTING:
            self._granted(call, redemption.question, counted)

    def began(self, call: Call, run: Run) -> None:
        """The call starts: its answer has settled the unknowns that the question named."""
        if run.settles and run.answer is not None:
            by = run.answer.approver
            self._noted(call, lambda: self._unknowns.close(run.settles, by))

    def ended(self, call: Call, tool: Declared, fate: Fate, *, resumed: bool) -> None:
        """The call is over: what is not known of it stands open, unless it may run twice."""
        opens = fate is _UNKNOWN and not replayable(tool)
        if resumed or opens:
            unknown = self._unknown(call, tool)
            if resumed:
                self._noted(call, lambda: self._tickets.finished(unknown, fate))
            if opens:
                self._noted(call, lambda: self._unknowns.open(unknown))

    def _kept(self, call: Call, question: Question, answer: Answer) -> Answer:
        """The answer, written down if it is for good; where that fails it counts once (PB-157)."""
        if answer.scope not in LASTING:
            return answer
        try:
            if self._answers is None:
                raise LocalError("there is nothing to write it in")
            self._answers.keep(question, answer)
        except Exception as error:  # noqa: BLE001 - the answer to this call counts all the same
            _log.warning(
                "the answer to call %s could not be kept, and counts once: %s",
                call.id,
                type(error).__name__,
            )
            return msgspec.structs.replace(answer, scope=Scope.ONCE)
        return answer

    def _granted(self, call: Call, question: Question, answer: Answer) -> None:
        grant = grant_of(question, answer, session_of(call.execution), self._time())
        if grant is not None:
            self._noted(call, lambda: self._grants.remember(grant))

    def _unknown(self, call: Call, tool: Declared) -> OpenUnknown:
        execution = call.execution
        return OpenUnknown(execution.id, call.id, scope_of(execution), tool.name, self._time())

    def _noted(self, call: Call, note: Callable[[], None]) -> None:
        try:
            note()
        except Exception as error:  # noqa: BLE001 - the call has been made, its result counts
            _log.warning("the state of call %s was not kept: %s", call.id, type(error).__name__)
