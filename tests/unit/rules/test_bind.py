"""Rules bound to a snapshot: who is meant, who wins, and what an unbound rule still does."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Iterable
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.builtin.catalogue import in_tree
from lockgate.decision import Decision
from lockgate.rules.bind import BoundRules, bind
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule, RuleSet
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.naming import server_tool_name
from lockgate.tools.registry import Registry, Snapshot
from lockgate.tools.subject import ResolvedPath, Subjects
from lockgate.tools.tool import ToolDefinition

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
PLACES = Places("/place", None)
When = Literal["attended", "unattended", "any"]
additive = functools.partial(ScriptedTool, destructive=False)


def snapshot(*tools: ScriptedTool) -> Snapshot:
    """These tools, registered."""
    registry = Registry()
    registry.register_all(tools)
    return registry.snapshot()


def some_tools() -> Snapshot:
    """Two of ours, two servers' with plain names, one with a name that had to be altered."""
    return snapshot(
        additive("Read"),
        additive("git_log"),
        additive("git_log", server="git"),
        additive("git_reset", server="git"),
        additive("git_log", server="other"),
        additive("admin.tools.list", server="other"),
    )


def rules(**texts: Iterable[str]) -> RuleSet:
    """Rules by the name of their list."""
    return RuleSet(
        tuple(
            parse_rule(text, Decision[word.upper()], source=f"{word}[{index}]", places=PLACES)
            for word, listed in texts.items()
            for index, text in enumerate(listed)
        )
    )


def decision(bound: BoundRules, name: str, *, attended: bool = True) -> Decision | None:
    """What the rules say of a tool."""
    return bound.judge(name, {}, attended=attended).decision


ALTERED = server_tool_name("other", "admin.tools.list")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Read", {"Read"}),
        ("git_log", {"git_log"}),
        ("mcp__git__git_log", {"mcp__git__git_log"}),
        ("mcp__git", {"mcp__git__git_log", "mcp__git__git_reset"}),
        ("mcp__git__*", {"mcp__git__git_log", "mcp__git__git_reset"}),
        ("mcp__other__admin.tools.list", {ALTERED}),
        (ALTERED, {ALTERED}),
        ("mcp__git__nothing", set[str]()),
        ("mcp__nobody", set[str]()),
        ("read", set[str]()),
    ],
)
@pytest.mark.parametrize("word", ["allow", "ask", "deny"])
def test_a_rule_means_exactly_these_tools(word: str, text: str, meant: set[str]) -> None:
    """By registered or original name, to the letter, and never another server's."""
    tools = some_tools()
    assert ALTERED in tools
    bound = bind(rules(**{word: [text]}), tools)
    matched = {tool.name for tool in tools.tools if decision(bound, tool.name) is not None}
    assert matched == meant
    assert len(bound.unbound) == (0 if meant else 1)


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ({}, None),
        ({"allow": ["Read"]}, ALLOW),
        ({"allow": ["Read"], "ask": ["Read"]}, ASK),
        ({"allow": ["Read"], "ask": ["Read"], "deny": ["Read"]}, DENY),
        ({"deny": ["Read"], "allow": ["Read"]}, DENY),
    ],
)
def test_the_strictest_wins_wherever_it_is_written(
    listed: dict[str, list[str]], expected: Decision | None
) -> None:
    """deny > ask > allow > nothing."""
    assert decision(bind(rules(**listed), some_tools()), "Read") is expected


def test_the_opinion_names_every_rule_that_is_as_strict() -> None:
    """With its text and where it stands; milder ones are not told."""
    bound = bind(
        rules(allow=["mcp__git"], deny=["mcp__git__git_reset", "mcp__git__*"]), some_tools()
    )
    opinion = bound.judge("mcp__git__git_reset", {}, attended=True)
    assert opinion.decision is DENY
    assert [str(reason) for reason in opinion.reasons] == [
        "the deny rule mcp__git__git_reset matches (deny[0])",
        "the deny rule mcp__git__* matches (deny[1])",
    ]
    assert [reason.code for reason in opinion.reasons] == ["deny_rule", "deny_rule"]
    assert [rule.text for rule in opinion.rules] == ["mcp__git__git_reset", "mcp__git__*"]


@pytest.mark.parametrize("name", ["mcp__git__gone", "mcp__git__admin.list", "Vanished"])
def test_an_unbound_deny_still_holds_by_name(name: str) -> None:
    """The tool may come back, or come from elsewhere; the door stays shut meanwhile."""
    bound = bind(rules(deny=[name, "mcp__gone"]), some_tools())
    assert decision(bound, name) is DENY
    assert decision(bound, "mcp__gone__anything") is DENY
    assert decision(bound, "mcp__gone") is None
    assert [rule.text for rule in bound.unbound] == [name, "mcp__gone"]


@pytest.mark.parametrize("word", ["allow", "ask"])
def test_an_unbound_allow_or_ask_says_nothing(word: str) -> None:
    """A name nobody holds is allowed nothing."""
    bound = bind(rules(**{word: ["Vanished", "mcp__gone"]}), some_tools())
    assert decision(bound, "Vanished") is None
    assert decision(bound, "mcp__gone__x") is None
    assert len(bound.unbound) == 2


@pytest.mark.req("S0-09")
@pytest.mark.parametrize(
    ("when", "attended", "unattended"),
    [("attended", ALLOW, None), ("unattended", None, ALLOW), ("any", ALLOW, ALLOW)],
)
def test_an_allow_rule_answers_for_the_executions_it_names(
    when: When, attended: Decision | None, unattended: Decision | None
) -> None:
    """Where nobody is there to answer, only a rule that says so does."""
    bound = bind(RuleSet((parse_rule("Read", ALLOW, when=when),)), some_tools())
    assert decision(bound, "Read", attended=True) is attended
    assert decision(bound, "Read", attended=False) is unattended
    assert bound.unbound == ()


@pytest.mark.parametrize("word", ["ask", "deny"])
def test_ask_and_deny_hold_whoever_is_there(word: str) -> None:
    """They have no `when`."""
    bound = bind(rules(**{word: ["Read"]}), some_tools())
    assert decision(bound, "Read", attended=True) is Decision[word.upper()]
    assert decision(bound, "Read", attended=False) is Decision[word.upper()]


class BrokenName(str):
    """A server's name that fails when it is compared."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __ne__(self, other: object) -> bool:
        raise RuntimeError("can not be compared")


class Fragile(ScriptedTool):
    """A tool that a rule fails on."""

    @property
    def definition(self) -> ToolDefinition:
        made = super().definition
        origin = dataclasses.replace(made.origin, server=BrokenName("git"))
        return dataclasses.replace(made, origin=origin)


@pytest.mark.parametrize("word", ["allow", "ask", "deny"])
def test_a_rule_that_fails_is_a_deny(word: str) -> None:
    """Whatever it was to say: the door is shut, and the reason names the rule."""
    tools = snapshot(Fragile("x", server="git"), additive("y", server="git"))
    bound = bind(rules(**{word: ["mcp__git__x"]}), tools)
    opinion = bound.judge("mcp__git__x", {}, attended=True)
    assert opinion.decision is DENY
    assert opinion.reasons[0].code == "rule_failed"
    assert decision(bound, "mcp__git__y") is None


def test_binding_again_costs_nothing() -> None:
    """The bound rules are kept with the snapshot, and die with it."""
    tools = some_tools()
    listed = rules(deny=["Read"])
    assert bind(listed, tools) is bind(listed, tools)
    assert bind(rules(deny=["Read"]), tools) is not bind(listed, tools)


NAMES = ("Read", "git_log", "mcp__git__git_log", "mcp__git__git_reset", "mcp__other__git_log")
TEXTS = (*NAMES, "mcp__git", "mcp__other__*", "mcp__nobody", "Nothing")


def made(text: str, decision: Decision, when: When) -> Rule:
    """A rule; only an allow has a `when`."""
    return parse_rule(text, decision, when=when if decision is ALLOW else None)


WHEN: tuple[When, ...] = ("attended", "unattended", "any")
RULES = st.builds(made, st.sampled_from(TEXTS), st.sampled_from(Decision), st.sampled_from(WHEN))
TOOLS = some_tools()


def strictness(found: Decision | None) -> int:
    """For comparing: saying nothing leaves the question open, which is stricter than an allow."""
    return {None: 1, ALLOW: 0, ASK: 2, DENY: 3}[found]


@given(st.lists(RULES, max_size=8), st.sampled_from(NAMES), st.booleans(), st.sampled_from(TEXTS))
def test_a_further_deny_never_allows_more(
    listed: list[Rule], name: str, attended: bool, text: str
) -> None:
    """For any rules, any tool, any execution."""
    before = bind(RuleSet(tuple(listed)), TOOLS).judge(name, {}, attended=attended).decision
    deny = parse_rule(text, DENY)
    after = bind(RuleSet((*listed, deny)), TOOLS).judge(name, {}, attended=attended).decision
    assert strictness(after) >= strictness(before)


@given(st.lists(RULES, min_size=1, max_size=8), st.data())
def test_the_order_of_rules_is_irrelevant(listed: list[Rule], data: st.DataObject) -> None:
    """Whatever stands first has no more weight."""
    shuffled = data.draw(st.permutations(listed))
    one, two = bind(RuleSet(tuple(listed)), TOOLS), bind(RuleSet(tuple(shuffled)), TOOLS)
    for name in NAMES:
        for attended in (True, False):
            assert (
                one.judge(name, {}, attended=attended).decision
                is two.judge(name, {}, attended=attended).decision
            )


@given(st.lists(RULES, max_size=8), st.integers(0, 7), st.sampled_from(NAMES))
def test_raising_a_rule_never_allows_more(listed: list[Rule], at: int, name: str) -> None:
    """An allow turned into an ask, or an ask into a deny, is at least as strict."""
    if not listed:
        return
    rule = listed[at % len(listed)]
    raised = Rule(Decision(min(rule.decision + 1, DENY)), rule.text, rule.server, rule.tool)
    changed = [raised if other is rule else other for other in listed]
    before = bind(RuleSet(tuple(listed)), TOOLS).judge(name, {}, attended=True).decision
    after = bind(RuleSet(tuple(changed)), TOOLS).judge(name, {}, attended=True).decision
    assert strictness(after) >= strictness(before)


def test_judging_costs_the_same_with_one_rule_and_with_two_hundred() -> None:
    """One look-up; well under the fifteen microseconds that a whole decision may take."""
    tools = snapshot(*(additive(f"tool_{n}", server="git") for n in range(1_000)))
    few = bind(rules(ask=["mcp__git__tool_7"]), tools)
    many = bind(rules(ask=[f"mcp__git__tool_{n}" for n in range(200)]), tools)
    assert _cost(few) < 5e-6
    assert _cost(many) < 5e-6


def _cost(bound: BoundRules) -> float:
    best = 1.0
    for _ in range(20):
        begin = time.perf_counter()
        for _ in range(500):
            bound.judge("mcp__git__tool_7", {}, attended=True)
        best = min(best, (time.perf_counter() - begin) / 500)
    return best


def test_binding_many_rules_to_many_tools_is_quick() -> None:
    """It happens at a turn's edge: two hundred rules, two thousand tools."""
    tools = snapshot(*(additive(f"tool_{n}", server="git") for n in range(2_000)))
    listed = rules(deny=[f"mcp__git__tool_{n}" for n in range(199)], ask=["mcp__git"])
    begin = time.perf_counter()
    bind(listed, tools)
    assert time.perf_counter() - begin < 1


@pytest.mark.parametrize("word", ["ask", "deny"])
@pytest.mark.parametrize("text", ["Read", "Read(**)", "Read(path=path:**)"])
def test_who_may_not_read_may_not_search_or_edit(word: str, text: str) -> None:
    """A strict rule about Read, in whatever form, holds for what shows or needs what is in a file;
    writing anew is another matter, and an allow gives nothing away."""
    registry = Registry()
    registry.register_all(in_tree(("Read", "Grep", "Glob", "Edit", "Write"), {}))
    tools = registry.snapshot()
    path = ResolvedPath("a", "/place/a", "/place/a", "/place")

    def said(name: str, listed: RuleSet) -> Decision | None:
        subjects = Subjects({"path": path})
        return (
            bind(listed, tools)
            .judge(name, {"path": "a"}, attended=True, subjects=subjects)
            .decision
        )

    strict = rules(**{word: [text]})
    assert {said(name, strict) for name in ("Read", "Grep", "Glob", "Edit")} == {
        Decision[word.upper()]
    }
    assert said("Write", strict) is None
    assert said("Grep", rules(allow=["Read"])) is None
