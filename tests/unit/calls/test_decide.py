"""`decide`: the order of the road, and that nothing ever makes it laxer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lockgate.calls.call import Call
from lockgate.calls.decide import Ask, Facts, Given, Run, Verdict, decide
from lockgate.calls.refusals import Refuse
from lockgate.calls.unknowns import OpenUnknown
from lockgate.decision import Decision
from lockgate.policy.approval import Answer, Scope
from lockgate.policy.ceiling import narrow, shown, whole
from lockgate.policy.grants import Grant, concerns_of
from lockgate.rules.bind import bind
from lockgate.rules.rule import Rule, RuleSet
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Bounds, Environment, Execution
from lockgate.tools.registry import Registry, Snapshot
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel

READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def a_snapshot() -> Snapshot:
    """One tool of each kind, and a remote one."""
    registry = Registry()
    registry.register_all(
        (
            ScriptedTool("read", level=READ, input_schema=SCHEMA),
            ScriptedTool("add", destructive=False, input_schema=SCHEMA),
            ScriptedTool("remove", input_schema=SCHEMA),
            ScriptedTool("write", server="x", input_schema=SCHEMA),
        )
    )
    return registry.snapshot()


SNAPSHOT = a_snapshot()
NAMES = tuple(SNAPSHOT.entries)


def a_call(name: str, bounds: Bounds | None = None, n: Any = 1, *, attended: bool = True) -> Call:
    """A call with arguments that fit, unless `n` says otherwise."""
    environment = Environment(Path("/"))
    execution = Execution("e", "test", bounds or whole(MUTATE), attended, environment, "s")
    return Call("c", name, {"n": n}, execution)


def a_rule(decision: Decision, tool: str | None, when: Any = "any") -> Rule:
    """A rule for a local tool, or for every tool of server x."""
    server = None if tool in {"read", "add", "remove"} else "x"
    return Rule(decision, f"{tool}", server, tool, when)


def some_facts(*rules: Rule, **changes: Any) -> Facts:
    """The default settings, with a person there, changed as told."""
    facts = Facts(bind(RuleSet(rules), SNAPSHOT), READ, ("terminal",))
    return replace(facts, **changes)


def laxity(verdict: Verdict) -> int:
    """0 refused, 1 asked about, 2 run."""
    return 0 if isinstance(verdict, Refuse) else 1 if isinstance(verdict, Ask) else 2


RULES = st.builds(
    a_rule,
    st.sampled_from(Decision),
    st.sampled_from(["read", "add", "remove", "write", None]),
    st.just("any"),
)
RULE_LISTS = st.lists(RULES, max_size=4)
BOUNDS = st.builds(
    whole,
    st.sampled_from(SideEffectLevel),
    st.none() | st.frozensets(st.sampled_from(NAMES)),
)
EXEMPTIONS = st.none() | st.sampled_from(SideEffectLevel)
CALLS = st.builds(a_call, st.sampled_from([*NAMES, "nothing"]), BOUNDS, st.sampled_from([1, "one"]))


@pytest.mark.req("B-01")
@given(CALLS, RULE_LISTS, EXEMPTIONS)
def test_nobody_is_asked_about_what_would_be_refused(
    call: Call, rules: list[Rule], exempt: SideEffectLevel | None
) -> None:
    """A question is only asked if a yes to it makes the call run."""
    facts = some_facts(*rules, exempt=exempt)
    verdict = decide(call, SNAPSHOT, facts)
    if isinstance(verdict, Ask):
        yes = given_for(verdict, Answer(True, "terminal"))
        assert isinstance(decide(call, SNAPSHOT, replace(facts, given=yes)), Run)


def given_for(ask: Ask, answer: Answer) -> Given:
    """`answer` to the question of `ask`."""
    question = ask.question
    fingerprint = question.origin.fingerprint.digest
    return Given(answer, question.digest, fingerprint, concerns_of(question.reasons))


@given(CALLS, RULE_LISTS, EXEMPTIONS, st.sampled_from(["read", "add", "remove", "write", None]))
def test_a_deny_never_allows_more(
    call: Call, rules: list[Rule], exempt: SideEffectLevel | None, tool: str | None
) -> None:
    """Adding a deny rule, anywhere, never makes any call freer; it holds for what it names."""
    before = decide(call, SNAPSHOT, some_facts(*rules, exempt=exempt))
    deny = a_rule(Decision.DENY, tool)
    after = decide(call, SNAPSHOT, some_facts(*rules, deny, exempt=exempt))
    assert laxity(after) <= laxity(before)
    remote = deny.server == "x" and call.name.endswith("__write")
    if call.name == deny.text or remote:
        assert isinstance(after, Refuse)


@given(CALLS, RULE_LISTS, EXEMPTIONS, st.sampled_from(["read", "add", "remove", "write", None]))
def test_an_ask_never_allows_more(
    call: Call, rules: list[Rule], exempt: SideEffectLevel | None, tool: str | None
) -> None:
    """Adding an ask rule never makes any call freer, and voids allow rules for it."""
    before = decide(call, SNAPSHOT, some_facts(*rules, exempt=exempt))
    after = decide(call, SNAPSHOT, some_facts(*rules, a_rule(Decision.ASK, tool), exempt=exempt))
    assert laxity(after) <= laxity(before)


@pytest.mark.req("B-04")
@given(CALLS, RULE_LISTS, EXEMPTIONS, BOUNDS)
def test_narrowing_never_allows_or_shows_more(
    call: Call, rules: list[Rule], exempt: SideEffectLevel | None, wish: Bounds
) -> None:
    """A child's bounds show a part of its parent's tools, and no call is freer within them."""
    facts = some_facts(*rules, exempt=exempt)
    narrower = narrow(call.execution.bounds, wish)
    inner = replace(call, execution=replace(call.execution, bounds=narrower))
    assert laxity(decide(inner, SNAPSHOT, facts)) <= laxity(decide(call, SNAPSHOT, facts))
    assert set(shown(SNAPSHOT, narrower)) <= set(shown(SNAPSHOT, call.execution.bounds))


@pytest.mark.req("S0-08")
@given(CALLS, RULE_LISTS, EXEMPTIONS)
def test_a_destructive_call_always_needs_an_answer(
    call: Call, rules: list[Rule], exempt: SideEffectLevel | None
) -> None:
    """No setting and no rule by name lets a destructive call run without an approver's answer."""
    verdict = decide(call, SNAPSHOT, some_facts(*rules, exempt=exempt))
    if isinstance(verdict, Run):
        assert not verdict.registered.tool.is_destructive


@pytest.mark.req("B-14")
@given(CALLS, RULE_LISTS, EXEMPTIONS, RULE_LISTS, EXEMPTIONS, BOUNDS, st.booleans())
def test_a_resumed_decision_is_never_laxer_than_a_fresh_one(
    call: Call,
    rules: list[Rule],
    exempt: SideEffectLevel | None,
    later_rules: list[Rule],
    later_exempt: SideEffectLevel | None,
    later_bounds: Bounds,
    declined: bool,
) -> None:
    """An answer of yesterday does today what an answer of today to the same question does: it is
    worth nothing where today refuses, and nothing where today asks for more."""
    asked = decide(call, SNAPSHOT, some_facts(*rules, exempt=exempt))
    if not isinstance(asked, Ask):
        return
    today = replace(call, execution=replace(call.execution, bounds=later_bounds))
    no = grant_for(asked, approved=False)
    facts = some_facts(*later_rules, exempt=later_exempt, grants=(no,) if declined else ())
    fresh = decide(today, SNAPSHOT, facts)
    yes = given_for(asked, Answer(True, "queue"))
    resumed = decide(today, SNAPSHOT, replace(facts, given=yes))
    if isinstance(fresh, Refuse):
        assert isinstance(resumed, Refuse)
        assert resumed.kind is fresh.kind
    if isinstance(fresh, Ask) and isinstance(resumed, Run):
        assert concerns_of(fresh.reasons) <= concerns_of(asked.reasons)
    refused = decide(today, SNAPSHOT, replace(facts, given=given_for(asked, Answer(False, "q"))))
    assert isinstance(refused, Refuse)


def grant_for(ask: Ask, *, approved: bool = True) -> Grant:
    """What a session would remember of an answer to `ask`."""
    question = ask.question
    return Grant(
        "s",
        question.tool,
        question.origin.fingerprint.digest,
        concerns_of(question.reasons),
        question.digest if question.destructive else None,
        approved,
        "terminal",
        0.0,
    )


ORDER: tuple[tuple[str, Facts, Call, ErrorKind], ...] = (
    ("name", some_facts(), a_call("nothing"), ErrorKind.UNKNOWN_TOOL),
    ("offer", some_facts(), a_call("add", whole(READ, frozenset())), ErrorKind.NOT_OFFERED),
    (
        "deny before ceiling",
        some_facts(a_rule(Decision.DENY, "add")),
        a_call("add", whole(READ), "x"),
        ErrorKind.DENIED,
    ),
    (
        "ceiling before schema",
        some_facts(),
        a_call("add", whole(READ), "x"),
        ErrorKind.ABOVE_CEILING,
    ),
    (
        "schema before the gate",
        some_facts(),
        a_call("remove", None, "x"),
        ErrorKind.INVALID_ARGUMENTS,
    ),
    ("nobody", some_facts(answerers=()), a_call("remove"), ErrorKind.NOT_APPROVED),
)


@pytest.mark.req("B-01")
@pytest.mark.parametrize(
    ("facts", "call", "kind"), [case[1:] for case in ORDER], ids=[c[0] for c in ORDER]
)
def test_the_order_of_refusals(facts: Facts, call: Call, kind: ErrorKind) -> None:
    """Each step refuses what the later ones would have asked about or not have looked at."""
    verdict = decide(call, SNAPSHOT, facts)
    assert isinstance(verdict, Refuse)
    assert verdict.kind is kind
    assert verdict.reasons
    assert verdict.result().kind is kind


@pytest.mark.req("S0-07")
@pytest.mark.parametrize(
    ("tool", "exempt", "runs"),
    [
        ("read", READ, True),
        ("read", MUTATE, True),
        ("read", None, False),
        ("add", READ, False),
        ("add", MUTATE, True),
        ("add", None, False),
        ("remove", READ, False),
        ("remove", MUTATE, False),
        ("remove", None, False),
    ],
)
def test_who_is_exempt(tool: str, exempt: SideEffectLevel | None, runs: bool) -> None:
    """Exempt is what is at or below the line and not destructive, and nothing else."""
    verdict = decide(a_call(tool), SNAPSHOT, some_facts(exempt=exempt))
    assert isinstance(verdict, Run if runs else Ask)
    if isinstance(verdict, Run):
        assert verdict.answer is None
        assert verdict.reasons[0].code == "exempt"


def test_an_allow_rule_answers_as_rule() -> None:
    """An allow rule answers the question in a person's place, and the answer says so."""
    verdict = decide(a_call("add"), SNAPSHOT, some_facts(a_rule(Decision.ALLOW, "add")))
    assert isinstance(verdict, Run)
    assert verdict.answer == Answer(True, "rule")
    assert verdict.reasons[0].code == "allow_rule"


@pytest.mark.req("S0-09")
@pytest.mark.parametrize(("when", "attended", "runs"), [
    ("attended", True, True), ("attended", False, False),
    ("unattended", True, False), ("unattended", False, True),
    ("any", True, True), ("any", False, True),
])  # fmt: skip
def test_an_allow_rule_answers_where_it_says(when: str, attended: bool, runs: bool) -> None:
    """An allow rule answers for the executions its `when` names, and for no others."""
    facts = some_facts(a_rule(Decision.ALLOW, "add", when))
    verdict = decide(a_call("add", attended=attended), SNAPSHOT, facts)
    assert isinstance(verdict, Run if runs else Ask)


@pytest.mark.req("S0-08")
@pytest.mark.parametrize("exempt", [None, READ, MUTATE])
def test_no_allow_rule_answers_for_a_destructive_tool(exempt: SideEffectLevel | None) -> None:
    """A rule by name constrains no argument, so it never stands in for a destructive call."""
    facts = some_facts(a_rule(Decision.ALLOW, "remove"), exempt=exempt)
    assert isinstance(decide(a_call("remove"), SNAPSHOT, facts), Ask)


def test_an_ask_rule_asks_about_what_is_exempt() -> None:
    """A matching ask rule raises the question, over the exemption and over any allow rule."""
    facts = some_facts(a_rule(Decision.ASK, "read"), a_rule(Decision.ALLOW, "read"), exempt=MUTATE)
    verdict = decide(a_call("read"), SNAPSHOT, facts)
    assert isinstance(verdict, Ask)
    assert [reason.code for reason in verdict.reasons] == ["ask_rule"]


UNKNOWN = OpenUnknown("e", "earlier", "session:s", "add", 0.0)


@pytest.mark.req("B-03")
def test_an_open_unknown_is_asked_about_over_rules_and_grants() -> None:
    """While an outcome is open, neither exemption, rule nor grant lets the next call pass."""
    plain = decide(a_call("add"), SNAPSHOT, some_facts())
    assert isinstance(plain, Ask)
    facts = some_facts(a_rule(Decision.ALLOW, "add"), exempt=MUTATE, unknowns=(UNKNOWN,))
    facts = replace(facts, grants=(grant_for(plain),))
    verdict = decide(a_call("add"), SNAPSHOT, facts)
    assert isinstance(verdict, Ask)
    assert "earlier" in verdict.reasons[-1].text
    yes = given_for(verdict, Answer(True, "terminal"))
    run = decide(a_call("add"), SNAPSHOT, replace(facts, given=yes))
    assert isinstance(run, Run)
    assert run.settles == (UNKNOWN,)


def test_a_yes_does_not_answer_what_it_was_not_asked() -> None:
    """An answer from before an unknown was opened does not cover it: the call is asked again."""
    asked = decide(a_call("add"), SNAPSHOT, some_facts())
    assert isinstance(asked, Ask)
    yes = given_for(asked, Answer(True, "terminal"))
    verdict = decide(a_call("add"), SNAPSHOT, some_facts(given=yes, unknowns=(UNKNOWN,)))
    assert isinstance(verdict, Ask)


def test_a_remembered_no_comes_before_a_rule() -> None:
    """What a person refused for this session is not opened by an allow rule."""
    asked = decide(a_call("add"), SNAPSHOT, some_facts())
    assert isinstance(asked, Ask)
    facts = some_facts(a_rule(Decision.ALLOW, "add"), grants=(grant_for(asked, approved=False),))
    verdict = decide(a_call("add"), SNAPSHOT, facts)
    assert isinstance(verdict, Refuse)
    assert verdict.code == "said_no"


def test_a_grant_answers_and_says_so() -> None:
    """A remembered yes answers as approver `grant`, for the tool or for the exact call."""
    for name in ("add", "remove"):
        asked = decide(a_call(name), SNAPSHOT, some_facts())
        assert isinstance(asked, Ask)
        facts = some_facts(grants=(grant_for(asked),))
        verdict = decide(a_call(name), SNAPSHOT, facts)
        assert isinstance(verdict, Run)
        assert verdict.answer == Answer(True, "grant", Scope.SESSION)
        other = decide(a_call(name, n=2), SNAPSHOT, facts)
        assert isinstance(other, Ask if name == "remove" else Run)


@pytest.mark.req("B-01")
def test_an_answer_is_bound_to_definition_and_arguments() -> None:
    """A yes to other arguments, or to another definition, is worth nothing: tool_changed."""
    asked = decide(a_call("remove"), SNAPSHOT, some_facts())
    assert isinstance(asked, Ask)
    yes = given_for(asked, Answer(True, "terminal"))
    for forged, call in (
        (yes, a_call("remove", n=2)),
        (replace(yes, fingerprint="other"), a_call("remove")),
        (replace(yes, digest="other"), a_call("remove")),
    ):
        verdict = decide(call, SNAPSHOT, some_facts(given=forged))
        assert isinstance(verdict, Refuse)
        assert verdict.kind is ErrorKind.TOOL_CHANGED


def test_all_violations_are_told_at_once() -> None:
    """The model hears of everything that is wrong with its arguments in one answer."""
    schema = {"type": "object", "required": ["a", "b"], "properties": {"c": {"type": "string"}}}
    registry = Registry()
    registry.register(ScriptedTool("t", level=READ, input_schema=schema))
    snapshot = registry.snapshot()
    call = replace(a_call("t"), arguments={"c": 5})
    facts = Facts(bind(RuleSet(), snapshot), READ, ())
    verdict = decide(call, snapshot, facts)
    assert isinstance(verdict, Refuse)
    assert len(verdict.reasons) == 3
    for word in ('"a"', '"b"', "$.c"):
        assert word in verdict.text


@pytest.mark.req("S0-15")
@given(CALLS, st.integers(), st.integers())
def test_arguments_change_no_trait(call: Call, one: int, other: int) -> None:
    """With rules by name, two calls that differ in valid arguments alone are decided alike."""
    facts = some_facts()
    verdicts = [decide(replace(call, arguments={"n": n}), SNAPSHOT, facts) for n in (one, other)]
    assert laxity(verdicts[0]) == laxity(verdicts[1])
    assert verdicts[0].reasons == verdicts[1].reasons
