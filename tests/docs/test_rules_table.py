"""The table "written, means, does not mean" in the documents, every line of it tried."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from lockgate.decision import Decision
from lockgate.rules.examples import example_fault
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule

PAGE = Path(__file__).parents[2] / "docs" / "permission-rules.md"
PLACES = Places("/project", "/home/you")


def rows() -> list[tuple[str, list[str], list[str]]]:
    """Each line: the rule with its list, what it means, what it does not."""
    found: list[tuple[str, list[str], list[str]]] = []
    for line in PAGE.read_text("utf-8").splitlines():
        if re.match(r"\| `(?:allow|ask|deny) ", line):
            written, meant, other = line.strip("| ").split(" | ")
            found.append((_code(written)[0], _code(meant), _code(other)))
    return found


def _code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def rule_of(written: str) -> Rule:
    """The rule of a line; one for a tool of ours that can destroy says so."""
    word, _, text = written.partition(" ")
    decision = Decision[word.upper()]
    destructive = decision is Decision.ALLOW and text.startswith(("Bash(", "Write(", "Edit("))
    return parse_rule(text, decision, destructive=destructive, places=PLACES)


def example_of(text: str) -> Any:
    """A text, or arguments."""
    yaml: Any = YAML(typ="safe")  # untyped
    return yaml.load(text) if text.startswith("{") else text


@pytest.mark.parametrize(("written", "meant", "other"), rows(), ids=[row[0] for row in rows()])
def test_a_rule_means_what_the_page_says(written: str, meant: list[str], other: list[str]) -> None:
    """All that stands in the second column, and nothing of the third."""
    rule = rule_of(written)
    assert meant
    assert other
    for text in meant:
        assert example_fault(rule, example_of(text), meant=True, places=PLACES) is None, text
    for text in other:
        assert example_fault(rule, example_of(text), meant=False, places=PLACES) is None, text


def test_the_table_has_every_form() -> None:
    """Commands, paths, addresses, arguments and names; allowed and denied."""
    written = {re.sub(r"\(.*", "", row[0]) for row in rows()}
    assert written >= {
        *("allow Bash", "deny Bash", "allow Read", "deny Read", "allow WebFetch"),
        *("allow mcp__x__put", "deny mcp__x__put", "deny mcp__x"),
    }
