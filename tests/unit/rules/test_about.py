"""Rules of every form against calls: who wins, what an allow rule answers, what closes a door."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lockgate.decision import Decision
from lockgate.errors import ConfigError
from lockgate.rules.opinion import RuleOpinion
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
PLACES = Places("/p", "/home/me")
Say: TypeAlias = Callable[..., RuleOpinion]

FORMS = (
    "Bash", "Bash(*)", "Bash(...)", "Bash(git:*)", "Bash(git status)", "Bash(rm:*)", "Bash(ls:*)",
    'Bash(command="git status && ls")', "Bash(timeout=3)",
    'Bash(command="git status", timeout=*)', 'Bash(command="git status", ...)',
    "Read", "Read(./docs/**)", "Read(**/.env)", "Read(limit=3)", "Read(path=path:./docs/**)",
    "Write", "Write(./docs/**)", "Write(**)", "Write(...)", "Write(path=path:./docs/**, content=*)",
    "WebFetch", "WebFetch(domain:example.com)", "WebFetch(https://example.com/docs/**)",
    "WebFetch(url=domain:example.com)",
    "mcp__s", "mcp__s__*", "mcp__s__put", "mcp__s__put(...)", "mcp__s__put(key=a)",
    "mcp__s__put(key=a*, value=1)", "mcp__s__put(key=a, ...)", "mcp__s__put(path=path:./docs/**)",
    "mcp__s__put(nothing=1)", "mcp__s__add", "mcp__s__add(key=a)", "mcp__s__add(value=[1, 2])",
    "mcp__s__add(value=1)", "mcp__s__add(path=domain:example.com)",
)  # fmt: skip
VALUES: tuple[Any, ...] = ("a", "ab", "b", 1, True, None, [], [1, 2], ["a", "b"], {"x": "a"})
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(
        ("Bash", {"command": line})
        for line in (
            "git status", "git status && ls", "git status; rm x", "ls > out", "$X", "rm -rf x",
            "git push", "echo $(rm x)", "(", "",
        )
    ),
    ("Bash", {"command": "git status", "timeout": 3}),
    *(
        (tool, {"path": path})
        for tool in ("Read", "Write")
        for path in ("docs/a.md", "docs/../x", "docs/.env", "/etc/passwd", "~/notes")
    ),
    ("Read", {"path": "docs/a.md", "limit": 3}),
    ("Write", {"path": "docs/a.md", "content": "x"}),
    *(
        ("WebFetch", {"url": url})
        for url in ("https://example.com/docs/a", "https://example.com.evil.org/", "nonsense")
    ),
    *(
        (f"mcp__s__{tool}", arguments)
        for tool in ("put", "add")
        for arguments in (
            {},
            *({"key": value} for value in VALUES),
            *({"key": "a", "value": value} for value in VALUES),
            {"path": "docs/a.md"}, {"path": ["docs/a.md", "x"]}, {"path": {"x": "docs/a.md"}},
            {"path": "https://example.com/"}, {"key": "a", "path": "docs/a.md"},
        )
    ),
)  # fmt: skip
UNTIL = 1_000.0


def written(text: str) -> Iterator[Rule]:
    """Every rule that can be written with this text."""
    for decision in (ASK, DENY):
        yield parse_rule(text, decision, places=PLACES)
    terms: tuple[tuple[Any, ...], ...] = (
        ("attended", "unattended", "any"), (None, UNTIL), (True, False), (None, "0" * 64),
    )  # fmt: skip
    for when, until, destructive, pin in itertools.product(*terms):
        said: Any = {"when": when, "until": until, "destructive": destructive, "pin": pin}
        try:
            yield parse_rule(text, ALLOW, places=PLACES, **said)
        except ConfigError:
            continue


ALL = tuple(rule for text in FORMS for rule in written(text))
RULES = st.sampled_from(Decision).flatmap(
    lambda word: st.sampled_from([rule for rule in ALL if rule.decision is word])
)
ALLOWING = st.sampled_from([rule for rule in ALL if rule.decision is ALLOW])
STRICT = st.sampled_from([rule for rule in ALL if rule.decision is not ALLOW])
DESTRUCTIVE = ("Bash", "Write", "mcp__s__put")
LISTS = st.lists(RULES, max_size=7)
TIMES = st.sampled_from((UNTIL - 1, UNTIL))


def laxity(opinion: RuleOpinion) -> int:
    """0 refused, 1 asked about by a rule, 2 left open, 3 answered."""
    return {DENY: 0, ASK: 1, None: 2, ALLOW: 3}[opinion.decision]


@given(LISTS, st.sampled_from(CALLS), st.booleans(), TIMES)
def test_the_strictest_wins(
    say: Say, rules: list[Rule], call: tuple[str, dict[str, Any]], attended: bool, now: float
) -> None:
    """Refused is what any rule alone refuses; asked about, what any alone asks about and none
    refuses; and only what no rule alone refuses or asks about is answered."""
    name, arguments = call
    together = say(rules, name, arguments, attended=attended, now=now).decision
    alone = [say([rule], name, arguments, attended=attended, now=now).decision for rule in rules]
    assert (together is DENY) is (DENY in alone)
    if ASK in alone and DENY not in alone:
        assert together is ASK
    if together is ALLOW:
        assert not {ASK, DENY} & set(alone)


@given(LISTS, st.data(), st.sampled_from(CALLS), st.booleans(), TIMES)
def test_the_order_of_rules_is_irrelevant(
    say: Say,
    rules: list[Rule],
    data: st.DataObject,
    call: tuple[str, dict[str, Any]],
    attended: bool,
    now: float,
) -> None:
    """The same decision, for the same reasons."""
    name, arguments = call
    shuffled = data.draw(st.permutations(rules))
    one = say(rules, name, arguments, attended=attended, now=now)
    two = say(shuffled, name, arguments, attended=attended, now=now)
    assert one.decision is two.decision
    if one.decision is not ALLOW:  # any rule that allows a command of a line will do
        assert set(one.reasons) == set(two.reasons)


@given(LISTS, STRICT, st.sampled_from(CALLS), st.booleans(), TIMES)
def test_a_further_strict_rule_never_allows_more(
    say: Say,
    rules: list[Rule],
    more: Rule,
    call: tuple[str, dict[str, Any]],
    attended: bool,
    now: float,
) -> None:
    """Of any form, whether it fits the tool or not."""
    name, arguments = call
    before = say(rules, name, arguments, attended=attended, now=now)
    after = say([*rules, more], name, arguments, attended=attended, now=now)
    assert laxity(after) <= laxity(before)


@given(LISTS, ALLOWING, st.sampled_from(CALLS), st.booleans(), TIMES)
def test_a_rule_less_among_the_allowing_never_allows_more(
    say: Say,
    rules: list[Rule],
    more: Rule,
    call: tuple[str, dict[str, Any]],
    attended: bool,
    now: float,
) -> None:
    """What is taken away from the list of allow rules was only ever a yes."""
    name, arguments = call
    before = say([*rules, more], name, arguments, attended=attended, now=now)
    after = say(rules, name, arguments, attended=attended, now=now)
    assert laxity(after) <= laxity(before)


@pytest.mark.req("S0-08")
@given(
    ALLOWING,
    st.sampled_from([call for call in CALLS if call[0] in DESTRUCTIVE]),
    st.booleans(),
    TIMES,
)
def test_an_allow_rule_answers_for_a_destructive_call_only_if_it_says_all_of_it(
    say: Say, rule: Rule, call: tuple[str, dict[str, Any]], attended: bool, now: float
) -> None:
    """One tool, `destructive: true`, and every argument that is present, or `...`; a subject of a
    tool of ours speaks of the whole call."""
    name, arguments = call
    if say([rule], name, arguments, attended=attended, now=now).decision is not ALLOW:
        return
    assert rule.destructive
    assert rule.tool is not None
    named = {p.name for p in rule.parameters if p.pattern.constrains}
    speaks_of_all = rule.subject is not None and rule.subject.constrains
    assert rule.rest or speaks_of_all or named >= set(arguments)


@given(ALLOWING, st.sampled_from(CALLS), st.booleans(), TIMES)
def test_an_allow_rule_that_does_not_hold_says_nothing(
    say: Say, rule: Rule, call: tuple[str, dict[str, Any]], attended: bool, now: float
) -> None:
    """After its end, under another definition, in runs that it does not name."""
    name, arguments = call
    ended = rule.until is not None and now >= rule.until
    elsewhere = rule.when not in ("any", "attended" if attended else "unattended")
    if ended or elsewhere or rule.pin is not None:
        opinion = say([rule], name, arguments, attended=attended, now=now)
        assert opinion.decision is not ALLOW
        assert rule not in opinion.rules


def read(text: str, decision: Decision, **terms: Any) -> Rule:
    """A rule."""
    return parse_rule(text, decision, places=PLACES, source="rules:1", **terms)


UNHEARD = "\u0416"
"""A letter that no text below has: nothing that is written means what has it, except by a star."""
UNHEARD_OF: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Bash", {"command": UNHEARD}),
    ("Bash", {"command": f"git {UNHEARD}; git x"}),
    ("Read", {"path": f"/{UNHEARD}/x"}),
    ("Write", {"path": f"/{UNHEARD}/x", "content": "x"}),
    ("WebFetch", {"url": f"https://{UNHEARD}.org/"}),
    ("mcp__s__put", {"key": UNHEARD}),
    ("mcp__s__put", {"key": "a", "value": UNHEARD}),
    ("mcp__s__add", {"key": UNHEARD, "value": 1, "path": f"/{UNHEARD}"}),
)


@given(
    st.sampled_from(("Bash", "Read", "Write", "WebFetch", "mcp__s__put", "mcp__s__add", "mcp__s")),
    st.text("abgit=,\"'\\()[]{}:;&/~ .1-_#", max_size=16)
    | st.builds(
        "{}={}{}".format,
        st.sampled_from(("key", "value", "path", "command", "url", "limit")),
        st.sampled_from(("", "path:", "url:", "domain:", "text:")),
        st.text('ab,"[]{}:/~.1', max_size=8),
    ),
    st.sampled_from(UNHEARD_OF),
)
def test_nothing_that_is_written_allows_what_is_not(
    say: Say, tool: str, inside: str, call: tuple[str, dict[str, Any]]
) -> None:
    """Whatever stands in the brackets is an error, or means no more than it says; nothing that
    can not be read allows anything. (Roots alone, `...` and a star mean more by saying so.)"""
    name, arguments = call
    text = f"{tool}({inside})"
    assume("..." not in inside and inside.strip('/."\\ '))
    assume(not any(said in text for said in ("(/)", "path:/)", "path:/,", "(//")))
    try:
        rule = read(text, ALLOW, destructive=tool != "mcp__s")
    except ConfigError:
        return
    if name == "mcp__s__add" and rule.tool == "add":
        # It can not destroy: arguments that a rule does not name are free.
        arguments = {p.name: arguments.get(p.name, UNHEARD) for p in rule.parameters}
    assert say([rule], name, arguments).decision is not ALLOW


@given(st.sampled_from(FORMS), st.data(), st.sampled_from(CALLS))
def test_a_slip_in_a_strict_rule_is_an_error_or_holds_for_what_it_names(
    say: Say, text: str, data: st.DataObject, call: tuple[str, dict[str, Any]]
) -> None:
    """One character more, less or another never makes it an allow, nor lets a call pass that was
    asked about or refused without it."""
    at = data.draw(st.integers(0, len(text)))
    slip = data.draw(st.sampled_from(("", "a", "(", ")", ",", "=", '"', " ", "*", "/", ":", "_")))
    keep = data.draw(st.booleans())
    changed = text[:at] + slip + text[at + (0 if keep else 1) :]
    name, arguments = call
    try:
        rule = read(changed, DENY)
    except ConfigError:
        return
    assert say([rule], name, arguments).decision is not ALLOW
    before = say([read("mcp__s__add", ALLOW)], name, arguments)
    assert laxity(say([rule, read("mcp__s__add", ALLOW)], name, arguments)) <= laxity(before)
