"""Remembered answers: what they reach, and what they do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from lockgate.decision import Reason
from lockgate.policy.approval import Answer, Question, Scope
from lockgate.policy.ceiling import whole
from lockgate.policy.grants import (
    Grant,
    MemoryGrants,
    concerns_of,
    covers,
    grant_of,
    matching,
    session_of,
)
from lockgate.tools.context import Environment, Execution
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.origin import Origin
from lockgate.traits import SideEffectLevel

PLAIN = Reason("not_exempt", "add is mutating", "approvals.exemptAtOrBelow")
RULE = Reason("ask_rule", "the ask rule add matches", "lockgate.yaml:3")
YES = Answer(True, "terminal", Scope.SESSION)


def a_question(*, destructive: bool = False, digest: str = "d1", version: int = 1) -> Question:
    """A question about one tool."""
    return Question(
        call_id="c",
        tool="add",
        origin=Origin("local", None, "add", fingerprint({"version": version})),
        level=SideEffectLevel.MUTATING,
        destructive=destructive,
        arguments={},
        digest=digest,
        reasons=(PLAIN,),
        execution_id="e",
        session_id="s",
        principal=None,
    )


def a_grant(question: Question, answer: Answer = YES) -> Grant:
    """What is remembered of `answer` to `question`."""
    grant = grant_of(question, answer, "s", 1.0)
    assert grant is not None
    return grant


def test_only_an_answer_for_a_session_is_remembered() -> None:
    """Once is once, and without a session there is nothing to remember it in."""
    question = a_question()
    assert grant_of(question, Answer(True, "terminal"), "s", 1.0) is None
    assert grant_of(question, YES, None, 1.0) is None


def test_it_reaches_the_tool_or_the_exact_call() -> None:
    """Non-destructive: every call of the tool. Destructive: the same arguments alone."""
    plain, other = a_question(), a_question(digest="d2")
    assert matching((a_grant(plain),), other) is not None
    exact = a_question(destructive=True)
    assert matching((a_grant(exact),), exact) is not None
    assert matching((a_grant(exact),), replace(exact, digest="d2")) is None


def test_a_grant_for_the_tool_is_none_once_it_is_destructive() -> None:
    """A tool that is ruled destructive later is not covered by what was said before."""
    grant = a_grant(a_question())
    assert matching((grant,), a_question(destructive=True)) is None


@pytest.mark.req("B-01")
def test_it_holds_the_definition_it_saw() -> None:
    """Another definition is another tool."""
    for destructive in (False, True):
        question = a_question(destructive=destructive)
        changed = a_question(destructive=destructive, version=2)
        assert matching((a_grant(question),), changed) is None


@pytest.mark.req("S0-08")
@pytest.mark.parametrize("destructive", [True, False])
def test_an_answer_for_always_is_remembered_for_exactly_one_call(destructive: bool) -> None:
    """Also of a tool that can not destroy, where one for the session would reach every call."""
    question = a_question(destructive=destructive)
    grant = a_grant(question, Answer(True, "terminal", Scope.ALWAYS))
    assert grant.digest == "d1"
    assert matching((grant,), question) == grant
    assert matching((grant,), a_question(destructive=destructive, digest="d2")) is None


@pytest.mark.parametrize("scope", [Scope.READ_ONLY, Scope.ADDITIVE])
def test_a_word_on_a_tool_is_nothing_to_the_session(scope: Scope) -> None:
    """It answers one call, and is written down elsewhere."""
    assert grant_of(a_question(), Answer(True, "terminal", scope), "s", 1.0) is None


def test_it_answers_what_it_was_asked() -> None:
    """A yes covers the reasons it was given for; the place of a rule does not matter."""
    grant = a_grant(a_question())
    assert matching((grant,), replace(a_question(), reasons=(PLAIN, RULE))) is None
    wider = a_grant(replace(a_question(), reasons=(PLAIN, RULE)))
    moved = replace(RULE, source="lockgate.yaml:99")
    assert matching((wider,), replace(a_question(), reasons=(moved,))) is not None
    assert covers(concerns_of((RULE,)), (moved,))


def test_a_no_wins_and_is_not_argued_away() -> None:
    """A remembered no counts before a yes, and also when more is asked than it was given for."""
    no = a_grant(a_question(), Answer(False, "terminal", Scope.SESSION, "never"))
    yes = a_grant(a_question())
    for grants in ((yes, no), (no, yes)):
        assert matching(grants, replace(a_question(), reasons=(PLAIN, RULE))) == no
    assert no.note == "never"


def test_a_book_keeps_sessions_and_tools_apart() -> None:
    """What one session was told is nothing to another."""
    book = MemoryGrants()
    grant = a_grant(a_question())
    book.remember(grant)
    assert book.find("s", "add") == (grant,)
    assert book.find("other", "add") == ()
    assert book.find("s", "remove") == ()


def test_a_sub_agent_shares_the_answers_of_who_invited_it() -> None:
    """The inviting session's answers count; without one, its own."""
    execution = Execution(
        "e", "agent", whole(SideEffectLevel.MUTATING), True, Environment(Path("/")), "own"
    )
    assert session_of(execution) == "own"
    assert session_of(replace(execution, inviting_session="parent")) == "parent"
    assert session_of(replace(execution, session_id=None)) is None
