"""Whatever else is so, a call that a hook has asked about is decided no more loosely than without
it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lockgate.calls.call import Call
from lockgate.calls.decide import Ask, Facts, Given, Run, Verdict, decide
from lockgate.calls.heard import ASKS
from lockgate.calls.refusals import Refuse
from lockgate.calls.unknowns import OpenUnknown
from lockgate.decision import Decision, Reason
from lockgate.policy.approval import Answer, Question, Scope
from lockgate.policy.ceiling import whole
from lockgate.policy.grants import concerns_of, grant_of
from lockgate.rules.bind import bind
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment, Execution
from lockgate.tools.registry import Registry
from lockgate.traits import SideEffectLevel

READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
ASKED = Reason(ASKS, "the hook guard has it asked about")


def strictness(verdict: Verdict) -> int:
    """Runs, asks, is refused."""
    return (Run, Ask, Refuse).index(type(verdict))


@given(
    level=st.sampled_from([READ, MUTATE]),
    destructive=st.booleans(),
    exempt=st.sampled_from([None, READ, MUTATE]),
    rules=st.sets(st.sampled_from(list(Decision))),
    ceiling=st.sampled_from([READ, MUTATE]),
    somebody=st.booleans(),
    unknown=st.booleans(),
    remembered=st.sampled_from([None, True, False]),
    answered=st.sampled_from([None, True, False]),
)
def test_an_ask_of_a_hook_never_loosens(
    level: SideEffectLevel,
    destructive: bool,
    exempt: SideEffectLevel | None,
    rules: set[Decision],
    ceiling: SideEffectLevel,
    somebody: bool,
    unknown: bool,
    remembered: bool | None,
    answered: bool | None,
) -> None:
    """With any traits, rules, grants and answers: what was refused is refused, what was asked is
    asked or refused; and it only runs by an answer that was given to the hook's own question."""
    registry = Registry()
    registry.register(ScriptedTool("act", level=level, destructive=destructive))
    snapshot = registry.snapshot()
    execution = Execution("e", "test", whole(ceiling), True, Environment(Path("/")), "s")
    call = Call("c", "act", {}, execution)
    bound = bind(RuleSet(tuple(parse_rule("act", decision) for decision in rules)), snapshot)
    open_ones = (OpenUnknown("e", "old", "session:s", "act", 0.0),) if unknown else ()
    facts = Facts(bound, exempt, ("person",) if somebody else (), unknowns=open_ones)

    def with_answers(facts: Facts, question: Question | None) -> Facts:
        """With what was answered to `question`, which is that of the call without the hook."""
        if question is None:
            return facts
        grant = None
        if remembered is not None:
            grant = grant_of(question, Answer(remembered, "ann", Scope.SESSION), "s", 0.0)
        reply: Given | None = None
        if answered is not None:
            shown = concerns_of(question.reasons)
            digest = question.origin.fingerprint.digest
            reply = Given(Answer(answered, "ann"), question.digest, digest, shown)
        return Facts(
            facts.rules,
            facts.exempt,
            facts.answerers,
            (grant,) if grant else (),
            facts.unknowns,
            reply,
            asked=facts.asked,
        )

    plain = decide(call, snapshot, facts)
    question = plain.question if isinstance(plain, Ask) else None
    without = decide(call, snapshot, with_answers(facts, question))
    asked = Facts(bound, exempt, facts.answerers, unknowns=open_ones, asked=(ASKED,))
    hooked = decide(call, snapshot, with_answers(asked, question))
    assert strictness(hooked) >= strictness(without)
    assert not isinstance(hooked, Run)
    if isinstance(hooked, Ask):
        assert ASKED in hooked.reasons
        own = concerns_of(hooked.reasons)
        digest = hooked.question.origin.fingerprint.digest
        yes = Given(Answer(True, "ann"), hooked.question.digest, digest, own)
        again = Facts(bound, exempt, facts.answerers, unknowns=open_ones, given=yes, asked=(ASKED,))
        assert isinstance(decide(call, snapshot, again), Run)
