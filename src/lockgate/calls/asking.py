"""Putting questions: one at a time for each session, in order, until one approver answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from lockgate.calls import refusals
from lockgate.calls.arguments import copied
from lockgate.calls.call import Call
from lockgate.calls.decide import Ask, Given, Run, Verdict
from lockgate.calls.declared import HOOK
from lockgate.calls.lanes import Lanes
from lockgate.calls.leash import Leash, cancelled_from_outside
from lockgate.calls.refusals import Refuse
from lockgate.errors import LocalError
from lockgate.policy.approval import (
    LASTING,
    PASS,
    Answer,
    Approver,
    Later,
    Question,
    Scope,
    turn_of,
)
from lockgate.policy.grants import concerns_of, session_of

MAX_ROUNDS: Final = 3
"""How often one call is asked about when each answer finds a question that asks for more."""

MAX_NOTE: Final = 1000
"""Characters of a person's note that are kept."""

NOT_APPROVERS: Final = frozenset({"rule", "grant", HOOK})
"""Names that say in records that no approver answered; none may bear them."""

OnQuestion: TypeAlias = Callable[["Ask", Call], Awaitable[Answer | None]]
"""Is told of a question before any approver; what it answers is a no, and None lets it be put."""

_log: Final = logging.getLogger("lockgate.calls")


class Deferred(msgspec.Struct, frozen=True):
    """An approver will have the answer later; nobody has answered yet."""

    ask: Ask
    later: Later


Settled: TypeAlias = Refuse | Run | Deferred


class Asking:
    """Asks the approvers of a runtime. All on one loop."""

    def __init__(
        self,
        attended: Sequence[Approver],
        unattended: Sequence[Approver],
        limit: float | None,
        on_question: OnQuestion | None = None,
    ) -> None:
        """`limit`: seconds that one approver has for one question, from when it can be put
        (`policy.approval.TakesTurns`); None waits without bound.
        `on_question` bounds its own wait."""
        self._on_question = on_question
        for approver in (*attended, *unattended):
            if approver.name in NOT_APPROVERS:
                raise LocalError(f"an approver can not be called {approver.name!r}")
        self._approvers = {True: tuple(attended), False: tuple(unattended)}
        self._names = {
            key: tuple(approver.name for approver in approvers)
            for key, approvers in self._approvers.items()
        }
        self._limit = limit
        self._turns = Lanes()
        self._pending: dict[tuple[str, str], _Pending] = {}

    def answerers(self, attended: bool) -> tuple[str, ...]:
        """Names of those that are asked for an execution with, or without, a person there."""
        return self._names[attended]

    async def settle(
        self,
        ask: Ask,
        call: Call,
        again: Callable[[Given | None], Verdict],
        answered: Callable[[Ask, Answer], Answer],
    ) -> Settled:
        """Ask until the call is refused, may run, or has to wait for an answer from elsewhere.

        `again` decides the call anew, with the answer or without one: before the question, since
        an earlier question's answer may serve this one too, and after it, since answering took
        time. `answered` is told of every answer before the next question is put, and returns it
        with the scope that it counts for.

        A question that is equal to one that waits (same session, same call) is joined to it: a no
        counts for both. A yes to one call does not, unless it was given for the session.
        """
        turn = session_of(call.execution) or call.execution.id
        key = (turn, ask.question.digest)
        pending = self._pending.setdefault(key, _Pending(key))
        pending.waiting += 1
        settled: Settled | None = None
        try:
            with Leash(interrupt=call.interrupt):
                async with self._turns.hold(turn):
                    settled = await self._asked(pending, call, again, answered)
        finally:
            pending.waiting -= 1
            if not pending.waiting and self._pending.get(key) is pending:
                del self._pending[key]
        return settled or refusals.skipped(ask.registered, call.name)

    async def _asked(
        self,
        pending: _Pending,
        call: Call,
        again: Callable[[Given | None], Verdict],
        answered: Callable[[Ask, Answer], Answer],
    ) -> Settled:
        verdict = again(None)
        for _ in range(MAX_ROUNDS):
            if not isinstance(verdict, Ask):
                return verdict
            question = verdict.question
            if pending.no is not None:
                return refusals.said_no(verdict.registered, question.reasons, pending.no)
            reply: Answer | Later | Refuse | None = None
            if self._on_question is not None:
                reply = await self._on_question(verdict, call)
            if reply is None:
                reply = await self._put(verdict, call.execution.attended)
            if isinstance(reply, Refuse):
                return reply
            if isinstance(reply, Later):
                return Deferred(verdict, reply)
            if not reply.approved:
                pending.no = reply
                self._pending.pop(pending.key, None)  # who asks from now on joins no old no
            reply = answered(verdict, reply)
            fingerprint = question.origin.fingerprint.digest
            concerns = concerns_of(question.reasons)
            verdict = again(Given(reply, question.digest, fingerprint, concerns))
        if isinstance(verdict, Ask):
            return refusals.keeps_changing(verdict.registered, verdict.reasons)
        return verdict

    async def _put(self, ask: Ask, attended: bool) -> Answer | Later | Refuse:
        """Put one question to the approvers in turn: the first answer wins."""
        for approver, name in zip(self._approvers[attended], self._names[attended], strict=True):
            reply: object = None
            try:
                shown = replace(ask.question, arguments=copied(ask.question.arguments))
                async with turn_of(approver) as put:
                    now = asyncio.get_running_loop().time()
                    deadline = None if self._limit is None else now + self._limit
                    with Leash(deadline=deadline) as leash:
                        reply = await put(shown)
                if leash.pulled is not None:
                    return refusals.expired(ask.registered, ask.reasons, name)
                if reply is PASS:
                    continue
                if isinstance(reply, Later):
                    return reply
                return _checked(reply, name, approver.scopes, ask.question)
            except asyncio.CancelledError as error:
                if cancelled_from_outside():
                    raise
                return self._failed(ask, name, error)
            except Exception as error:  # noqa: BLE001 - whatever an approver raises is a no
                return self._failed(ask, name, error)
        return refusals.nobody_to_ask(ask.registered, ask.reasons)

    def _failed(self, ask: Ask, name: str, error: BaseException) -> Refuse:
        _log.warning(
            "the approver %s failed on call %s: %s",
            name,
            ask.question.call_id,
            type(error).__name__,
        )
        return refusals.approver_failed(ask.registered, ask.reasons, name)


class _Pending:
    """Equal questions that wait, and the no that was given to one of them."""

    __slots__ = ("key", "no", "waiting")

    def __init__(self, key: tuple[str, str]) -> None:
        self.key = key
        self.waiting = 0
        self.no: Answer | None = None


def _checked(reply: object, name: str, scopes: frozenset[Scope], question: Question) -> Answer:
    """The answer under the approver's own name and within the scopes that it may grant, and that
    the question offers.

    Raises TypeError for what is no answer: only True is a yes.
    """
    if not isinstance(reply, Answer) or type(reply.approved) is not bool:
        raise TypeError("an approver answers with Answer, PASS or Later")
    scope = reply.scope
    if scope not in scopes:
        scope = Scope.ONCE
    if scope in LASTING and not (reply.approved and question.offers(scope)):
        scope = Scope.ONCE
    return Answer(reply.approved, name, scope, reply.note[:MAX_NOTE])


def given_up(last: Settled | Ask) -> Refuse:
    """The refusal of a call about which no decision would hold still."""
    if isinstance(last, Refuse):
        return last
    ask = last.ask if isinstance(last, Deferred) else last
    return refusals.keeps_changing(ask.registered, ask.reasons)
