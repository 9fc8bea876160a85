"""Rules against single calls: ends and pins, unbound rules, reasons, what closes a door."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pytest

from lockgate.decision import Decision
from lockgate.rules.bind import bind
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.opinion import RuleOpinion
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule, RuleSet
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.registry import Registry, Snapshot
from lockgate.tools.subject import NO_SUBJECTS, Subject, SubjectKind, Subjects

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
PLACES = Places("/p", "/home/me")
Say: TypeAlias = Callable[..., RuleOpinion]
UNTIL = 1_000.0


def read(text: str, decision: Decision, **terms: Any) -> Rule:
    """A rule."""
    return parse_rule(text, decision, places=PLACES, source="rules:1", **terms)


@pytest.mark.parametrize(
    ("now", "expected"), [(UNTIL - 0.001, ALLOW), (UNTIL, None), (UNTIL + 1, None)]
)
@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("mcp__s__add", "mcp__s__add", {}),
        ("mcp__s__add(key=a)", "mcp__s__add", {"key": "a"}),
        ("Bash(git:*)", "Bash", {"command": "git status"}),
    ],
)
def test_a_rule_with_an_end_answers_before_it(
    say: Say, text: str, name: str, arguments: Any, now: float, expected: Decision | None
) -> None:
    """At the very moment it no longer does."""
    rule = read(text, ALLOW, until=UNTIL, destructive=name == "Bash")
    assert say([rule], name, arguments, now=now).decision is expected


def test_a_pinned_rule_answers_for_its_definition(world: Snapshot, say: Say) -> None:
    """Under another one it is unbound and says nothing."""
    tool = world.get("mcp__s__add")
    assert tool is not None
    digest = tool.definition.origin.fingerprint.digest
    rule = read("mcp__s__add(key=a)", ALLOW, pin=digest)
    assert say([rule], "mcp__s__add", {"key": "a"}).decision is ALLOW
    other = replace(rule, pin="0" * 64)
    assert say([other], "mcp__s__add", {"key": "a"}).decision is None
    assert bind(RuleSet((other,)), world).unbound == (other,)
    assert bind(RuleSet((rule,)), world).unbound == ()


@pytest.mark.parametrize("decision", list(Decision))
@pytest.mark.parametrize("text", ["mcp__s__add(nothing=1)", "mcp__s__add(key=a, nothing=1)"])
def test_an_argument_that_the_tool_has_not_unbinds_a_rule(
    world: Snapshot, say: Say, decision: Decision, text: str
) -> None:
    """A deny or ask holds by name, an allow says nothing, and both are told (PB-177)."""
    rule = read(text, decision)
    expected = None if decision is ALLOW else decision
    assert say([rule], "mcp__s__add", {"value": 7}).decision is expected
    assert bind(RuleSet((rule,)), world).unbound == (rule,)


@pytest.mark.parametrize("decision", list(Decision))
def test_a_subject_of_another_kind_unbinds_a_rule(
    world: Snapshot, say: Say, decision: Decision
) -> None:
    """A tool that goes by the name of one of ours and is about something else."""
    rule = replace(read("Read(./x)", decision), tool="WebFetch")
    expected = None if decision is ALLOW else decision
    assert say([rule], "WebFetch", {"url": "https://a.org/"}).decision is expected
    assert bind(RuleSet((rule,)), world).unbound == (rule,)


def test_reasons_say_why_the_rule_is_there(say: Say) -> None:
    """Of a line as of anything else, with the whole rule and its place."""
    line = read("Bash(rm:*)", DENY, reason="use the bin")
    path = read("Read(**/.env)", DENY, reason="secrets")
    one = say([line], "Bash", {"command": "rm x"})
    two = say([path], "Read", {"path": "a/.env"})
    assert str(one.reasons[0]) == "the deny rule Bash(rm:*) matches: use the bin (rules:1)"
    assert str(two.reasons[0]) == "the deny rule Read(**/.env) matches: secrets (rules:1)"
    assert (one.rules, two.rules) == ((line,), (path,))


def test_rules_behind_a_line_are_its_own(say: Say) -> None:
    """Also where no rule has a place, and a doubt has none either."""
    rules = [
        replace(read(text, decision, destructive=decision is ALLOW), source=None)
        for text, decision in (("Bash(ls:*)", ALLOW), ("Bash(rm:*)", DENY), ("Bash(git:*)", ASK))
    ]
    rules = [replace(r, subject=replace(r.subject, source=None)) for r in rules]  # pyright: ignore[reportArgumentType, reportCallIssue] - each has a command for a subject
    assert say(rules, "Bash", {"command": "ls > x"}).rules == ()
    assert say(rules, "Bash", {"command": "ls > x"}).decision is ASK
    assert say(rules, "Bash", {"command": "git status"}).rules == (rules[2],)


def test_an_exact_line_does_not_answer_over_a_doubt(say: Say) -> None:
    """What a line does has to be known, also of one that is written out."""
    rule = read('Bash(command="ls > out")', ALLOW, destructive=True)
    assert say([rule], "Bash", {"command": "ls > out"}).decision is ASK
    plain = read('Bash(command="ls && pwd")', ALLOW, destructive=True)
    assert say([plain], "Bash", {"command": "ls && pwd"}).decision is ALLOW
    assert say([plain], "Bash", {"command": "ls && pwd", "timeout": 3}).decision is None


def test_a_subject_that_nobody_resolved_closes_the_door(world: Snapshot) -> None:
    """It is there, and nothing is known of it: what has to hold holds, and nothing is allowed."""
    for text, name, arguments in (
        ("Read(./x)", "Read", {"path": "y"}),
        ("WebFetch(domain:a.org)", "WebFetch", {"url": "https://b.org/"}),
        ("Bash(rm:*)", "Bash", {"command": "ls"}),
        ("mcp__s__add(path=path:./x)", "mcp__s__add", {"path": "y"}),
    ):
        for decision, expected in ((DENY, DENY), (ALLOW, None)):
            rule = read(text, decision, destructive=decision is ALLOW and name == "Bash")
            bound = bind(RuleSet((rule,)), world)
            told = bound.judge(name, arguments, attended=True, subjects=NO_SUBJECTS)
            assert told.decision is expected


@dataclass(frozen=True)
class Broken:
    """A pattern that fails whenever it is asked."""

    text: str = "x"
    kind: SubjectKind = SubjectKind.PATH
    constrains: bool = True

    def allows(self, *_: object) -> bool:
        """Fails."""
        raise RuntimeError("broken")

    def catches(self, *_: object) -> Any:
        """Fails."""
        raise RuntimeError("broken")


class Unsteady(CommandPattern):
    """One that can not even tell whether it constrains anything."""

    __slots__ = ()

    @property
    def constrains(self) -> bool:
        """Fails."""
        raise RuntimeError("broken")


@pytest.mark.parametrize("decision", list(Decision))
def test_a_rule_that_fails_on_a_call_is_a_deny(say: Say, decision: Decision) -> None:
    """Whatever it was to say, and whatever others say."""
    broken = replace(read("Read(./x)", decision), subject=Broken())
    opinion = say([broken, read("Read", ALLOW)], "Read", {"path": "y"})
    assert opinion.decision is DENY
    assert opinion.reasons[0].code == "rule_failed"


def test_a_rule_that_fails_while_it_is_bound_is_a_deny(say: Say) -> None:
    """Here it is asked whether it leaves anything open."""
    rule = read("Bash(git:*)", ALLOW, destructive=True)
    pattern = Unsteady("git:*", ("git",), more=True)
    opinion = say([replace(rule, subject=pattern)], "Bash", {"command": "git"})
    assert opinion.decision is DENY


def test_without_arguments_rules_about_them_are_told(world: Snapshot) -> None:
    """Each with what it depends on; those of other runs are not."""
    rules = (
        read("Bash(git:*)", ALLOW, destructive=True),
        read('Bash(command="x")', ALLOW, destructive=True, when="unattended"),
        read("Bash(...)", ALLOW, destructive=True, until=UNTIL),
        read("Bash(rm:*)", DENY),
    )
    told = bind(RuleSet(rules), world).about("Bash").whatever(attended=True)
    assert told.decision is None
    assert [note.text for note in told.notes] == [
        "the rule Bash(git:*) depends on the call",
        "the rule Bash(rm:*) depends on the call",
        "the rule Bash(...) depends on the time",
    ]


@pytest.mark.parametrize("decision", [ASK, DENY])
def test_a_strict_rule_about_reading_counts_as_bound_where_it_holds(decision: Decision) -> None:
    """`Read(...)` also holds for tools that search, whether or not there is one called Read."""
    registry = Registry()
    subjects = (Subject(SubjectKind.PATH, "path", default="."),)
    registry.register_all([ScriptedTool("Grep", subjects=subjects)])
    snapshot = registry.snapshot()
    bound = bind(RuleSet((read("Read(**/.env)", decision),)), snapshot)
    assert bound.unbound == ()
    assert len(bound.about("Grep").withheld) == 1


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("mcp__s__add", "mcp__s__add", {"key": "b"}),
        ("mcp__s__add(key=a)", "mcp__s__add", {"key": "a"}),
        ("Read(./docs/**)", "Read", {"path": "docs/a"}),
        ("Bash(git:*)", "Bash", {"command": "ls; git status"}),
    ],
)
def test_an_allow_rule_that_sleeps_is_told_for_reading(
    world: Snapshot,
    subjects_of: Callable[..., Subjects],
    text: str,
    name: str,
    arguments: dict[str, Any],
) -> None:
    """It would mean the call, and has ended or answers elsewhere; whatever else is not told."""
    destructive = name == "Bash"
    rules = [
        read(text, ALLOW, destructive=destructive, until=UNTIL),
        read(text, ALLOW, destructive=destructive, when="unattended"),
        read(text, ALLOW, destructive=destructive),
        read("mcp__s__add(key=other)", ALLOW, until=UNTIL),
        read("Bash(nothing:*)", ALLOW, destructive=True, until=UNTIL),
    ]
    bound = bind(RuleSet(tuple(rules)), world)
    subjects = subjects_of(bound, name, arguments)
    told = bound.about(name).dormant(arguments, subjects, attended=True, now=UNTIL)
    assert [reason.text for reason in told] == [
        f"the allow rule {text} has ended",
        f"the allow rule {text} answers in unattended runs alone",
    ]


def test_a_rule_that_holds_by_name_says_so(say: Say) -> None:
    """Its author has to learn why it refuses so much."""
    rule = read("mcp__s__add(nothing=1)", DENY, reason="mine")
    told = say([rule], "mcp__s__add", {}).reasons[0].text
    assert told.endswith("matches: mine; the tool has not what the rule speaks of, so it holds for"
                         " every call")  # fmt: skip
