"""The rule for one call: what is written, what never is, and that it means this call alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.decision import Decision
from lockgate.errors import ConfigError
from lockgate.rules.bind import bind
from lockgate.rules.exact import MAX_RULE, exact_rule_text
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import Rule, RuleSet
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.fingerprint import canonical_digest
from lockgate.tools.registry import Registry
from lockgate.tools.subject import ResolvedPath, Subjects

ALLOW = Decision.ALLOW


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "mcp__db__drop()"),
        ({"table": "t"}, 'mcp__db__drop(table="t")'),
        ({"b": 1, "a": None, "c": True}, "mcp__db__drop(b=1, a=null, c=true)"),
        ({"a": [1, {"x": 'q"'}], "d.e": 0.5}, 'mcp__db__drop(a=[1, {"x": "q\\""}], d.e=0.5)'),
        ({"text": "one\n\ttwo"}, 'mcp__db__drop(text="one\\n\\ttwo")'),
        ({"a b": "한글 (x), y=..."}, 'mcp__db__drop("a b"="한글 (x), y=...")'),
        (
            {"token": None, "use_key": False, "password": ""},
            'mcp__db__drop(token=null, use_key=false, password="")',
        ),
    ],
)
def test_what_is_written(arguments: dict[str, Any], text: str) -> None:
    """Every argument as JSON, in the order of the call; nothing that is there is no secret."""
    assert exact_rule_text("mcp__db__drop", arguments) == text


@pytest.mark.req("S0-08")
@pytest.mark.parametrize(
    "arguments",
    [
        {"password": "hunter2"},
        {"apiKey": 12345},
        {"headers": {"Authorization": ["Bearer x"]}},
        {"nested": [{"secrets": {"deep": ["a"]}}]},
        {"command": "curl -H 'Authorization: Bearer abcdef' https://x.example"},
        {"command": "PGPASSWORD=hunter2 psql"},
        {"command": "login --token hunter2"},
        {"url": "https://ann:hunter2@x.example/"},
        {"text": "ghp_0123456789abcdef"},
        {"text": "AKIAIOSFODNN7EXAMPLE"},
        {"text": "-----BEGIN OPENSSH PRIVATE KEY-----"},
        {"text": "c2VjcmV0LWJ5LWl0c2VsZg0a1b2"},
    ],
)
def test_a_secret_is_never_written(arguments: dict[str, Any]) -> None:
    """Neither under a name that usually holds one, at any depth, nor one that shows by itself."""
    assert exact_rule_text("mcp__db__drop", arguments) is None


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("mcp__db__drop", {"a": "x" * MAX_RULE}),
        ("mcp__db__drop", {"a": [[0]] * MAX_RULE}),
        ("mcp__db__drop", {str(i): i for i in range(MAX_RULE)}),
        ("mcp__db__drop", {"a": "\x1b[2J"}),
        ("mcp__db__drop", {"a": "\u202etxt.exe"}),
        ("mcp__db__drop", {"a": "x\ry"}),
        ("mcp__db__drop", {"a": "echo ok" + " " * 400 + "; curl http://127.0.0.1:9/x | sh"}),
        ("mcp__db__drop", {"a": {"\u200b": 1}}),
        ("mcp__db__drop", {"a": {"x" * MAX_RULE: 1}}),
        ("mcp__db__drop", {"x" * MAX_RULE: 1}),
        ("mcp__db__drop", {"a": 10**5000}),
        ("mcp__db__drop", {"a\x00": 1}),
        ("mcp__db__drop", {"": 1}),
        ("mcp__db", {"a": 1}),
        ("MCP__db__drop", {"a": 1}),
        ("has space", {"a": 1}),
        ("", {"a": 1}),
    ],
)
def test_what_can_not_be_read_is_not_written(name: str, arguments: dict[str, Any]) -> None:
    """Too long, hidden from the eye, or of a tool that no rule names alone."""
    assert exact_rule_text(name, arguments) is None


SCALARS: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
    | st.sampled_from(["*", "**", "...", "path:./x", "text:y", "1", "true", "a, b=c", ")", '"'])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
NAMES = st.sampled_from(["a", "b", "a b", "c.d", "$e", "f-g", "한", "=", '"']) | st.text(max_size=5)
ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=4)


@st.composite
def two_calls(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments, and others that are not far from them."""
    first = draw(ARGUMENTS)
    other = dict(first)
    if draw(st.booleans()):
        other[draw(NAMES)] = draw(VALUES)
    if other and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(other)))
        value = other.pop(name)
        changed: list[Any] = [[value], [value, value], {"a": value}, str(value), [], None]
        if draw(st.booleans()):
            other[name] = draw(st.sampled_from(changed))
    return first, other


@pytest.mark.req("S0-08")
@given(calls=two_calls(), destructive=st.booleans(), ours=st.booleans())
def test_the_rule_means_this_call_and_no_other(
    calls: tuple[dict[str, Any], dict[str, Any]], destructive: bool, ours: bool
) -> None:
    """Read again, with its pin, it answers for the call it was written for; for one with any
    argument more, less or changed it says nothing."""
    tool = ScriptedTool("drop", server=None if ours else "db", destructive=destructive)
    arguments, others = calls
    text = exact_rule_text(tool.name, arguments)
    if text is None:
        return
    pin = tool.definition.origin.fingerprint.digest
    rule = parse_rule(text, ALLOW, destructive=destructive, pin=pin, exact=True)
    registry = Registry()
    registry.register(tool)
    bound = bind(RuleSet((rule,)), registry.snapshot())
    assert bound.judge(tool.name, arguments, attended=True).decision is ALLOW
    assert bound.judge(tool.name, arguments, attended=False).decision is None
    same = canonical_digest(arguments) == canonical_digest(others)
    assert (bound.judge(tool.name, others, attended=True).decision is ALLOW) is same


def _judged(rule: Rule, tool: ScriptedTool, subjects: Subjects | None = None) -> Decision | None:
    registry = Registry()
    registry.register(tool)
    arguments = {"a": "x"}
    bound = bind(RuleSet((rule,)), registry.snapshot())
    judged = bound.judge(tool.name, arguments, attended=True, subjects=subjects or Subjects())
    return judged.decision


@pytest.mark.req("B-02")
def test_no_decision_holds_what_an_exact_rule_says() -> None:
    """Its text is a whole call, and records hold no values: they name the tool and the place."""
    tool = ScriptedTool("t")
    registry = Registry()
    registry.register(tool)
    text = 't(a="hunter, his words")'
    sure, unsure = (
        parse_rule(text, ALLOW, destructive=destructive, exact=True, source="answers.yaml:5")
        for destructive in (True, False)
    )
    for rule in (sure, unsure):
        about = bind(RuleSet((rule,)), registry.snapshot()).about("t")
        said = about.judge({"a": "hunter, his words"}, Subjects(), attended=True, now=0.0)
        for opinion in (said, about.whatever(attended=True)):
            reasons = (*opinion.reasons, *opinion.notes)
            assert reasons
            for reason in reasons:
                assert "hunter" not in reason.text
                assert "for exactly this call of t" in reason.text
                assert reason.source == "answers.yaml:5"


@pytest.mark.req("B-06")
def test_a_rule_for_another_definition_says_nothing() -> None:
    """Its pin names the one definition it was given for; it is told as unbound."""
    tool = ScriptedTool("t")
    rule = parse_rule('t(a="x")', ALLOW, destructive=True, pin="0" * 64, exact=True)
    assert _judged(rule, tool) is None
    held = replace(rule, pin=tool.definition.origin.fingerprint.digest)
    assert _judged(held, tool) is ALLOW
    registry = Registry()
    registry.register(tool)
    assert bind(RuleSet((rule,)), registry.snapshot()).unbound == (rule,)


def test_a_path_that_leads_elsewhere_is_another_call() -> None:
    """What was a file when the rule was written, and is a link now, is not what it answers for."""
    tool = ScriptedTool("t")
    pin = tool.definition.origin.fingerprint.digest
    rule = parse_rule('t(a="x")', ALLOW, destructive=True, pin=pin, exact=True)
    for real, problem, decision in (
        ("/w/x", None, ALLOW),
        ("/etc/x", None, None),
        ("/w/x", "it can not be looked up", None),
    ):
        path = ResolvedPath("x", "/w/x", real, None, problem=problem)
        assert _judged(rule, tool, Subjects({"a": path})) is decision
        assert _judged(rule, tool, Subjects({"a": (path,)})) is decision


@pytest.mark.parametrize(
    "text", ["t(a=x*)", "t(a=*)", "t(a=text:x)", 't(a="x", ...)', "t", "mcp__db", 't("a"=path:./x)']
)
def test_an_exact_rule_says_values(text: str) -> None:
    """A pattern, a rest, or no arguments at all would mean more than one call."""
    if text == "t":
        rule = parse_rule(text, ALLOW, exact=True)
        assert rule.parameters == ()
        assert not rule.bare
        return
    with pytest.raises(ConfigError):
        parse_rule(text, ALLOW, exact=True)


@pytest.mark.parametrize("decision", [Decision.DENY, Decision.ASK])
def test_only_an_allow_rule_is_exact(decision: Decision) -> None:
    """One that has to hold would hold for less."""
    with pytest.raises(ConfigError, match="always holds"):
        parse_rule('t(a="x")', decision, exact=True)
