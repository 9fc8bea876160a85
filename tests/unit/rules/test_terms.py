"""What a rule says besides its text: who may say it, and what an allow rule has to say."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.decision import Decision
from lockgate.errors import ConfigError, Problem
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
PLACES = Places("/p", "/home/me")
PIN = "0123456789abcdef" * 4


def read(text: str, decision: Decision = ALLOW, **terms: Any) -> Rule:
    """A rule."""
    return parse_rule(text, decision, places=PLACES, source="rules:1", **terms)


def problem(text: str, decision: Decision = ALLOW, **terms: Any) -> Problem:
    """The one problem that reading it ends in."""
    with pytest.raises(ConfigError) as refused:
        read(text, decision, **terms)
    (found,) = refused.value.problems
    assert repr(text) in found.message
    assert found.path == "rules:1"
    return found


@pytest.mark.parametrize(
    "terms",
    [
        {"when": "any"},
        {"when": "attended"},
        {"until": 1.0},
        {"destructive": True},
        {"pin": PIN},
        {"exact": True},
    ],
)
@pytest.mark.parametrize("decision", [ASK, DENY])
def test_strict_rules_always_hold(decision: Decision, terms: dict[str, Any]) -> None:
    """An ask or deny that would only sometimes hold is refused, and says which key is wrong."""
    found = problem("mcp__s__put(a=1)", decision, **terms)
    assert "it always holds" in found.message
    assert next(iter(terms)) in found.message
    assert found.hint == "leave it out"


@pytest.mark.parametrize("decision", list(Decision))
def test_a_reason_is_told_or_not_there(decision: Decision) -> None:
    """An empty one is a slip."""
    assert read("add", decision, reason="because").reason == "because"
    for empty in ("", " \n"):
        assert "has an empty reason" in problem("add", decision, reason=empty).message


@pytest.mark.req("S0-08")
@pytest.mark.parametrize("terms", [{"destructive": True}, {"pin": PIN}, {"exact": True}])
@pytest.mark.parametrize("text", ["mcp__s", "mcp__s__*"])
def test_what_speaks_of_one_tool_names_one(text: str, terms: dict[str, Any]) -> None:
    """Whole servers are none."""
    found = problem(text, **terms)
    assert "names a whole server" in found.message
    assert found.hint == "name exactly one tool"


@pytest.mark.req("S0-08")
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Bash", '{rule: "Bash(git status:*)", destructive: true}'),
        ("Bash(*)", '{rule: "Bash(git status:*)", destructive: true}'),
        ("Bash(git log:*)", '{rule: "Bash(git log:*)", destructive: true}'),
        ("Bash(...)", '{rule: "Bash(...)", destructive: true}'),
        ("Write(./out/**)", '{rule: "Write(./out/**)", destructive: true}'),
        ("Write(**)", '{rule: "Write(./docs/**)", destructive: true}'),
        ("Edit", '{rule: "Edit(./docs/**)", destructive: true}'),
    ],
)
def test_a_destructive_tool_of_ours_is_allowed_by_saying_so(text: str, hint: str) -> None:
    """Otherwise the rule would never answer, and its author believe it does."""
    found = problem(text)
    assert "does not say destructive: true" in found.message
    assert hint in (found.hint or "")


@pytest.mark.req("S0-08")
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Bash", "write Bash(git status:*), or Bash(...) if every call is meant"),
        ("Bash(*)", "write Bash(git status:*), or Bash(...) if every call is meant"),
        ("Write(**)", "write Write(./docs/**), or Write(...) if every call is meant"),
        ("Write(/**)", "write Write(./docs/**), or Write(...) if every call is meant"),
        ("Write(path=*, content=*)", "write Write(./docs/**), or Write(...)"),
        ("mcp__s__put", "write mcp__s__put(name=pattern), or mcp__s__put(...)"),
        ("mcp__s__put(a=*, b=**)", "write mcp__s__put(name=pattern), or mcp__s__put(...)"),
        ("drop", "write drop(name=pattern), or drop(...) if every call is meant"),
    ],
)
def test_what_answers_for_a_destructive_tool_constrains_something(text: str, hint: str) -> None:
    """Or says that everything is meant."""
    found = problem(text, destructive=True)
    assert "constrains nothing" in found.message
    assert hint in (found.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "Bash(git status:*)",
        "Bash(...)",
        'Bash(command="git push", timeout=*)',
        "Write(./docs/**)",
        "Write(...)",
        "Write(path=path:./docs/**, content=*)",
        "mcp__s__put(a=1)",
        "mcp__s__put(a=*, ...)",
        "drop(a=1)",
    ],
)
def test_what_may_answer_for_a_destructive_tool(text: str) -> None:
    """It is read as it is written."""
    assert read(text, destructive=True).destructive


@pytest.mark.parametrize(
    "text",
    ["Read", "Read(**)", "Grep(./src/**)", "Glob", "WebFetch", "WebFetch(*)", "mcp__s", "add"],
)
def test_what_can_not_destroy_needs_no_more(text: str) -> None:
    """Nor does what nobody knows yet: of a server's tool the ruling comes later."""
    assert not read(text).destructive


@pytest.mark.parametrize("pin", ["", "12ab", PIN.upper(), PIN + "0", "g" * 64])
def test_a_pin_is_a_digest(pin: str) -> None:
    """Of 64 digits, as they are printed."""
    assert "64 hexadecimal digits" in problem("add", pin=pin).message
    assert read("add", pin=PIN).pin == PIN


def test_an_exact_rule_leaves_nothing_open() -> None:
    """It names arguments, all of them; without any it means the call without arguments."""
    for text in ("add(a=1, ...)", "Bash(git:*)", "Bash(...)"):
        found = problem(text, exact=True, destructive=True)
        assert "leaves something open" in found.message
    rule = read("mcp__s__put()", exact=True, destructive=True)
    assert (rule.exact, rule.parameters, rule.bare) == (True, (), False)
