"""Rules of every form against calls: who wins, what an allow rule answers, what closes a door."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lockgate.decision import Decision
from lockgate.errors import ConfigError
from lockgate.rules.bind import bind
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.opinion import RuleOpinion
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule, RuleSet
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.registry import Registry, Snapshot
from lockgate.tools.subject import NO_SUBJECTS, Subject, SubjectKind, Subjects

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


@pytest.mark.parametrize(
    ("now", "expected"), [(UNTIL - 0.001, ALLOW), (UNTIL, None), (UNTIL + 1, None)]
)
@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("mcp__s__add", "mcp__s__add", {}),
        ("mcp__s__add(key=a)", "mcp__s__add", {"key": "a"}),
        ("Bash(git:*)", "Bash", {"command": "git status"}),
    ],
)
def test_a_rule_with_an_end_answers_before_it(
    say: Say, text: str, name: str, arguments: Any, now: float, expected: Decision | None
) -> None:
    """At the very moment it no longer does."""
    rule = read(text, ALLOW, until=UNTIL, destructive=name == "Bash")
    assert say([rule], name, arguments, now=now).decision is expected


def test_a_pinned_rule_answers_for_its_definition(world: Snapshot, say: Say) -> None:
    """Under another one it is unbound and says nothing."""
    tool = world.get("mcp__s__add")
    assert tool is not None
    digest = tool.definition.origin.fingerprint.digest
    rule = read("mcp__s__add(key=a)", ALLOW, pin=digest)
    assert say([rule], "mcp__s__add", {"key": "a"}).decision is ALLOW
    other = replace(rule, pin="0" * 64)
    assert say([other], "mcp__s__add", {"key": "a"}).decision is None
    assert bind(RuleSet((other,)), world).unbound == (other,)
    assert bind(RuleSet((rule,)), world).unbound == ()


@pytest.mark.parametrize("decision", list(Decision))
@pytest.mark.parametrize("text", ["mcp__s__add(nothing=1)", "mcp__s__add(key=a, nothing=1)"])
def test_an_argument_that_the_tool_has_not_unbinds_a_rule(
    world: Snapshot, say: Say, decision: Decision, text: str
) -> None:
    """A deny or ask holds by name, an allow says nothing, and both are told (PB-177)."""
    rule = read(text, decision)
    expected = None if decision is ALLOW else decision
    assert say([rule], "mcp__s__add", {"value": 7}).decision is expected
    assert bind(RuleSet((rule,)), world).unbound == (rule,)


@pytest.mark.parametrize("decision", list(Decision))
def test_a_subject_of_another_kind_unbinds_a_rule(
    world: Snapshot, say: Say, decision: Decision
) -> None:
    """A tool that goes by the name of one of ours and is about something else."""
    rule = replace(read("Read(./x)", decision), tool="WebFetch")
    expected = None if decision is ALLOW else decision
    assert say([rule], "WebFetch", {"url": "https://a.org/"}).decision is expected
    assert bind(RuleSet((rule,)), world).unbound == (rule,)


def test_reasons_say_why_the_rule_is_there(say: Say) -> None:
    """Of a line as of anything else, with the whole rule and its place."""
    line = read("Bash(rm:*)", DENY, reason="use the bin")
    path = read("Read(**/.env)", DENY, reason="secrets")
    one = say([line], "Bash", {"command": "rm x"})
    two = say([path], "Read", {"path": "a/.env"})
    assert str(one.reasons[0]) == "the deny rule Bash(rm:*) matches: use the bin (rules:1)"
    assert str(two.reasons[0]) == "the deny rule Read(**/.env) matches: secrets (rules:1)"
    assert (one.rules, two.rules) == ((line,), (path,))


def test_rules_behind_a_line_are_its_own(say: Say) -> None:
    """Also where no rule has a place, and a doubt has none either."""
    rules = [
        replace(read(text, decision, destructive=decision is ALLOW), source=None)
        for text, decision in (("Bash(ls:*)", ALLOW), ("Bash(rm:*)", DENY), ("Bash(git:*)", ASK))
    ]
    rules = [replace(r, subject=replace(r.subject, source=None)) for r in rules]  # pyright: ignore[reportArgumentType, reportCallIssue] - each has a command for a subject
    assert say(rules, "Bash", {"command": "ls > x"}).rules == ()
    assert say(rules, "Bash", {"command": "ls > x"}).decision is ASK
    assert say(rules, "Bash", {"command": "git status"}).rules == (rules[2],)


def test_an_exact_line_does_not_answer_over_a_doubt(say: Say) -> None:
    """What a line does has to be known, also of one that is written out."""
    rule = read('Bash(command="ls > out")', ALLOW, destructive=True)
    assert say([rule], "Bash", {"command": "ls > out"}).decision is ASK
    plain = read('Bash(command="ls && pwd")', ALLOW, destructive=True)
    assert say([plain], "Bash", {"command": "ls && pwd"}).decision is ALLOW
    assert say([plain], "Bash", {"command": "ls && pwd", "timeout": 3}).decision is None


def test_a_subject_that_nobody_resolved_closes_the_door(world: Snapshot) -> None:
    """It is there, and nothing is known of it: what has to hold holds, and nothing is allowed."""
    for text, name, arguments in (
        ("Read(./x)", "Read", {"path": "y"}),
        ("WebFetch(domain:a.org)", "WebFetch", {"url": "https://b.org/"}),
        ("Bash(rm:*)", "Bash", {"command": "ls"}),
        ("mcp__s__add(path=path:./x)", "mcp__s__add", {"path": "y"}),
    ):
        for decision, expected in ((DENY, DENY), (ALLOW, None)):
            rule = read(text, decision, destructive=decision is ALLOW and name == "Bash")
            bound = bind(RuleSet((rule,)), world)
            told = bound.judge(name, arguments, attended=True, subjects=NO_SUBJECTS)
            assert told.decision is expected


@dataclass(frozen=True)
class Broken:
    """A pattern that fails whenever it is asked."""

    text: str = "x"
    kind: SubjectKind = SubjectKind.PATH
    constrains: bool = True

    def allows(self, *_: object) -> bool:
        """Fails."""
        raise RuntimeError("broken")

    def catches(self, *_: object) -> Any:
        """Fails."""
        raise RuntimeError("broken")


class Unsteady(CommandPattern):
    """One that can not even tell whether it constrains anything."""

    __slots__ = ()

    @property
    def constrains(self) -> bool:
        """Fails."""
        raise RuntimeError("broken")


@pytest.mark.parametrize("decision", list(Decision))
def test_a_rule_that_fails_on_a_call_is_a_deny(say: Say, decision: Decision) -> None:
    """Whatever it was to say, and whatever others say."""
    broken = replace(read("Read(./x)", decision), subject=Broken())
    opinion = say([broken, read("Read", ALLOW)], "Read", {"path": "y"})
    assert opinion.decision is DENY
    assert opinion.reasons[0].code == "rule_failed"


def test_a_rule_that_fails_while_it_is_bound_is_a_deny(say: Say) -> None:
    """Here it is asked whether it leaves anything open."""
    rule = read("Bash(git:*)", ALLOW, destructive=True)
    pattern = Unsteady("git:*", ("git",), more=True)
    opinion = say([replace(rule, subject=pattern)], "Bash", {"command": "git"})
    assert opinion.decision is DENY


def test_without_arguments_rules_about_them_are_told(world: Snapshot) -> None:
    """Each with what it depends on; those of other runs are not."""
    rules = (
        read("Bash(git:*)", ALLOW, destructive=True),
        read('Bash(command="x")', ALLOW, destructive=True, when="unattended"),
        read("Bash(...)", ALLOW, destructive=True, until=UNTIL),
        read("Bash(rm:*)", DENY),
    )
    told = bind(RuleSet(rules), world).about("Bash").whatever(attended=True)
    assert told.decision is None
    assert [note.text for note in told.notes] == [
        "the rule Bash(git:*) depends on the call",
        "the rule Bash(rm:*) depends on the call",
        "the rule Bash(...) depends on the time",
    ]


@pytest.mark.parametrize("decision", [ASK, DENY])
def test_a_strict_rule_about_reading_counts_as_bound_where_it_holds(decision: Decision) -> None:
    """`Read(...)` also holds for tools that search, whether or not there is one called Read."""
    registry = Registry()
    subjects = (Subject(SubjectKind.PATH, "path", default="."),)
    registry.register_all([ScriptedTool("Grep", subjects=subjects)])
    snapshot = registry.snapshot()
    bound = bind(RuleSet((read("Read(**/.env)", decision),)), snapshot)
    assert bound.unbound == ()
    assert len(bound.about("Grep").withheld) == 1


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


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("mcp__s__add", "mcp__s__add", {"key": "b"}),
        ("mcp__s__add(key=a)", "mcp__s__add", {"key": "a"}),
        ("Read(./docs/**)", "Read", {"path": "docs/a"}),
        ("Bash(git:*)", "Bash", {"command": "ls; git status"}),
    ],
)
def test_an_allow_rule_that_sleeps_is_told_for_reading(
    world: Snapshot,
    subjects_of: Callable[..., Subjects],
    text: str,
    name: str,
    arguments: dict[str, Any],
) -> None:
    """It would mean the call, and has ended or answers elsewhere; whatever else is not told."""
    destructive = name == "Bash"
    rules = [
        read(text, ALLOW, destructive=destructive, until=UNTIL),
        read(text, ALLOW, destructive=destructive, when="unattended"),
        read(text, ALLOW, destructive=destructive),
        read("mcp__s__add(key=other)", ALLOW, until=UNTIL),
        read("Bash(nothing:*)", ALLOW, destructive=True, until=UNTIL),
    ]
    bound = bind(RuleSet(tuple(rules)), world)
    subjects = subjects_of(bound, name, arguments)
    told = bound.about(name).dormant(arguments, subjects, attended=True, now=UNTIL)
    assert [reason.text for reason in told] == [
        f"the allow rule {text} has ended",
        f"the allow rule {text} answers in unattended runs alone",
    ]


def test_a_rule_that_holds_by_name_says_so(say: Say) -> None:
    """Its author has to learn why it refuses so much."""
    rule = read("mcp__s__add(nothing=1)", DENY, reason="mine")
    told = say([rule], "mcp__s__add", {}).reasons[0].text
    assert told.endswith("matches: mine; the tool has not what the rule speaks of, so it holds for"
                         " every call")  # fmt: skip
