"""Tickets: a question that outlives the process that asked it (B-14).

A ticket holds the whole call, its arguments included, so it is kept in the state database and
nowhere else. It authorises nothing: `resume` decides the call anew, and an answer counts only for
the definition and the arguments that it was asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import msgspec

from lockgate.calls.call import Call
from lockgate.calls.decide import Given
from lockgate.calls.heard import Heard, asked_before
from lockgate.calls.refusals import Refuse, expired, said_no
from lockgate.calls.unknowns import OpenUnknown
from lockgate.decision import Reason
from lockgate.errors import Fate, LocalError
from lockgate.policy.approval import LASTING, Answer, Question, Scope
from lockgate.policy.ceiling import narrow, whole
from lockgate.policy.grants import Grant, concerns_of, covers, grant_of
from lockgate.tools.context import Bounds, Environment, Execution
from lockgate.tools.fingerprint import Fingerprint
from lockgate.tools.origin import Origin
from lockgate.traits import SideEffectLevel


class TicketReason(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A reason of the question."""

    code: str
    text: str
    source: str | None = None


class TicketOrigin(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Where the tool came from when the question was put, and why it counts as what it does."""

    source: str
    original_name: str
    server: str | None = None
    claim: dict[str, Any] | None = None
    ruling: str = "declared"
    reasons: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    remarks: tuple[str, ...] = ()


class Ticket(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One suspended call."""

    id: str
    expires: float
    """Unix time after which it counts as answered no."""
    created: float
    digest: str
    """`calls.arguments.call_digest` of what the question showed."""
    fingerprint: str
    reasons: tuple[TicketReason, ...]
    call_id: str
    tool: str
    arguments: dict[str, Any]
    execution: str
    entry: str
    ceiling: str
    attended: bool
    destructive: bool
    """What the question said of the tool."""
    cwd: str
    roots: tuple[str, ...] = ()
    offer: tuple[str, ...] | None = None
    session: str | None = None
    inviting_session: str | None = None
    principal: str | None = None
    agent: str | None = None
    """`Execution.agent`."""
    skills: tuple[str, ...] = ()
    """`Execution.skills`."""
    by_model: bool = True
    """`Execution.by_model`; tickets of before it was kept may be a model's."""
    depth: int = 0
    """`Execution.depth`."""
    parent_call: str | None = None
    timeout: float | None = None
    level: str = SideEffectLevel.MUTATING.value
    origin: TicketOrigin | None = None
    """None in tickets of before it was kept."""
    resolved: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """`Question.resolved`."""
    always: str | None = None
    """`Question.always`."""
    context: str = ""
    """What hooks before the call have to say to the model with its result."""

    def __repr__(self) -> str:
        return f"<Ticket {self.id} for {self.tool}>"

    @property
    def concerns(self) -> tuple[Reason, ...]:
        """The reasons that an answer to it answers."""
        return tuple(Reason(r.code, r.text, r.source) for r in self.reasons)

    @property
    def heard(self) -> Heard | None:
        """What hooks said before it was suspended; they are not asked again."""
        return asked_before(self.concerns, self.context)

    @property
    def question(self) -> Question:
        """The question as it was put, for whoever answers it elsewhere."""
        told = self.origin or TicketOrigin("unknown", self.tool)
        origin = Origin(
            told.source,
            told.server,
            told.original_name,
            Fingerprint(self.fingerprint, ()),
            told.claim,
            told.ruling,
            told.reasons,
            told.remarks,
        )
        return Question(
            call_id=self.call_id,
            tool=self.tool,
            origin=origin,
            level=SideEffectLevel(self.level),
            destructive=self.destructive,
            arguments=self.arguments,
            digest=self.digest,
            reasons=self.concerns,
            execution_id=self.execution,
            session_id=self.inviting_session or self.session,
            principal=self.principal,
            resolved=self.resolved,
            always=self.always,
            agent=self.agent,
        )

    def answers(self, other: Ticket) -> bool:
        """Whether the answer to this question is also that to `other`, so that one is enough.

        The same call; or, in one session, for one principal and by the same kind of asker, an equal
        call about which nothing more is asked.
        """
        if self.digest != other.digest:
            return False
        if (self.execution, self.call_id) == (other.execution, other.call_id):
            return True
        session = self.inviting_session or self.session
        return (
            session is not None
            and session == (other.inviting_session or other.session)
            and self.principal == other.principal
            and self.by_model == other.by_model
            and covers(concerns_of(self.concerns), other.concerns)
        )

    def ended(self, refuse: Refuse, answer: Answer, *, late: bool) -> Refuse:
        """The refusal that the call ends with today.

        Where the tool is not there any more, a no, or an answer that is too late, is what ended
        it, not that; a yes has not ended it.
        """
        if answer.approved:
            if refuse.registered is not None:
                return refuse
            return replace(refuse, text=f"{refuse.text} The question stays open.")
        if late:
            return expired(refuse.registered, self.concerns, answer.approver, self.tool)
        if refuse.registered is None:
            return said_no(None, self.concerns, answer, self.tool)
        return refuse

    def given(self, answer: Answer) -> Given:
        """`answer`, bound to what the question showed."""
        return Given(answer, self.digest, self.fingerprint, concerns_of(self.concerns))

    def grant(self, answer: Answer, time: float) -> Grant | None:
        """What the session is to remember of `answer`; None for an answer to this one call."""
        return grant_of(self.question, answer, self.inviting_session or self.session, time)

    def counted(self, answer: Answer) -> Answer:
        """`answer` with the scope that one to a ticket may have, and that was offered."""
        lasting = answer.scope in LASTING
        if lasting and not (answer.approved and answer.scope is Scope.ALWAYS and self.always):
            return msgspec.structs.replace(answer, scope=Scope.ONCE)
        return answer

    def call(
        self,
        within: Bounds | None = None,
        environment: Environment | None = None,
        entry: str | None = None,
    ) -> Call:
        """The call as it was made, for the road of today.

        `within` narrows its bounds to what is allowed today; `environment` gives what belongs to
        a process, the pool of threads, and what is barred and in force today. It starts from the
        ticket's own directory, and its file roots are those that were the ticket's and are today's.
        `entry` is the road by which it comes back; the record of its suspension has the first one.
        """
        offer = None if self.offer is None else frozenset(self.offer)
        bounds = whole(SideEffectLevel(self.ceiling), offer)
        cwd, roots = Path(self.cwd), tuple(map(Path, self.roots))
        if environment is None:
            environment = Environment(cwd, roots)
        else:
            roots = _within_both(roots, environment.roots)
            environment = msgspec.structs.replace(environment, cwd=cwd, roots=roots)
        execution = Execution(
            id=self.execution,
            entry=entry or self.entry,
            bounds=bounds if within is None else narrow(within, bounds),
            attended=self.attended,
            environment=environment,
            session_id=self.session,
            inviting_session=self.inviting_session,
            principal=self.principal,
            agent=self.agent,
            skills=self.skills,
            by_model=self.by_model,
            depth=self.depth,
        )
        return Call(
            id=self.call_id,
            name=self.tool,
            arguments=self.arguments,
            execution=execution,
            parent_call=self.parent_call,
            timeout=self.timeout,
        )


def _within_both(some: tuple[Path, ...], others: tuple[Path, ...]) -> tuple[Path, ...]:
    """The directories that lie in a root of either."""
    inner = [one for one in some if any(one.is_relative_to(other) for other in others)]
    outer = [other for other in others if any(other.is_relative_to(one) for one in some)]
    return tuple(dict.fromkeys([*inner, *outer]))


def ticket_for(
    call: Call,
    question: Question,
    *,
    id: str,
    created: float,
    expires: float,
) -> Ticket:
    """The ticket of a call that can not be answered now. `call.arguments` must be plain JSON."""
    execution = call.execution
    offer, origin = execution.bounds.offer, question.origin
    return Ticket(
        id=id,
        expires=expires,
        created=created,
        digest=question.digest,
        fingerprint=question.origin.fingerprint.digest,
        reasons=tuple(TicketReason(r.code, r.text, r.source) for r in question.reasons),
        call_id=call.id,
        tool=call.name,
        arguments=dict(call.arguments),
        execution=execution.id,
        entry=execution.entry,
        ceiling=execution.bounds.ceiling.value,
        attended=execution.attended,
        destructive=question.destructive,
        cwd=str(execution.environment.cwd),
        roots=tuple(map(str, execution.environment.roots)),
        offer=None if offer is None else tuple(sorted(offer)),
        session=execution.session_id,
        inviting_session=execution.inviting_session,
        principal=execution.principal,
        agent=execution.agent,
        skills=execution.skills,
        by_model=execution.by_model,
        depth=execution.depth,
        parent_call=call.parent_call,
        timeout=call.timeout,
        level=question.level.value,
        origin=TicketOrigin(
            origin.source,
            origin.original_name,
            origin.server,
            None if origin.claim is None else dict(origin.claim),
            origin.ruling,
            dict(origin.reasons),
            origin.remarks,
        ),
        resolved=dict(question.resolved),
        always=question.always,
    )


@dataclass(frozen=True, slots=True)
class Intent:
    """What is about to be sent for a ticket, written down with its consumption."""

    unknown: OpenUnknown
    """What it becomes if nobody comes back to say how it ended."""
    replayable: bool
    """Whether a second run could do no harm; an unknown outcome then stands in nobody's way."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a ticket ends: with an answer, and, if the call is to run, with its intent."""

    answer: Answer
    time: float
    """Unix time of the answer."""
    grant: Grant | None = None
    intent: Intent | None = None


class TicketGone(LocalError):
    """There is no open ticket of that name: it was never issued, or it has been answered."""


class TicketStore(Protocol):
    """Where tickets wait. Its methods raise `LockgateError` if the place fails."""

    def put(self, ticket: Ticket) -> Ticket:
        """Keep it. An open ticket that `answers` it is returned instead: the two are joined."""
        ...

    def get(self, ticket: str) -> Ticket:
        """The open ticket of that name. Raises `TicketGone`."""
        ...

    def settle(self, ticket: str, settlement: Settlement, before: Callable[[], None]) -> None:
        """Use the ticket up, once, in one transaction with the grant and the intent.

        `before` is called inside it, when nothing can refuse any more but the disk; what it
        raises undoes everything and is raised. Raises `TicketGone` if another was first.
        """
        ...

    def finished(self, intent: OpenUnknown, fate: Fate) -> None:
        """Note how the call of an intent ended. Without it the outcome stays open."""
        ...
