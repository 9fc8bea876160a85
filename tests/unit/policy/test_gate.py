"""The gate: the whole table of when a call is asked about, and who may answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.decision import Decision, Reason
from lockgate.policy.gate import answer_by_rule, asks, exemption
from lockgate.rules.opinion import SILENT, RuleOpinion
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.tool import Tool
from lockgate.traits import DestructiveBehavior, SideEffectLevel

READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING

EXEMPT: dict[str, SideEffectLevel | None] = {"none": None, "read-only": READ, "mutating": MUTATE}

# What a server's tool claims, by the rulings that follow under `ignore` and `trust`, and what
# happens to a call of it for each value of approvals.exemptAtOrBelow. The documentation shows the
# same table.
TABLE = """
    trust   claim               | none | read-only | mutating
    ignore  nothing             | asks | asks      | asks
    ignore  readOnly            | asks | asks      | asks
    ignore  destructive: false  | asks | asks      | asks
    ignore  destructive: true   | asks | asks      | asks
    trust   nothing             | asks | asks      | asks
    trust   readOnly            | asks | runs      | runs
    trust   destructive: false  | asks | asks      | runs
    trust   destructive: true   | asks | asks      | asks
"""

RULED = {
    ("ignore", "nothing"): (MUTATE, True),
    ("ignore", "readOnly"): (MUTATE, True),
    ("ignore", "destructive: false"): (MUTATE, True),
    ("ignore", "destructive: true"): (MUTATE, True),
    ("trust", "nothing"): (MUTATE, True),
    ("trust", "readOnly"): (READ, True),
    ("trust", "destructive: false"): (MUTATE, False),
    ("trust", "destructive: true"): (MUTATE, True),
}
"""Level and destructiveness of the declaration that each claim leads to (S0-12, S0-13)."""


def cells() -> list[tuple[str, str, str, str]]:
    """The table, cell by cell: trust, claim, setting, what happens."""
    head, *rows = [line.split("|") for line in TABLE.strip().splitlines()]
    settings = [word.strip() for word in head[1:]]
    return [
        (row[0].split()[0], row[0].strip().split(maxsplit=1)[1], setting, cell.strip())
        for row in rows
        for setting, cell in zip(settings, row[1:], strict=True)
    ]


@pytest.mark.req("S0-07", "S0-08")
@pytest.mark.parametrize(("trust", "claim", "setting", "happens"), cells())
def test_the_table_holds(trust: str, claim: str, setting: str, happens: str) -> None:
    """Every claim under either trust, at every setting (PB-158)."""
    level, destructive = RULED[trust, claim]
    tool = ScriptedTool("t", level=level, destructive=destructive)
    assert ("asks" if asks(tool, EXEMPT[setting]) else "runs") == happens


def test_the_table_is_whole() -> None:
    """Two trusts, four claims, three settings."""
    assert len(set(cells())) == len(cells()) == 24


def opinion(decision: Decision | None) -> RuleOpinion:
    """What the rules might say."""
    if decision is None:
        return SILENT
    word = decision.name.lower()
    return RuleOpinion(decision, (Reason(f"{word}_rule", "a rule", "rules[0]"),), ())


@pytest.mark.req("S0-08")
@pytest.mark.parametrize("setting", list(EXEMPT.values()))
@pytest.mark.parametrize("decision", [None, *Decision])
def test_no_setting_and_no_rule_silences_destructive(
    setting: SideEffectLevel | None, decision: Decision | None
) -> None:
    """A question about it can only be answered."""
    reasons = asks(ScriptedTool("t"), setting, opinion(decision))
    assert reasons[0].code == "destructive"


@pytest.mark.req("S0-08")
def test_an_allow_rule_answers() -> None:
    """In a person's place, with the rule as the reason."""
    answer = answer_by_rule(opinion(Decision.ALLOW))
    assert answer == Reason("allow_rule", "a rule", "rules[0]")


@pytest.mark.parametrize("decision", [None, Decision.ASK, Decision.DENY])
def test_nothing_but_an_allow_answers(decision: Decision | None) -> None:
    """Silence, an ask and a deny leave the question open."""
    assert answer_by_rule(opinion(decision)) is None


@pytest.mark.req("S0-07")
def test_an_allow_rule_exempts_nothing() -> None:
    """The question is still asked, and then answered: it is in the record."""
    tool = ScriptedTool("t", destructive=False)
    assert asks(tool, READ, opinion(Decision.ALLOW)) == asks(tool, READ)


@pytest.mark.req("S0-07")
@pytest.mark.parametrize(
    ("level", "destructive", "setting"),
    [(READ, False, READ), (READ, True, READ), (MUTATE, False, MUTATE), (READ, False, MUTATE)],
)
def test_an_ask_rule_asks_whatever_is_exempt(
    level: SideEffectLevel, destructive: bool, setting: SideEffectLevel
) -> None:
    """Its own reason is the only one."""
    tool = ScriptedTool("t", level=level, destructive=destructive)
    assert asks(tool, setting) == ()
    assert [r.code for r in asks(tool, setting, opinion(Decision.ASK))] == ["ask_rule"]


def test_every_reason_is_told() -> None:
    """Destructive, above the line, and asked for by a rule."""
    reasons = asks(ScriptedTool("t"), READ, opinion(Decision.ASK))
    assert [reason.code for reason in reasons] == ["destructive", "not_exempt", "ask_rule"]
    assert str(reasons[1]) == (
        "t is mutating, and calls are exempt at or below: read-only (approvals.exemptAtOrBelow)"
    )


def test_an_exempt_call_has_its_reason() -> None:
    """Nothing runs without one."""
    reason = exemption(ScriptedTool("t", destructive=False), MUTATE)
    assert reason.code == "exempt"
    assert "mutating but not destructive" in reason.text


class Contradiction(ScriptedTool):
    """A READ_ONLY tool whose destructiveness must not be looked at."""

    @property
    def side_effect_level(self) -> SideEffectLevel:
        return READ

    @property
    def destructive_behavior(self) -> DestructiveBehavior:
        raise AssertionError("the gate read the destructiveness of a read-only tool")


@pytest.mark.req("S0-04")
@pytest.mark.parametrize("setting", list(EXEMPT.values()))
def test_the_gate_never_reads_the_second_trait_of_a_read_only_tool(
    setting: SideEffectLevel | None,
) -> None:
    """The contradiction is unreachable here as well."""
    tool = Contradiction("t")
    assert (asks(tool, setting) == ()) is (setting is not None)
    assert answer_by_rule(opinion(Decision.ALLOW)) is not None


TOOLS = st.builds(
    ScriptedTool,
    st.just("t"),
    level=st.sampled_from(SideEffectLevel),
    destructive=st.booleans(),
)
SETTINGS = st.sampled_from([None, READ, MUTATE])
OPINIONS = st.sampled_from([None, *Decision]).map(opinion)


@given(TOOLS, SETTINGS, OPINIONS)
def test_the_formula(tool: Tool, setting: SideEffectLevel | None, said: RuleOpinion) -> None:
    """Asks exactly when destructive, or not exempt, or an ask rule says so."""
    expected = (
        (tool.side_effect_level is MUTATE and tool.is_destructive)
        or setting is None
        or not setting.permits(tool.side_effect_level)
        or said.decision is Decision.ASK
    )
    assert bool(asks(tool, setting, said)) is expected


@given(TOOLS, SETTINGS, OPINIONS)
def test_a_stricter_setting_asks_no_less(
    tool: Tool, setting: SideEffectLevel | None, said: RuleOpinion
) -> None:
    """mutating, read-only, none: each asks about all that the one before asks about."""
    order = [MUTATE, READ, None]
    for stricter in order[order.index(setting) :]:
        if asks(tool, setting, said):
            assert asks(tool, stricter, said)


@given(TOOLS, SETTINGS)
def test_an_ask_rule_never_asks_less(tool: Tool, setting: SideEffectLevel | None) -> None:
    """Adding one keeps every other reason."""
    before = asks(tool, setting)
    after = asks(tool, setting, opinion(Decision.ASK))
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1
