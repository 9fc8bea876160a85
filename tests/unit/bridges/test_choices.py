"""The answers of a question in words, and what a line of them means."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.bridges.choices import choice_lines, rule_lines, understood
from lockgate.policy.approval import Answer, Question, Scope
from lockgate.showing import width_of
from lockgate.traits import SideEffectLevel

Changed = Callable[..., Question]


def test_every_answer_says_what_it_means(asking_about: Changed) -> None:
    """All of them, in 80 columns, the lasting ones without a short form."""
    question = asking_about(always='mcp__git__git_reset(repo_path=".")', judgeable=True)
    assert choice_lines(question, 80, revealable=True) == [
        "answers",
        "  n, no       do not call it (default); words after it are told to the model",
        "  o, once     make this call, this time",
        "  s, session  exactly this call, until the session ends",
        "  always      exactly this call, in every attended run, while its definition",
        "              stays as it is: by this rule in your answers",
        '| mcp__git__git_reset(repo_path=".")',
        "  read-only   make this call; from the next start on it counts as a tool that",
        "              only reads, while its definition stays as it is",
        "  additive    make this call; from the next start on it counts as a tool that",
        "              never overwrites or removes, while its definition stays as it is",
        "  r, reveal   show the masked values and ask again",
    ]


@pytest.mark.parametrize(
    ("changes", "offered"),
    [
        ({}, {Scope.ONCE, Scope.SESSION}),
        ({"session_id": None}, {Scope.ONCE}),
        ({"always": "t()"}, {Scope.ONCE, Scope.SESSION, Scope.ALWAYS}),
        ({"judgeable": True}, {Scope.ONCE, Scope.SESSION, Scope.READ_ONLY, Scope.ADDITIVE}),
        (
            {"judgeable": True, "destructive": False},
            {Scope.ONCE, Scope.SESSION, Scope.READ_ONLY},
        ),
        (
            {"judgeable": True, "destructive": False, "level": SideEffectLevel.READ_ONLY},
            {Scope.ONCE, Scope.SESSION},
        ),
    ],
)
def test_an_answer_counts_exactly_if_it_is_offered(
    asking_about: Changed, changes: dict[str, object], offered: set[Scope]
) -> None:
    """Its word is a yes where the question offers it and shows it, and a no elsewhere."""
    question = asking_about(**changes)
    shown = "\n".join(choice_lines(question, 80, revealable=False))
    for scope in Scope:
        answer, remark = understood(scope.value, question, "terminal")
        assert question.offers(scope) is (scope in offered)
        assert (f"{scope.value}  " in shown) is (scope in offered)
        if scope in offered:
            assert (answer, remark) == (Answer(True, "terminal", scope), "")
        else:
            assert answer == Answer(False, "terminal")
            assert remark.endswith("is none of the answers: no")


@given(rule=st.text(min_size=1, max_size=400), width=st.integers(24, 100))
def test_a_rule_can_imitate_no_line_of_ours(rule: str, width: int) -> None:
    """Whatever it holds, each of its lines fits and stands behind the gutter."""
    lines = rule_lines(rule, width)
    assert all(line.startswith(("| ", "|> ")) and line.isprintable() for line in lines)
    assert all(width_of(line) <= width for line in lines)


def test_the_width_of_a_rule_is_kept(asking_about: Changed) -> None:
    """A long rule is folded behind the gutter, nothing of it left out."""
    rule = f"t(a={'y' * 300}, b=한글{'한' * 80}\x1b[31m)"
    lines = choice_lines(asking_about(always=rule), 40, revealable=False)
    assert max(map(width_of, lines)) <= 40
    gutter = [line for line in lines if line.startswith("|")]
    assert "".join(line[2:].removeprefix(" ") for line in gutter).count("y") == 300
    assert not any("\x1b" in line for line in lines)
