"""Keeping an answer for good: what is written, and what is said on the terminal."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from lockgate.app.answers import AnswersFile
from lockgate.bridges.voice import Voice
from lockgate.decision import Reason
from lockgate.errors import LockgateError
from lockgate.policy.approval import Answer, Question, Scope
from lockgate.settings.answers import AnsweredRule, AnsweredVerdict, kept_answers
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.origin import Origin
from lockgate.traits import SideEffectLevel

PIN = fingerprint({}).digest
TEXT = 'mcp__db__a_b_1234(table="t")'


def a_question(**changes: Any) -> Question:
    """One about a server's tool whose name had to be altered."""
    fields: dict[str, Any] = {
        "call_id": "c",
        "tool": "mcp__db__a_b_1234",
        "origin": Origin("mcp", "db", "a b", fingerprint({})),
        "level": SideEffectLevel.MUTATING,
        "destructive": True,
        "arguments": {"table": "t"},
        "digest": "d",
        "reasons": (Reason("destructive", "it can destroy"),),
        "execution_id": "e",
        "session_id": None,
        "principal": None,
        "always": TEXT,
        "judgeable": True,
    }
    return Question(**{**fields, **changes})


def yes(scope: Scope) -> Answer:
    """A person's."""
    return Answer(True, "terminal", scope)


@pytest.fixture
def said() -> list[str]:
    """What is heard."""
    return []


@pytest.fixture
def book(tmp_path: Path, said: list[str]) -> AnswersFile:
    """A file that is not there yet."""
    return AnswersFile(tmp_path / "answers.yaml", Voice(said.append))


@pytest.mark.parametrize(
    ("scope", "kept"),
    [
        (Scope.ALWAYS, AnsweredRule(TEXT, True, PIN)),
        (Scope.READ_ONLY, AnsweredVerdict("db", "a b", "read-only", PIN)),
        (Scope.ADDITIVE, AnsweredVerdict("db", "a b", "additive", PIN)),
    ],
)
def test_what_is_kept_of_an_answer(
    tmp_path: Path, book: AnswersFile, said: list[str], scope: Scope, kept: object
) -> None:
    """A rule by the registered name, a verdict by the server's own; each with the pin, and it is
    said where it stands and how it is taken back."""
    book.keep(a_question(), yes(scope))
    assert [one.answered for one in kept_answers(tmp_path / "answers.yaml")] == [kept]
    [line] = said
    assert str(tmp_path / "answers.yaml") in line
    assert "lockgate grants list" in line
    assert ("from the next start on" in line) is (scope is not Scope.ALWAYS)


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"always": None}, yes(Scope.ALWAYS)),
        ({"judgeable": False}, yes(Scope.READ_ONLY)),
        ({"destructive": False}, yes(Scope.ADDITIVE)),
        ({}, yes(Scope.ONCE)),
        ({}, yes(Scope.SESSION)),
        ({}, Answer(False, "terminal", Scope.ALWAYS)),
        ({"always": "mcp__db__drop(*"}, yes(Scope.ALWAYS)),
        ({"always": "mcp__db__drop(table=*)"}, yes(Scope.ALWAYS)),
        ({"always": "mcp__db"}, yes(Scope.ALWAYS)),
    ],
)
def test_nothing_else_is_kept(
    tmp_path: Path, book: AnswersFile, changes: dict[str, Any], answer: Answer
) -> None:
    """What was not offered, no yes for good, or no exact rule: an error, and no file."""
    with pytest.raises(LockgateError):
        book.keep(a_question(**changes), answer)
    assert list(tmp_path.iterdir()) == []


def test_pb_157_a_failure_is_said_loudly(
    tmp_path: Path, book: AnswersFile, said: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """On the terminal and in the log: that it counts for this call only, and why; no argument."""
    (tmp_path / "answers.yaml").mkdir()
    with caplog.at_level(logging.ERROR), pytest.raises(LockgateError):
        book.keep(a_question(arguments={"table": "zzz"}), yes(Scope.READ_ONLY))
    [line] = said
    assert line.startswith("NOT KEPT, it counts for this call only: ")
    assert "answers.yaml" in line
    assert "an answer could not be kept" in caplog.text
    assert "zzz" not in line + caplog.text


def test_a_name_of_a_file_makes_no_line_of_its_own(tmp_path: Path, said: list[str]) -> None:
    """The directory may be named by a stranger."""
    file = tmp_path / "a\nkept\x1b[2J" / "answers.yaml"
    AnswersFile(file, Voice(said.append)).keep(a_question(), yes(Scope.ALWAYS))
    assert "\n" not in said[0]
    assert "\x1b" not in said[0]
