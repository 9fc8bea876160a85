"""Findings: all at once, in the order of the file, and what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.errors import ConfigError, Problem
from lockgate.settings.findings import Findings, spelling_hint
from lockgate.settings.nodes import Place

A, B = Path("a.yaml"), Path("b.yaml")
KEYS = ("name", "command", "args", "env", "cwd", "requestTimeout", "annotationTrust")
OTHERS = {"timeout": "requestTimeout", "environment": "env", "cmd": "command"}


def test_findings_come_in_order_of_file_and_line() -> None:
    """One error holds all of them: file by file as they were read, each from top to bottom."""
    findings = Findings()
    findings.raise_any()
    for place in (Place(A, 9, 1), Place(A, 2, 5), Place(B, 1, 1), Place(A, 2, 1)):
        findings.add(place, "", "x")
    with pytest.raises(ConfigError) as caught:
        findings.raise_any()
    found = [(p.file, p.line, p.column) for p in caught.value.problems]
    assert found == [(A, 2, 1), (A, 2, 5), (A, 9, 1), (B, 1, 1)]


def test_the_findings_of_another_reading_join() -> None:
    """An error that ended one file's reading does not hide the findings of the others."""
    findings, other = Findings(), Findings()
    findings.include(ConfigError(Problem("first")))
    other.include(ConfigError("second"))
    findings.include_all(other)
    assert [problem.message for problem in findings.problems] == ["first", "second"]


def test_a_hostile_key_is_shown_harmlessly() -> None:
    """Escapes and direction marks in a file's own words are visible, and long words are cut."""
    findings = Findings()
    findings.add(Place(A, 1, 1), "\x1b[2J", "unknown \u202e" + "x" * 1000, "one\ntwo\x07")
    (problem,) = findings.problems
    text = str(problem)
    assert "\\x1b[2J" in text
    assert "\\u202e" in text
    assert "two\\x07" in text
    assert len(text) < 500


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("comand", "did you mean command?"),
        ("commands", "did you mean command?"),
        ("arg", "did you mean args?"),
        ("Args", "did you mean args?"),
        ("annotation_trust", "did you mean annotationTrust?"),
        ("request-timeout", "did you mean requestTimeout?"),
        ("timeout", "write requestTimeout"),
        ("timout", "did you mean requestTimeout?"),
        ("environment", "write env"),
        ("cmd", "write command"),
        ("zzz", f"valid here: {', '.join(KEYS)}"),
        ("", f"valid here: {', '.join(KEYS)}"),
    ],
)
def test_the_nearest_valid_spelling(word: str, hint: str) -> None:
    """Within two edits, in another casing, or another program's word; else the whole list."""
    assert spelling_hint(word, KEYS, also_called=OTHERS) == hint


def test_the_first_of_two_spellings_is_suggested() -> None:
    """Where old files spell in capitals, the suggestion is the spelling of today."""
    assert spelling_hint("trsut", ("ignore", "trust", "IGNORE", "TRUST")) == "did you mean trust?"
    assert spelling_hint("Trust", ("ignore", "trust", "IGNORE", "TRUST")) == "did you mean trust?"
