"""Examples of a rule: held against the rule as it is written, before any tool is there."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.decision import Decision
from lockgate.rules.examples import example_fault
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
PLACES = Places("/p", "/home/me")


def read(text: str, decision: Decision, *, destructive: bool = False) -> Rule:
    """A rule; one for a destructive tool of ours says so."""
    ours = decision is ALLOW and text.partition("(")[0] in ("Bash", "Write", "Edit")
    return parse_rule(text, decision, destructive=destructive or ours, places=PLACES)


@pytest.mark.parametrize(
    ("text", "meant", "not_meant"),
    [
        ("Bash(git:*)", ["git", "git status", "git log | git grep x"], ["gitk", "git x; rm y"]),
        ("Read(./docs/**)", ["docs/a", "x/../docs/a", "/p/docs/b"], ["docs/../x", "~/docs/a"]),
        ("Read(~/notes/**)", ["~/notes/a", "/home/me/notes/a"], ["notes/a"]),
        ("WebFetch(domain:a.org)", ["https://a.org/x"], ["https://b.org/", "a.org"]),
        ("mcp__s__add(key=a*, n=3)", [{"key": "ab", "n": 3.0}], [{"key": "ab"}, {"n": 3}, {}]),
        ("mcp__s__add(p=path:./x/*)", [{"p": "x/y"}, {"p": ["x/a"]}], [{"p": "x/../y"}]),
        ("mcp__s__add", ["mcp__s__add"], ["add", "mcp__s__put"]),
        ("mcp__s", ["mcp__s__add"], ["mcp__t__add", "mcp__s"]),
        ("Read", ["Read"], ["read"]),
    ],
)
def test_examples_of_an_allow_rule(text: str, meant: list[Any], not_meant: list[Any]) -> None:
    """A line counts if all of it is allowed by this rule alone; arguments if all are named."""
    rule = read(text, ALLOW)
    for example in meant:
        assert example_fault(rule, example, meant=True, places=PLACES) is None
        fault = example_fault(rule, example, meant=False, places=PLACES)
        assert fault == "is meant by the rule"
    for example in not_meant:
        assert example_fault(rule, example, meant=False, places=PLACES) is None
        fault = example_fault(rule, example, meant=True, places=PLACES)
        assert fault == "is not meant by the rule"


@pytest.mark.parametrize("decision", [ASK, DENY])
@pytest.mark.parametrize(
    ("text", "meant", "not_meant"),
    [
        ("Bash(rm:*)", ["ls; rm x", "/bin/rm x", "bash -c 'rm x'"], ["rmdir x", "echo rm"]),
        ("Read(.env)", [".env", "a/.env", "a/.env/b"], [".envrc"]),
        ("WebFetch(domain:a.org)", ["https://x.a.org/", "nonsense"], ["https://b.org/"]),
        ("mcp__s__add(key=a)", [{"key": "a", "n": 1}, {"key": ["b", "a"]}], [{"n": "a"}]),
    ],
)
def test_examples_of_a_strict_rule(
    decision: Decision, text: str, meant: list[Any], not_meant: list[Any]
) -> None:
    """Any part of the call counts."""
    rule = read(text, decision)
    for example in meant:
        assert example_fault(rule, example, meant=True, places=PLACES) is None
    for example in not_meant:
        assert example_fault(rule, example, meant=False, places=PLACES) is None


def test_what_only_shows_when_it_runs_is_neither() -> None:
    """The call would be asked about."""
    rule = read("Bash(rm:*)", DENY)
    for meant in (True, False):
        fault = example_fault(rule, "$X -rf", meant=meant, places=PLACES)
        assert fault is not None
        assert "may be meant" in fault


def test_an_argument_that_a_rule_for_a_destructive_tool_leaves_open_is_not_meant() -> None:
    """The rule would not answer for the call (S0-08)."""
    rule = read("mcp__s__put(key=a)", ALLOW, destructive=True)
    assert example_fault(rule, {"key": "a"}, meant=True, places=PLACES) is None
    assert example_fault(rule, {"key": "a", "n": 1}, meant=False, places=PLACES) is None


@pytest.mark.parametrize(
    ("text", "example", "wanted"),
    [
        ("Bash(git:*)", {"command": "git"}, "a command line"),
        ("Read(./x)", {"path": "x"}, "a path"),
        ("WebFetch(domain:a.org)", {"url": "x"}, "an address"),
        ("Read", {"path": "x"}, "the name of a tool"),
        ("mcp__s__add(key=a)", "a", "arguments, as in {name: value}"),
    ],
)
def test_an_example_of_another_form_is_a_fault(text: str, example: Any, wanted: str) -> None:
    """It says which form is wanted."""
    rule = read(text, ALLOW)
    assert example_fault(rule, example, meant=False, places=PLACES) == f"is to be {wanted}"
