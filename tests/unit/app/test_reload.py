"""What of a configuration that was read again is in force at once: what tightens, and no more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.app.reload import Reloaded, compared, narrowed_offer
from lockgate.calls.call import Call
from lockgate.calls.decide import Ask, Facts, Run, Verdict, decide
from lockgate.calls.limit import Limit
from lockgate.decision import Decision
from lockgate.hooks.declared.plan import CommandHandler, DeclaredHook, Handler, ToolHandler
from lockgate.hooks.declared.template import parse_template
from lockgate.hooks.event import HookEvent
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.settings import ServerSettings
from lockgate.policy.ceiling import whole
from lockgate.rules.bind import bind
from lockgate.rules.offers import bind_offer
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import Rule, RuleSet
from lockgate.settings.config import AgentSettings, ApprovalSettings, Config
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment, Execution
from lockgate.tools.registry import Registry, Snapshot
from lockgate.traits import SideEffectLevel

READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
ENDPOINT = StdioEndpoint("x", (), {}, Path("/"))


def a_snapshot() -> Snapshot:
    """Tools of ours and of two servers, of each kind."""
    registry = Registry()
    registry.register_all(
        (
            ScriptedTool("read", level=READ),
            ScriptedTool("add", destructive=False),
            ScriptedTool("look", server="x", level=READ),
            ScriptedTool("write", server="x", destructive=False),
            ScriptedTool("drop", server="x"),
            ScriptedTool("write", server="y"),
        )
    )
    return registry.snapshot()


SNAPSHOT = a_snapshot()
PATTERNS = (
    *("read", "add", "mcp__x", "mcp__x__*", "mcp__x__write", "mcp__y__*"),
    *("mcp__y__write", "mcp__x__drop"),
)
SUBJECTS = (*PATTERNS, "mcp__x__drop(n=1)", "mcp__x__write(n=1, ...)", "read(n=2)", "add(n=1)")


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    """A rule about these tools."""
    decision = draw(st.sampled_from(list(Decision)))
    terms: dict[str, Any] = {}
    text = draw(st.sampled_from(SUBJECTS))
    if decision is Decision.ALLOW:
        terms["when"] = draw(st.sampled_from(["attended", "unattended", "any"]))
        terms["until"] = draw(st.sampled_from([None, 50.0, 150.0]))
        if "(" in text:
            terms["destructive"] = draw(st.booleans())
    return parse_rule(text, decision, **terms)


OFFERS = st.none() | st.lists(st.sampled_from(PATTERNS), max_size=3, unique=True).map(tuple)


def a_config(
    found: list[Rule],
    exempt: SideEffectLevel | None,
    ceiling: SideEffectLevel,
    offer: tuple[str, ...] | None,
) -> Config:
    """All of it that decides."""
    return Config(
        rules=RuleSet(tuple(found)),
        approvals=ApprovalSettings(exempt_at_or_below=exempt),
        agent=AgentSettings(ceiling=ceiling, offer=offer),
    )


CONFIGS = st.builds(
    a_config,
    st.lists(rules(), max_size=5),
    st.sampled_from([None, READ, MUTATE]),
    st.sampled_from([READ, MUTATE]),
    OFFERS,
)
CALLS = st.tuples(st.sampled_from(tuple(SNAPSHOT.entries)), st.sampled_from([1, 2]), st.booleans())


def a_call(config: Config, name: str, n: int, attended: bool) -> Call:
    """A call within what this configuration offers."""
    bounds = whole(config.agent.ceiling, bind_offer(config.agent.offer, SNAPSHOT))
    execution = Execution("e", "agent", bounds, attended, Environment(Path("/")))
    return Call("c", name, {"n": n}, execution)


def strictness(config: Config, call: Call) -> int:
    """What becomes of a call: run, asked about, refused."""
    facts = Facts(
        bind(config.rules, SNAPSHOT),
        config.approvals.exempt_at_or_below,
        ("terminal",) if call.execution.attended else (),
        now=100.0,
    )
    verdict: Verdict = decide(call, SNAPSHOT, facts)
    return 0 if isinstance(verdict, Run) else 1 if isinstance(verdict, Ask) else 2


@settings(max_examples=400)
@given(CONFIGS, st.lists(CONFIGS, min_size=1, max_size=3), CALLS)
def test_a_reload_never_allows_what_was_not_allowed(
    before: Config, later: list[Config], wanted: tuple[str, int, bool]
) -> None:
    """Whatever is read again, however often: no call is decided less strictly than before, nor
    less strictly than what is written now would have it where all of that was taken."""
    call = a_call(before, *wanted)
    force, strictest = before, strictness(before, call)
    for now in later:
        found = compared(force, now)
        # A session that has begun keeps its bounds, and a limit is over it.
        limit = Limit(found.config.agent.ceiling, found.config.agent.offer)
        execution = call.execution
        bounds = limit.within(execution.bounds, SNAPSHOT, entry=execution.entry)
        limited = a_call(found.config, *wanted)
        assert bounds == limited.execution.bounds
        after = strictness(found.config, limited)
        assert after >= strictest
        if not found.loosens:
            assert after == strictness(now, a_call(now, *wanted))
        force, strictest = found.config, after


@given(CONFIGS, CONFIGS)
def test_what_is_read_again_unchanged_says_nothing(one: Config, other: Config) -> None:
    """And what was taken once is not told again."""
    assert compared(one, one) == Reloaded(compared(one, one).config)
    first = compared(one, other)
    again = compared(first.config, other)
    assert (again.taken, again.loosens) == ((), first.loosens)


@given(OFFERS, OFFERS)
def test_an_offer_is_the_intersection_of_both(
    before: tuple[str, ...] | None, now: tuple[str, ...] | None
) -> None:
    """By what they offer, tool by tool; nothing in common is nothing, never everything."""
    everything = frozenset(SNAPSHOT.entries)
    old, new = (bind_offer(offer, SNAPSHOT) for offer in (before, now))
    both = narrowed_offer(before, now)
    meant = bind_offer(both, SNAPSHOT)
    assert (everything if meant is None else meant) == (
        (everything if old is None else old) & (everything if new is None else new)
    )


def a_hook(handler: Handler, **more: Any) -> DeclaredHook:
    """A hook before calls."""
    return DeclaredHook(HookEvent.PRE_TOOL, handler, "checker", **more)


PROGRAM = CommandHandler("check.py")


def test_each_thing_is_told() -> None:
    """What is taken, what loosens, what waits: one sentence each."""
    before = Config(
        servers=(ServerSettings("a", ENDPOINT), ServerSettings("b", ENDPOINT)),
        rules=RuleSet(
            (
                parse_rule("read", Decision.ALLOW),
                parse_rule("add", Decision.DENY),
                parse_rule("mcp__x__*", Decision.ALLOW),
            )
        ),
        agent=AgentSettings(offer=("read", "mcp__x__*")),
        hooks=(a_hook(PROGRAM),),
    )
    now = replace(
        before,
        servers=(ServerSettings("b", ENDPOINT, required=True), ServerSettings("c", ENDPOINT)),
        rules=RuleSet(
            (
                parse_rule("mcp__y__*", Decision.ALLOW),
                parse_rule("mcp__x__drop", Decision.ASK),
                parse_rule("mcp__x__*", Decision.ALLOW, until=9.0),
            )
        ),
        agent=AgentSettings(model="scripted:x", ceiling=READ, offer=("mcp__x__look", "add")),
        approvals=ApprovalSettings(exempt_at_or_below=None, attended=()),
        hooks=(a_hook(PROGRAM, denies_on_error=True), a_hook(CommandHandler("more.py"))),
        builtin=("Read",),
    )
    found = compared(before, now)
    assert found.taken == (
        'the allow rule "read" is gone',
        'the allow rule "mcp__x__*" ends sooner',
        'the ask rule "mcp__x__drop" is new',
        "the hook checker (pre_tool) says onError: deny",
        "the hook checker (pre_tool) is new",
        "agent.ceiling is read-only",
        "agent.offer is narrower",
        "approvals.exemptAtOrBelow is none",
    )
    assert found.loosens == (
        'the deny rule "add" was taken out',
        'the allow rule "mcp__y__*" is new',
        "agent.offer would be wider",
    )
    assert found.waits == (
        "server a was taken out",
        "server b has changed",
        "server c is new",
        "agent.model has changed",
        "approvals.attended has changed",
        "builtin has changed",
    )
    assert found.config.agent == AgentSettings(ceiling=READ, offer=("mcp__x__look",))
    assert found.config.servers == before.servers
    assert str(found).count("NOT in force") == 3


def test_a_hook_that_is_taken_out_stays() -> None:
    """And so does its onError: deny."""
    before = Config(hooks=(a_hook(PROGRAM, denies_on_error=True),))
    for later in (Config(), Config(hooks=(a_hook(PROGRAM),))):
        found = compared(before, later)
        assert (found.config.hooks, found.taken, len(found.loosens)) == (before.hooks, (), 1)


def test_a_hook_that_is_declared_twice_stays_as_strict() -> None:
    """By several layers, say: where one of them says onError: deny its failure denies, and a reload
    does not make it soft, in whichever order they stand."""
    soft, strict = a_hook(PROGRAM), a_hook(PROGRAM, denies_on_error=True)
    for both in ((strict, soft), (soft, strict)):
        found = compared(Config(hooks=both), Config(hooks=both))
        assert (found.config.hooks, found.taken, found.loosens) == ((strict,), (), ())
        assert compared(Config(hooks=(soft,)), Config(hooks=both)).config.hooks == (strict,)


def test_a_hook_with_other_arguments_is_another_one() -> None:
    """As JSON, which has numbers and switches apart."""
    one, other = (a_hook(ToolHandler("x", "check", parse_template({"n": n}))) for n in (1, True))
    found = compared(Config(hooks=(one,)), Config(hooks=(other,)))
    assert found.config.hooks == (one, other)
    assert (len(found.taken), len(found.loosens)) == (1, 1)


def test_another_timeout_of_a_hook_is_told() -> None:
    """It may tighten or loosen, so it waits."""
    found = compared(
        Config(hooks=(a_hook(PROGRAM),)), Config(hooks=(a_hook(PROGRAM, timeout=9.0),))
    )
    assert found.waits == ("the timeout of the hook checker (pre_tool) has changed",)
    assert found.config.hooks == (a_hook(PROGRAM),)


def test_an_allow_rule_that_would_end_later_stays_as_it_is() -> None:
    """Both allow it until the earlier of the two."""
    early, late = (parse_rule("add", Decision.ALLOW, until=until) for until in (50.0, 150.0))
    found = compared(Config(rules=RuleSet((early,))), Config(rules=RuleSet((late,))))
    assert found.config.rules.rules == (early,)
    assert (found.taken, found.loosens) == ((), ('the allow rule "add" would end later',))
    both = compared(Config(rules=RuleSet((early,))), Config(rules=RuleSet((early, late))))
    assert both.loosens == ('the allow rule "add" is new',)


def test_a_hook_that_would_call_another_tool_waits() -> None:
    """Its declaration would answer what is asked about now; another use of that tool is fine."""
    check, drop = ToolHandler("x", "check"), ToolHandler("x", "drop")
    before = Config(hooks=(a_hook(check),))
    again = replace(a_hook(check), event=HookEvent.POST_TOOL)
    found = compared(before, Config(hooks=(a_hook(check), again, a_hook(drop))))
    assert found.config.hooks == (a_hook(check), again)
    assert (len(found.taken), len(found.loosens)) == (1, 1)


@pytest.mark.parametrize("secret", ["hunter2"])
def test_no_value_is_told(secret: str) -> None:
    """Of a rule for exactly one call the tool alone, of servers and hooks the name."""
    rule = parse_rule(f'add(n="{secret}")', Decision.ALLOW, exact=True)
    before = Config(rules=RuleSet((rule,)), servers=(ServerSettings("a", ENDPOINT),))
    endpoint = StdioEndpoint(secret, (secret,), {"X": secret}, Path("/"))
    now = Config(
        servers=(ServerSettings("a", endpoint),),
        hooks=(a_hook(CommandHandler(secret, (secret,), {"X": secret})),),
    )
    found = compared(before, now)
    assert found.taken
    assert found.waits
    assert secret not in str(found)
    assert secret not in repr(found)
