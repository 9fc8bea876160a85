"""Answers that are remembered: what a person said yes or no to, and how far it reaches.

A grant answers a question, it never removes one. It holds the definition it saw and the reasons
it was given for, so a tool that changed, and a question that is asked for more than was answered,
are asked about again.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from lockgate.decision import Reason
from lockgate.policy.approval import Answer, Question, Scope
from lockgate.tools.context import Execution


class Grant(msgspec.Struct, frozen=True):
    """One remembered answer."""

    session: str
    tool: str
    """Registered name."""
    fingerprint: str
    """Digest of the definition that was shown with the question."""
    concerns: frozenset[tuple[str, str]]
    """(code, text) of the reasons that were asked about; it answers no others."""
    digest: str | None
    """This exact call; None for the tool (non-destructive tools only)."""
    approved: bool
    """False for a remembered no."""
    approver: str
    """Who gave it."""
    time: float
    """Unix time at which it was given."""
    note: str = ""
    """What the person said with it."""


class GrantBook(Protocol):
    """Where the answers of sessions are kept."""

    def find(self, session: str, tool: str) -> tuple[Grant, ...]:
        """Everything remembered of `tool` in `session`, oldest first."""
        ...

    def remember(self, grant: Grant) -> None:
        """Keep it. Raises `LockgateError` if it can not be kept."""
        ...


class MemoryGrants:
    """A book that ends with its owner."""

    def __init__(self) -> None:
        self._grants: dict[tuple[str, str], tuple[Grant, ...]] = {}

    def find(self, session: str, tool: str) -> tuple[Grant, ...]:
        return self._grants.get((session, tool), ())

    def remember(self, grant: Grant) -> None:
        key = (grant.session, grant.tool)
        self._grants[key] = (*self._grants.get(key, ()), grant)


def session_of(execution: Execution) -> str | None:
    """The session whose answers count for `execution`: a sub-agent has those of who invited it."""
    return execution.inviting_session or execution.session_id


def concerns_of(reasons: tuple[Reason, ...]) -> frozenset[tuple[str, str]]:
    """What a question is about, for comparing; where a rule is written does not matter."""
    return frozenset((reason.code, reason.text) for reason in reasons)


def covers(concerns: frozenset[tuple[str, str]], reasons: tuple[Reason, ...]) -> bool:
    """Whether an answer given for `concerns` also answers a question asked for `reasons`."""
    return all((reason.code, reason.text) in concerns for reason in reasons)


def grant_of(question: Question, answer: Answer, session: str | None, time: float) -> Grant | None:
    """What the session is to remember of an answer; None for an answer to this one call.

    An answer for always holds at once: in this session as an answer to exactly this call.
    """
    if answer.scope not in (Scope.SESSION, Scope.ALWAYS) or session is None:
        return None
    exact = question.destructive or answer.scope is Scope.ALWAYS
    return Grant(
        session=session,
        tool=question.tool,
        fingerprint=question.origin.fingerprint.digest,
        concerns=concerns_of(question.reasons),
        digest=question.digest if exact else None,
        approved=answer.approved,
        approver=answer.approver,
        time=time,
        note=answer.note,
    )


def matching(grants: tuple[Grant, ...], question: Question) -> Grant | None:
    """The remembered answer to `question`, if there is one; a no wins over a yes.

    A no counts whatever else is asked for by now. An answer for the whole tool never counts for a
    destructive call, even if the tool was not destructive when it was given.
    """
    found = [grant for grant in grants if _matches(grant, question)]
    return min(found, key=lambda grant: grant.approved, default=None)


def _matches(grant: Grant, question: Question) -> bool:
    exact = grant.digest == question.digest
    return (
        grant.tool == question.tool
        and grant.fingerprint == question.origin.fingerprint.digest
        and (exact or (grant.digest is None and not question.destructive))
        and (not grant.approved or covers(grant.concerns, question.reasons))
    )
