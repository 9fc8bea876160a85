"""What a rule knows of itself."""

from __future__ import annotations

import pytest

from lockgate.decision import Decision
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places

PLACES = Places("/p", "/home/me")


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("Write(./x)", True),
        ("Write(path=path:./x, content=*)", True),
        ("Write(path=path:/**, content=*, ...)", True),
        ("Write(path=*, ...)", False),
        ("Write(content=x, ...)", False),
        ("Write(...)", False),
    ],
)
def test_a_rule_speaks_of_a_path_if_it_says_what_it_has_to_be(text: str, speaks: bool) -> None:
    """Only then does it answer for a path outside of the file roots."""
    rule = parse_rule(text, Decision.ALLOW, destructive=True, places=PLACES)
    assert rule.speaks_of("path", "path") is speaks


def test_a_command_says_nothing_of_where_it_runs() -> None:
    """Its directory is another argument."""
    rule = parse_rule("Bash(git:*)", Decision.ALLOW, destructive=True)
    assert not rule.speaks_of("command", "command")
    assert not rule.speaks_of("directory", "command")


@pytest.mark.req("S0-08")
@pytest.mark.parametrize(
    ("text", "arguments", "constrains"),
    [
        ("put(a=1)", {"a": 1}, True),
        ("put(a=1)", {"a": 1, "b": 2}, False),
        ("put(a=1, b=*)", {"a": 1, "b": 2}, False),
        ("put(a=1, b=2)", {"a": 1}, True),
        ("put(a=1, ...)", {"a": 1, "b": 2}, True),
        ("put(a=1)", {}, True),
        ("put(...)", {"a": 1}, True),
        ("Write(./x)", {"path": "x", "content": "y"}, True),
        ("Write(...)", {"path": "x"}, True),
    ],
)
def test_a_rule_constrains_a_call_if_it_leaves_nothing_open(
    text: str, arguments: dict[str, object], constrains: bool
) -> None:
    """An argument that it does not name, or names with `*` alone, is open."""
    rule = parse_rule(text, Decision.ALLOW, destructive=True, places=PLACES)
    assert rule.constrains(arguments) is constrains
