"""Answers for good on the road of a call: where they are offered, kept, and what they count for."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lockgate.calls.lasting import ANSWERABLE, with_lasting
from lockgate.decision import Decision, Reason
from lockgate.errors import LocalError
from lockgate.policy.approval import Answer, Later, Question, Scope
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.stores.state import open_state
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.tools.subject import (
    ResolvedPath,
    Subject,
    SubjectKind,
    Subjects,
)

MakeRoad = Callable[..., Road]
ALWAYS = Answer(True, "scripted", Scope.ALWAYS)
YES = Answer(True, "scripted")


class Book:
    """Remembers what it was to keep, and fails where it is told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.kept: list[tuple[Question, Answer]] = []
        self._error = error

    def keep(self, question: Question, answer: Answer) -> None:
        """Keeps it, or raises."""
        if self._error is not None:
            raise self._error
        self.kept.append((question, answer))


def person(*answers: Answer | Later) -> ScriptedApprover:
    """Somebody who may answer for good."""
    return ScriptedApprover(answers, scopes=Scope)


async def asked(road: Road, name: str, who: ScriptedApprover, **call: Any) -> Question:
    """The question about a call."""
    await road.invoke(road.call(name, {"path": "a"}, **call))
    return who.questions[-1]


@pytest.mark.req("S0-08")
async def test_the_question_holds_the_rule_that_would_be_written(make_road: MakeRoad) -> None:
    """Exactly this call, and that a word on a server's tool can be kept."""
    who = person(YES, YES)
    tools = [ScriptedTool("drop", server="db"), ScriptedTool("own")]
    road = make_road(tools, attended=[who], answers=Book())
    question = await asked(road, "mcp__db__drop", who)
    assert (question.always, question.judgeable) == ('mcp__db__drop(path="a")', True)
    question = await asked(road, "own", who)
    assert (question.always, question.judgeable) == ('own(path="a")', False)


async def test_a_tool_that_was_pinned_otherwise_is_not_judged(make_road: MakeRoad) -> None:
    """A word on it would loosen nothing until it is reviewed."""
    who = person(YES)
    road = make_road([ScriptedTool("t", server="s")], attended=[who], answers=Book())
    question = await asked(road, "mcp__s__t", who)
    changed = dataclasses.replace(question.origin, unreviewed=True)
    assert not with_lasting(replace(question, origin=changed), Subjects()).judgeable
    assert with_lasting(question, Subjects()).judgeable


async def test_without_a_book_or_a_person_nothing_is_offered_for_good(make_road: MakeRoad) -> None:
    """Nothing could be kept; and a rule for attended runs answers in no other."""
    who = person(ALWAYS, ALWAYS)
    tool = ScriptedTool("drop", server="db")
    question = await asked(make_road([tool], attended=[who], owner="a"), tool.name, who)
    assert (question.always, question.judgeable) == (None, False)
    book = Book()
    road = make_road([tool], unattended=[who], answers=book, owner="b")
    question = await asked(road, tool.name, who, attended=False)
    assert (question.always, question.judgeable) == (None, False)
    assert [decision.scope for decision in road.ledger.decisions] == ["once"]
    assert book.kept == []


@pytest.mark.req("S0-08")
async def test_no_rule_is_offered_that_would_not_answer(make_road: MakeRoad) -> None:
    """Over an ask rule, a deny rule that may match, or an open unknown only a person answers."""
    who = person(YES, YES)
    tool = ScriptedTool("drop")
    rules = RuleSet((parse_rule('drop(path="a")', Decision.ASK),))
    road = make_road([tool], attended=[who], answers=Book(), rules=rules, owner="a")
    assert (await asked(road, "drop", who)).always is None
    road = make_road([tool], attended=[who], answers=Book(), owner="b")
    road.leave_open(road.call("drop"))
    assert (await asked(road, "drop", who)).always is None


CODES = ["ask_rule", "deny_rule_may_match", "shell_redirection", "control_file", "open_unknown"]


@pytest.mark.parametrize("code", [*CODES, "a_code_of_tomorrow"])
async def test_every_other_reason_voids_the_offer(make_road: MakeRoad, code: str) -> None:
    """What is not known to be answered by a rule is not: new reasons too."""
    who = person(YES)
    question = await asked(make_road([ScriptedTool("t")], attended=[who]), "t", who)
    known = tuple(Reason(code, "why") for code in sorted(ANSWERABLE))
    assert with_lasting(_with(question, known), Subjects()).always == 't(path="a")'
    assert with_lasting(_with(question, (*known, Reason(code, "why"))), Subjects()).always is None


def _with(question: Question, reasons: tuple[Reason, ...]) -> Question:
    return replace(question, reasons=reasons)


async def test_a_path_that_leads_elsewhere_gets_no_rule(
    make_road: MakeRoad, tmp_path: Path
) -> None:
    """What is written is not what would be written to."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    who = person(YES, YES)
    tool = ScriptedTool("put", subjects=(Subject(SubjectKind.PATH, "path", writes=True),))
    place = Environment(tmp_path, (tmp_path,))
    road = make_road([tool], attended=[who], answers=Book(), environment=place)
    await road.invoke(road.call("put", {"path": "real/a"}))
    await road.invoke(road.call("put", {"path": "link/a"}))
    plain, linked = who.questions
    assert plain.always == 'put(path="real/a")'
    assert linked.always is None
    assert linked.resolved == {"path": str(tmp_path / "real" / "a")}
    odd = Subjects({"path": ResolvedPath("a", "/a", "/a", None, problem="it is odd")})
    assert with_lasting(plain, odd).always is None


@pytest.mark.req("S0-08")
@pytest.mark.parametrize("destructive", [True, False])
async def test_an_answer_for_always_holds_at_once(make_road: MakeRoad, destructive: bool) -> None:
    """It is kept, recorded with its scope, and answers exactly this call in this session; another
    call is asked about."""
    who, book = person(ALWAYS, Answer(False, "scripted")), Book()
    tool = ScriptedTool("drop", server="db", destructive=destructive)
    road = make_road([tool], attended=[who], answers=book, exempt=None)
    for _ in range(2):
        assert not (await road.invoke(road.call(tool.name, {"path": "a"}))).is_error
    assert (await road.invoke(road.call(tool.name, {"path": "b"}))).is_error
    [(question, answer)] = book.kept
    assert (question.always, answer.scope) == ('mcp__db__drop(path="a")', Scope.ALWAYS)
    first, second, third = road.ledger.decisions
    assert (first.approver, first.scope) == ("scripted", "always")
    assert (second.approver, third.approved) == ("grant", False)
    assert len(tool.runs) == 2


@pytest.mark.parametrize("scope", [Scope.READ_ONLY, Scope.ADDITIVE])
async def test_a_word_on_the_tool_answers_this_call(make_road: MakeRoad, scope: Scope) -> None:
    """Once: it counts from the next start on, and the session remembers nothing."""
    who, book = person(Answer(True, "scripted", scope), YES), Book()
    tool = ScriptedTool("drop", server="db")
    road = make_road([tool], attended=[who], answers=book)
    for _ in range(2):
        assert not (await road.invoke(road.call(tool.name))).is_error
    assert [answer.scope for _, answer in book.kept] == [scope]
    assert [decision.scope for decision in road.ledger.decisions] == [scope.value, "once"]


@pytest.mark.parametrize("scope", [Scope.ALWAYS, Scope.READ_ONLY, Scope.ADDITIVE])
async def test_pb_157_what_can_not_be_kept_counts_once(
    make_road: MakeRoad, caplog: pytest.LogCaptureFixture, scope: Scope
) -> None:
    """The call is made; the record says once, the log says why, and the next is asked about."""
    who = person(Answer(True, "scripted", scope), Answer(False, "scripted"))
    tool = ScriptedTool("drop", server="db")
    book = Book(LocalError("the disk is full"))
    road = make_road([tool], attended=[who], answers=book)
    with caplog.at_level(logging.WARNING):
        assert not (await road.invoke(road.call(tool.name, {"path": "a"}))).is_error
    assert (await road.invoke(road.call(tool.name, {"path": "a"}))).is_error
    assert [decision.scope for decision in road.ledger.decisions] == ["once", "once"]
    assert "could not be kept, and counts once" in caplog.text
    assert road.grants.kept() == ()


async def test_only_a_yes_is_kept_for_good(make_road: MakeRoad) -> None:
    """A no of any such scope is a no to this call."""
    book = Book()
    lasting = [Answer(False, "scripted", scope) for scope in Scope]
    who = person(*lasting)
    road = make_road([ScriptedTool("drop", server="db")], attended=[who], answers=book)
    for number, _ in enumerate(lasting):
        result = await road.invoke(road.call("mcp__db__drop", {"path": str(number)}))
        assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "said_no")
    assert book.kept == []


@pytest.mark.req("S0-08")
async def test_a_remembered_no_goes_over_a_rule_for_always(make_road: MakeRoad) -> None:
    """What was answered for good elsewhere does not undo what this session was told."""
    tool = ScriptedTool("drop")
    who = person(Answer(False, "scripted", Scope.SESSION))
    road = make_road([tool], attended=[who], answers=Book(), owner="a")
    await road.invoke(road.call("drop", {"path": "a"}))
    pin = tool.definition.origin.fingerprint.digest
    text = who.questions[0].always
    rule = parse_rule(text, Decision.ALLOW, destructive=True, pin=pin, exact=True)
    later = make_road([tool], attended=[person()], rules=RuleSet((rule,)), owner="b")
    assert (await later.invoke(later.call("drop", {"path": "a"}))).reason == "said_no"
    other = later.call("drop", {"path": "a"}, session="another")
    assert not (await later.invoke(other)).is_error
    assert later.ledger.decisions[-1].approver == "rule"


async def test_the_rule_answers_the_call_that_it_was_written_for(make_road: MakeRoad) -> None:
    """At the next start: the same call runs, with the rule as its approver; any other is asked
    about, and so is the same one of a tool whose definition changed."""
    who, book = person(ALWAYS), Book()
    tool = ScriptedTool("drop")
    road = make_road([tool], attended=[who], answers=book, owner="a")
    await road.invoke(road.call("drop", {"path": "a"}))
    [(question, _)] = book.kept
    pin = question.origin.fingerprint.digest
    rule = parse_rule(question.always, Decision.ALLOW, destructive=True, pin=pin, exact=True)
    for changed, arguments, runs in (
        ("", {"path": "a"}, True),
        ("", {"path": "a", "force": True}, False),
        ("", {"path": ["a"]}, False),
        ("", {}, False),
        ("it is another", {"path": "a"}, False),
    ):
        today = ScriptedTool("drop", description=changed)
        later = make_road(
            [today], attended=[person()], rules=RuleSet((rule,)), owner=str(arguments)
        )
        result = await later.invoke(later.call("drop", arguments, session="new"))
        assert result.is_error is not runs


# ------------------------------------------------------------------ tickets


async def suspended(make_road: MakeRoad, tool: ScriptedTool, **more: Any) -> str:
    """The ticket of an attended call that waits."""
    road = make_road([tool], attended=[person(Later())], answers=Book(), owner="asks", **more)
    return (await road.suspend(road.call(tool.name, {"path": "a"}))).ticket


@pytest.mark.req("B-14")
async def test_an_answer_for_always_can_be_given_elsewhere(make_road: MakeRoad) -> None:
    """The call runs, the rule is kept, recorded with its scope, and the session has its answer."""
    tool, book = ScriptedTool("drop"), Book()
    ticket = await suspended(make_road, tool)
    road = make_road([tool], attended=[person()], answers=book, owner="answers")
    yes = Answer(True, "queue", Scope.ALWAYS)
    result = await road.invoker.resume(ticket, yes, road.snapshot)
    assert isinstance(result, ToolResult)
    assert not result.is_error
    [(question, _)] = book.kept
    assert question.always == 'drop(path="a")'
    assert [decision.scope for decision in road.ledger.decisions] == ["always"]
    assert not (await road.invoke(road.call("drop", {"path": "a"}))).is_error
    assert (await road.invoke(road.call("drop", {"path": "b"}))).is_error
    assert len(tool.runs) == 2


@pytest.mark.parametrize("scope", [Scope.READ_ONLY, Scope.ADDITIVE])
async def test_elsewhere_nobody_judges_a_tool(make_road: MakeRoad, scope: Scope) -> None:
    """Such an answer counts once; nothing is kept."""
    tool, book = ScriptedTool("drop", server="db"), Book()
    ticket = await suspended(make_road, tool)
    road = make_road([tool], answers=book, owner="answers")
    await road.invoker.resume(ticket, Answer(True, "queue", scope), road.snapshot)
    assert [decision.scope for decision in road.ledger.decisions] == ["once"]
    assert (len(tool.runs), book.kept) == (1, [])


async def test_pb_157_elsewhere_too_what_can_not_be_kept_counts_once(make_road: MakeRoad) -> None:
    """The ticket is used up, the call runs, and neither rule nor grant is left."""
    tool = ScriptedTool("drop")
    ticket = await suspended(make_road, tool)
    road = make_road([tool], answers=Book(LocalError("full")), owner="answers")
    await road.invoker.resume(ticket, Answer(True, "queue", Scope.ALWAYS), road.snapshot)
    assert [decision.scope for decision in road.ledger.decisions] == ["once"]
    assert len(tool.runs) == 1
    assert road.grants.kept() == ()


async def test_who_comes_second_keeps_nothing(make_road: MakeRoad) -> None:
    """Of two answers to one ticket the first counts, and the rule is written once."""
    tool, book = ScriptedTool("drop"), Book()
    ticket = await suspended(make_road, tool)
    roads = [make_road([tool], answers=book, owner=owner) for owner in "ab"]
    answers = [
        road.invoker.resume(ticket, Answer(True, "queue", Scope.ALWAYS), road.snapshot)
        for road in roads
    ]
    results = await asyncio.gather(*answers, return_exceptions=True)
    assert sorted(isinstance(result, ToolResult) for result in results) == [False, True]
    assert (len(tool.runs), len(book.kept)) == (1, 1)


DENIED = RuleSet((parse_rule("drop", Decision.DENY),))


@pytest.mark.parametrize(("rules", "description"), [(DENIED, ""), (RuleSet(), "another")])
async def test_a_call_that_is_refused_by_now_keeps_nothing(
    make_road: MakeRoad, rules: RuleSet, description: str
) -> None:
    """A deny rule of today, or another definition, ends it: no rule is written for it."""
    book, today = Book(), ScriptedTool("drop", description=description)
    ticket = await suspended(make_road, ScriptedTool("drop"))
    road = make_road([today], rules=rules, answers=book, owner="answers")
    result = await road.invoker.resume(ticket, Answer(True, "queue", Scope.ALWAYS), road.snapshot)
    assert isinstance(result, ToolResult)
    assert result.is_error
    assert (today.runs, book.kept) == ([], [])


async def test_a_ticket_keeps_what_the_question_showed(make_road: MakeRoad, tmp_path: Path) -> None:
    """Where its paths lead, and the rule; a ticket of before has neither and is still read."""
    tool = ScriptedTool("put", subjects=(Subject(SubjectKind.PATH, "path", writes=True),))
    ticket = await suspended(make_road, tool, environment=Environment(tmp_path, (tmp_path,)))
    road = make_road([tool], owner="shows")
    question = road.tickets.get(ticket).question
    assert question.resolved == {"path": str(tmp_path / "a")}
    assert question.always == 'put(path="a")'
    with open_state(tmp_path / "state.db", "old") as state, state.writing() as connection:
        old = (
            '{"id": "old", "expires": 9e9, "created": 1, "digest": "d", "fingerprint": "f",'
            ' "reasons": [], "callId": "c", "tool": "put", "arguments": {}, "execution": "e",'
            ' "entry": "cli", "ceiling": "mutating", "attended": true, "destructive": true,'
            ' "cwd": "/"}'
        )
        connection.execute(
            "INSERT INTO tickets (id, execution, call_id, digest, expires, body)"
            " VALUES ('old', 'e', 'c', 'd', 9e9, ?)",
            (old,),
        )
    question = road.tickets.get("old").question
    assert (question.resolved, question.always, question.judgeable) == ({}, None, False)
