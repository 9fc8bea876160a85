"""A rule that is offered answers: held against the decision itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.calls.call import Call
from lockgate.calls.decide import Ask, Facts, Run, Verdict, decide
from lockgate.decision import Decision
from lockgate.policy.approval import Answer
from lockgate.policy.ceiling import whole
from lockgate.rules.bind import bind
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule, RuleSet
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment, Execution
from lockgate.tools.registry import Registry
from lockgate.tools.subject import NO_SUBJECTS, ResolvedPath, Subject, SubjectKind, Subjects
from lockgate.traits import SideEffectLevel

PATH = Subject(SubjectKind.PATH, "path", writes=True, default=".")
WRITTEN = [
    "deny put(path=deny*)",
    "ask put(path=ask*)",
    "ask put(note=1)",
    "allow put(path=allow*)",
    "allow put(...)",
    "ask mcp__s__put(path=text:a)",
    "deny mcp__s__put(path=path:/w/b)",
]
PATHS = st.sampled_from(["a", "/w/b", "ask1", "allow1", "deny1", "/x/y", "/w/.git/x"])


def _resolved(path: str, number: int) -> ResolvedPath:
    """A path as one of the kinds there are: plain, by a link, outside, a control file, broken."""
    lexical = path if path.startswith("/") else f"/w/{path}"
    real, root = (lexical if number != 1 else "/w/elsewhere"), (None if number == 2 else "/w")
    control = "a control file" if number == 3 else None
    problem = "it is odd" if number == 4 else None
    return ResolvedPath(path, lexical, real, root, control=control, problem=problem)


@pytest.mark.req("S0-08")
@given(
    server=st.sampled_from([None, "s"]),
    destructive=st.booleans(),
    exempt=st.sampled_from([None, *SideEffectLevel]),
    written=st.sets(st.sampled_from(WRITTEN)),
    arguments=st.fixed_dictionaries({}, optional={"path": PATHS, "note": st.integers(0, 2)}),
    kind=st.integers(0, 4),
    with_subject=st.booleans(),
)
def test_what_is_offered_answers_the_same_question(
    server: str | None,
    destructive: bool,
    exempt: SideEffectLevel | None,
    written: set[str],
    arguments: dict[str, Any],
    kind: int,
    with_subject: bool,
) -> None:
    """Whenever a rule is offered, the same call under the same other rules runs by that rule."""
    subjects = (PATH,) if with_subject and server is None else ()
    tool = ScriptedTool("put", server=server, destructive=destructive, subjects=subjects)
    registry = Registry()
    registry.register(tool)
    rules: list[Rule] = []
    places = Places("/w", "/h")
    for text in sorted(written):
        word, _, what = text.partition(" ")
        decision = Decision[word.upper()]
        sure = destructive and decision is Decision.ALLOW
        rules.append(parse_rule(what, decision, destructive=sure, places=places))
    path = _resolved(str(arguments.get("path", ".")), kind)
    looked_up = subjects or any("path:" in text for text in written)
    found = Subjects({"path": path}) if looked_up else NO_SUBJECTS
    execution = Execution(
        id="e",
        entry="test",
        bounds=whole(SideEffectLevel.MUTATING),
        attended=True,
        environment=Environment(Path("/w"), (Path("/w"),)),
    )
    call = Call("c", tool.name, arguments, execution)
    snapshot = registry.snapshot()

    def verdict(*more: Rule) -> Verdict:
        facts = Facts(
            bind(RuleSet((*rules, *more)), snapshot), exempt, ("a",), subjects=found, keeps=True
        )
        return decide(call, snapshot, facts)

    first = verdict()
    if not isinstance(first, Ask) or first.question.always is None:
        return
    pin = tool.definition.origin.fingerprint.digest
    text = first.question.always
    then = verdict(parse_rule(text, Decision.ALLOW, destructive=destructive, pin=pin, exact=True))
    assert isinstance(then, Run)
    assert then.answer == Answer(True, "rule")
