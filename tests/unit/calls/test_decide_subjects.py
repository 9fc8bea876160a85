"""`decide` on resolved subjects: what is barred, what is always asked, what an answer binds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.calls.call import Call
from lockgate.calls.decide import Ask, Facts, Given, Run, Verdict, decide
from lockgate.calls.refusals import Refuse
from lockgate.decision import Decision
from lockgate.policy.approval import Answer
from lockgate.policy.ceiling import whole
from lockgate.policy.grants import concerns_of
from lockgate.rules.bind import bind
from lockgate.rules.matcher import Match, Parameter
from lockgate.rules.rule import Rule, RuleSet
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment, Execution
from lockgate.tools.registry import Registry, Snapshot
from lockgate.tools.result import ErrorKind
from lockgate.tools.subject import (
    NO_SUBJECTS,
    Resolved,
    ResolvedPath,
    Subject,
    SubjectKind,
    Subjects,
)
from lockgate.traits import SideEffectLevel

READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
HOME = ResolvedPath("a.txt", "/place/a.txt", "/place/a.txt", "/place")


@dataclass(frozen=True)
class Under:
    """A pattern for all paths below a directory."""

    text: str
    kind: SubjectKind = SubjectKind.PATH
    constrains: bool = True

    def allows(self, resolved: Resolved) -> bool:
        assert isinstance(resolved, ResolvedPath)
        return resolved.real.startswith(self.text)

    def catches(self, resolved: Resolved) -> Match:
        return Match.YES if self.allows(resolved) else Match.NO


@dataclass(frozen=True)
class Argument:
    """A pattern for an argument that is a path."""

    text: str
    kind: SubjectKind | None = SubjectKind.PATH
    constrains: bool = True

    def allows(self, value: object, resolved: Resolved | None) -> bool:
        return isinstance(resolved, ResolvedPath) and resolved.real.startswith(self.text)

    def catches(self, value: object, resolved: Resolved | None) -> Match:
        return Match.YES if self.allows(value, resolved) else Match.NO


def a_snapshot() -> Snapshot:
    """A tool that reads a file, one that writes one, and a server's that takes a path."""
    registry = Registry()
    reads = (Subject(SubjectKind.PATH, "path"),)
    writes = (Subject(SubjectKind.PATH, "path", writes=True),)
    registry.register_all(
        (
            ScriptedTool("reads", level=READ, input_schema=SCHEMA, subjects=reads),
            ScriptedTool("writes", input_schema=SCHEMA, subjects=writes),
            ScriptedTool("far", server="x", destructive=False, input_schema=SCHEMA),
        )
    )
    return registry.snapshot()


SNAPSHOT = a_snapshot()
TOOLS = {"reads": (None, "reads"), "writes": (None, "writes"), "mcp__x__far": ("x", "far")}


def a_call(name: str) -> Call:
    """A call with a path; what it resolves to is a fact."""
    execution = Execution("e", "test", whole(MUTATE), True, Environment(Path("/place")), "s")
    return Call("c", name, {"path": "a.txt"}, execution)


def a_rule(decision: Decision, name: str, below: str | None = None) -> Rule:
    """A rule for one tool: by name, or for paths below a directory."""
    server, tool = TOOLS[name]
    rule = Rule(decision, f"{name}({below})", server, tool, "any", destructive=True, rest=True)
    if below is None:
        return rule
    if server is None:
        return replace(rule, subject=Under(below), rest=False)
    return replace(rule, parameters=(Parameter("path", Argument(below)),), rest=False)


def facts(path: ResolvedPath, *rules: Rule, given: Given | None = None) -> Facts:
    """The default settings, with a person there."""
    bound = bind(RuleSet(rules), SNAPSHOT)
    return Facts(bound, READ, ("terminal",), given=given, subjects=Subjects({"path": path}))


def given_for(ask: Ask, answer: Answer) -> Given:
    """`answer` to the question of `ask`."""
    question = ask.question
    fingerprint = question.origin.fingerprint.digest
    return Given(answer, question.digest, fingerprint, concerns_of(question.reasons))


def laxity(verdict: Verdict) -> int:
    """0 refused, 1 asked about, 2 run."""
    return 0 if isinstance(verdict, Refuse) else 1 if isinstance(verdict, Ask) else 2


PATHS = st.builds(
    ResolvedPath,
    given=st.just("a.txt"),
    lexical=st.sampled_from(["/place/a.txt", "/place/link"]),
    real=st.sampled_from(["/place/a.txt", "/place/secret/k", "/etc/passwd"]),
    root=st.sampled_from(["/place", None]),
    control=st.sampled_from([None, "the configuration in force"]),
    barred=st.booleans(),
    problem=st.sampled_from([None, None, "it can not be looked up"]),
)
RULES = st.lists(
    st.builds(
        a_rule,
        st.sampled_from(Decision),
        st.sampled_from(sorted(TOOLS)),
        st.sampled_from([None, "/", "/place/", "/place/secret/"]),
    ),
    max_size=4,
)
NAMES = st.sampled_from(sorted(TOOLS))


@pytest.mark.req("B-01")
@given(NAMES, PATHS, RULES)
def test_a_call_is_decided_by_its_subjects(
    name: str, path: ResolvedPath, rules: list[Rule]
) -> None:
    """What is barred, or can not be resolved in a root for a tool of ours, never runs and is never
    asked about; what is asked about runs on a yes; a control file to be written on nothing less."""
    verdict = decide(a_call(name), SNAPSHOT, facts(path, *rules))
    unusable = path.problem is not None and (path.root is not None or not path.lexical)
    if path.barred or (unusable and name != "mcp__x__far"):
        assert isinstance(verdict, Refuse)
    if path.control is not None and name != "reads":
        assert not isinstance(verdict, Run)
    if isinstance(verdict, Ask):
        yes = given_for(verdict, Answer(True, "terminal"))
        assert isinstance(decide(a_call(name), SNAPSHOT, facts(path, *rules, given=yes)), Run)


@given(
    NAMES,
    PATHS,
    RULES,
    st.sampled_from([None, "/", "/place/secret/"]),
    st.sampled_from([ASK, DENY]),
)
def test_a_strict_rule_never_allows_more(
    name: str, path: ResolvedPath, rules: list[Rule], below: str | None, word: Decision
) -> None:
    """Wherever it stands in the list."""
    before = laxity(decide(a_call(name), SNAPSHOT, facts(path, *rules)))
    more = a_rule(word, name, below)
    for listed in ([*rules, more], [more, *rules]):
        assert laxity(decide(a_call(name), SNAPSHOT, facts(path, *listed))) <= before


@pytest.mark.req("B-14")
@given(NAMES, PATHS, PATHS, RULES)
def test_an_answer_holds_for_the_path_that_was_shown(
    name: str, then: ResolvedPath, now: ResolvedPath, rules: list[Rule]
) -> None:
    """A link that points elsewhere by now makes it another call."""
    asked = decide(a_call(name), SNAPSHOT, facts(then, *rules))
    if not isinstance(asked, Ask):
        return
    yes = given_for(asked, Answer(True, "queue"))
    resumed = decide(a_call(name), SNAPSHOT, facts(now, *rules, given=yes))
    if then.real != now.real:
        fresh = decide(a_call(name), SNAPSHOT, facts(now, *rules))
        assert isinstance(resumed, Refuse) or isinstance(fresh, Run)


def test_a_path_in_the_roots_is_read_unasked() -> None:
    """And the tool gets exactly what the decision was made on."""
    told = facts(HOME)
    verdict = decide(a_call("reads"), SNAPSHOT, told)
    assert isinstance(verdict, Run)
    assert verdict.subjects is told.subjects


@pytest.mark.parametrize("name", ["reads", "writes"])
def test_a_path_outside_of_the_roots_is_asked_about(name: str) -> None:
    """Also for a tool that only reads; a rule that says so answers."""
    out = replace(HOME, real="/etc/passwd", root=None)
    verdict = decide(a_call(name), SNAPSHOT, facts(out))
    assert isinstance(verdict, Ask)
    assert "outside_roots" in {reason.code for reason in verdict.reasons}
    allowed = decide(a_call(name), SNAPSHOT, facts(out, a_rule(ALLOW, name, "/etc/")))
    assert isinstance(allowed, Run)
    assert allowed.answer == Answer(True, "rule")


def test_a_servers_world_has_roots_of_its_own() -> None:
    """A path argument of a server's tool is no matter of our roots."""
    out = replace(HOME, real="/etc/passwd", root=None)
    verdict = decide(a_call("mcp__x__far"), SNAPSHOT, facts(out))
    assert isinstance(verdict, Ask)
    assert [reason.code for reason in verdict.reasons] == ["not_exempt"]


@pytest.mark.req("B-13")
@pytest.mark.parametrize("name", ["writes", "mcp__x__far"])
def test_a_control_file_is_asked_about_over_every_rule(name: str) -> None:
    """When it is to be written; reading one is reading."""
    control = replace(HOME, control="a file that decides what programs may do")
    rule = a_rule(ALLOW, name, "/place/")
    assert isinstance(decide(a_call(name), SNAPSHOT, facts(HOME, rule)), Run)
    verdict = decide(a_call(name), SNAPSHOT, facts(control, rule))
    assert isinstance(verdict, Ask)
    assert "control_file" in {reason.code for reason in verdict.reasons}
    assert isinstance(decide(a_call("reads"), SNAPSHOT, facts(control)), Run)


def test_lockgates_own_state_is_out_of_reach() -> None:
    """Nothing allows it, an answer neither."""
    asked = decide(a_call("writes"), SNAPSHOT, facts(HOME))
    assert isinstance(asked, Ask)
    yes = given_for(asked, Answer(True, "terminal"))
    state = replace(HOME, barred=True)
    for name, answer in (("reads", None), ("writes", None), ("writes", yes)):
        told = facts(state, a_rule(ALLOW, name, "/"), given=answer)
        verdict = decide(a_call(name), SNAPSHOT, told)
        assert isinstance(verdict, Refuse)
        assert (verdict.kind, verdict.code) == (ErrorKind.DENIED, "barred_path")


def test_a_rule_that_fails_on_a_subject_is_a_deny() -> None:
    """Here the subject is none that the pattern knows."""
    told = msgspec.structs.replace(
        facts(HOME, a_rule(ALLOW, "reads", "/")), subjects=Subjects({"path": "no path"})
    )
    verdict = decide(a_call("reads"), SNAPSHOT, told)
    assert isinstance(verdict, Refuse)
    assert verdict.reasons[0].code == "rule_failed"


def test_without_arguments_only_what_holds_for_all_is_said() -> None:
    """A rule by path is told as one that depends on the call."""
    bound = bind(RuleSet((a_rule(DENY, "reads", "/place/secret/"),)), SNAPSHOT)
    opinion = bound.about("reads").whatever(attended=True)
    assert opinion.decision is None
    assert [note.code for note in opinion.notes] == ["by_call"]
    assert bound.about("reads").judge({}, NO_SUBJECTS, attended=True, now=0.0).decision is None
