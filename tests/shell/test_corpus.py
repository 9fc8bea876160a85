"""Every line of the corpus is judged as it is written there."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from lockgate.decision import Decision
from lockgate.rules.command.line import analyse
from lockgate.rules.command.pattern import CommandPattern
from shell_corpus import Case, cases

ALL = tuple(cases())


def failing(verdict: Decision) -> list[str]:
    """Lines of which this was expected, and something else came."""
    return [
        f"{case.place}: {case.line!r} came to {came.decision.name}, {came.reasons[0]}"
        for case in ALL
        if case.expected is verdict
        for came in [case.judge()]
        if came.decision is not verdict
    ]


@pytest.mark.req("B-09")
@pytest.mark.parametrize("verdict", list(Decision), ids=[v.name.lower() for v in Decision])
def test_a_line_is_judged_as_written(verdict: Decision) -> None:
    """Compound commands, substitutions, redirections, quoting, assignments: many of each."""
    assert failing(verdict) == []


def test_the_corpus_is_large() -> None:
    """At least three hundred lines, each verdict among them often, none twice under its rules."""
    counts = Counter(case.expected for case in ALL)
    assert len(ALL) >= 300
    assert min(counts.values()) >= 100
    keys = Counter((case.line, case.allow, case.deny, case.ask) for case in ALL)
    assert [key[0] for key, count in keys.items() if count > 1] == []


def test_one_deny_more_never_allows_more() -> None:
    """With a deny added, no line of the corpus is judged less strictly."""
    for case in ALL:
        before = case.judge(analysis := analyse(case.line)).decision
        for text in ("git:*", "touch:*", "*", "git status"):
            stricter = replace(case, deny=(*case.deny, CommandPattern.parse(text)))
            assert stricter.judge(analysis).decision >= before, case.place


def test_no_allow_rule_nothing_allowed() -> None:
    """Without an allow rule no line of the corpus runs."""
    for case in ALL:
        assert replace(case, allow=()).judge().decision is not Decision.ALLOW, case.place


def embedded(case: Case, construct: str) -> str:
    """The line of `case` inside a construct."""
    return construct.replace("LINE", case.line)


@pytest.mark.parametrize(
    "construct",
    *[
        [
            "LINE",
            "( LINE\n)",
            "{ LINE\n}",
            "if LINE\nthen ls\nfi",
            "ls\nLINE",
            "LINE\nls",
        ]
    ],
)
def test_no_construct_makes_a_line_run(construct: str) -> None:
    """What is asked about or denied under its rules is so inside of any construct."""
    loosened = [
        case.place
        for case in ALL
        if case.expected is not Decision.ALLOW and not opens_itself(case.line)
        if replace(case, line=embedded(case, construct)).judge().decision is Decision.ALLOW
    ]
    assert loosened == []


def opens_itself(line: str) -> bool:
    """Lines that are complete only with what the construct brings: empty ones, ends of others."""
    return (
        analyse(line).commands == ()
        or line.strip().startswith((")", "}"))
        or line.endswith(("\\", "&&", "||", "|", "{", "(", ")", "}", "!", "time", "! ", ";;"))
    )
