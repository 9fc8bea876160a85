"""The road of a call as a pure function: refuse it, run it, or ask about it.

`decide` reads the call, the snapshot and the facts, and touches nothing else. `calls.invoke`
performs what it says and `calls.explain` prints the steps it took; there is no second mechanism.
The order of the steps is the promise that nobody is asked about a call that would be refused
anyway (B-01).
"""

from __future__ import annotations

from collections.abc import Collection, Sized
from dataclasses import replace
from typing import Final, TypeAlias

import msgspec

from lockgate.calls import refusals
from lockgate.calls.arguments import call_digest, unmentioned
from lockgate.calls.call import Call
from lockgate.calls.declared import HOOK
from lockgate.calls.lasting import with_lasting
from lockgate.calls.refusals import Refuse
from lockgate.calls.subjects import real_paths, resolutions, unresolved
from lockgate.calls.unknowns import OpenUnknown
from lockgate.decision import Decision, Reason
from lockgate.policy.approval import Answer, Question, Scope
from lockgate.policy.ceiling import refusal, shown
from lockgate.policy.gate import answer_by_rule, asks, exemption
from lockgate.policy.grants import Grant, covers, matching, session_of
from lockgate.policy.places import barred, control_files, outside, unplaced, unspoken
from lockgate.rules.about import AboutTool
from lockgate.rules.bind import BoundRules
from lockgate.rules.opinion import RuleOpinion
from lockgate.schema.violation import Violation
from lockgate.tools.naming import near_tool_names, server_of
from lockgate.tools.registry import Registered, Snapshot
from lockgate.tools.subject import NO_SUBJECTS, Subjects
from lockgate.traits import SideEffectLevel


class Given(msgspec.Struct, frozen=True):
    """An answer to the question about this very call, and what the question showed."""

    answer: Answer
    digest: str
    fingerprint: str
    concerns: frozenset[tuple[str, str]]
    """`policy.grants.concerns_of` the reasons that were asked about."""


class Facts(msgspec.Struct, frozen=True, gc=False):  # lives for one decision
    """Everything besides the call and the snapshot that a decision depends on."""

    rules: BoundRules
    exempt: SideEffectLevel | None
    """`exempt_at_or_below`; None asks about every call."""
    answerers: tuple[str, ...]
    """Names of the approvers that would be asked, in turn; empty means no (S0-09)."""
    grants: tuple[Grant, ...] = ()
    """What the session remembers of this tool, yes and no."""
    unknowns: tuple[OpenUnknown, ...] = ()
    """Calls of this tool whose outcome is open and that stand in this call's way (B-03)."""
    given: Given | None = None
    """The answer, once one was given to this call's question."""
    fault: Violation | None = None
    """What is wrong with the arguments before any schema is looked at."""
    failed: Collection[str] = ()
    """Configured servers that are not there; looked at only for a name that nobody holds."""
    subjects: Subjects = NO_SUBJECTS
    """What the call is about, resolved (`calls.resolving`)."""
    now: float = 0.0
    """Unix time: an allow rule may have ended."""
    keeps: bool = False
    """Whether an answer can be kept for good: somebody attends, and there is a book for it."""
    asked: tuple[Reason, ...] = ()
    """Why hooks have the call asked about; no allow rule answers that."""
    would_hear: tuple[Reason, ...] = ()
    """The hooks that would be told of it, for `explain`."""
    about: AboutTool | None = None
    """What `rules` say of the tool that is called, where that was looked up already."""


class Run(msgspec.Struct, frozen=True):
    """The call is made."""

    registered: Registered
    reasons: tuple[Reason, ...]
    answer: Answer | None = None
    """Who answered the question, if there was one: a rule, a grant, an approver."""
    given: Given | None = None
    """`answer` with what it is bound to, if it was given to this very call."""
    settles: tuple[OpenUnknown, ...] = ()
    """Open unknowns that the answered question named, and that its yes therefore closes."""
    subjects: Subjects = NO_SUBJECTS
    """What the decision was made on; the tool uses it as it is."""


class Ask(msgspec.Struct, frozen=True):
    """Somebody has to answer first."""

    registered: Registered
    question: Question

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it is asked."""
        return self.question.reasons


Verdict: TypeAlias = Refuse | Run | Ask

# Before Python 3.12 looking up a member costs eight times as much as a name; every call compares.
_ALLOW: Final = Decision.ALLOW
_DENY: Final = Decision.DENY

_OVERRULED: Final = Reason("overruled", "the allow rule does not answer this: a person has to")

ROAD: Final = ("name", "deny rules", "ceiling", "hooks", "arguments", "rules", "gate", "answer")
"""The steps, in order."""


class Step(msgspec.Struct, frozen=True):
    """One step of the road and what it said, for `explain`."""

    name: str
    decision: Decision
    reasons: tuple[Reason, ...]


def decide(call: Call, snapshot: Snapshot, facts: Facts) -> Verdict:
    """What is to happen to `call`, today, by `facts`. Pure; nothing is sent and nobody is asked.

    `call.arguments` are the final ones, in plain JSON.
    """
    return _walk(call, snapshot, facts, None, any_arguments=False)


def admitted(call: Call, snapshot: Snapshot, facts: Facts) -> Registered | None:
    """The tool of a call that gets as far as its hooks; None for one that is refused before (by its
    name, a deny rule by name, the ceiling), which `decide` says why, and of which no hook hears."""
    found = _admitted(call, snapshot, facts, None)
    return None if isinstance(found, Refuse) else found


def walk(
    call: Call, snapshot: Snapshot, facts: Facts, *, any_arguments: bool = False
) -> tuple[Verdict, tuple[Step, ...]]:
    """`decide`, with every step that was taken; a call that is to be asked about ends at `gate`.

    With `any_arguments` the arguments are left aside and their schema is not looked at: what is
    decided about the tool. Such a verdict is for reading, never for acting on.
    """
    trail: list[Step] = []
    verdict = _walk(call, snapshot, facts, trail, any_arguments=any_arguments)
    if not isinstance(verdict, Ask):
        decision = Decision.DENY if isinstance(verdict, Refuse) else Decision.ALLOW
        asked = trail[-1].reasons if trail else ()
        told = tuple(reason for reason in verdict.reasons if reason not in asked)
        trail.append(Step(ROAD[len(trail)], decision, told or verdict.reasons))
    return verdict, tuple(trail)


def _walk(
    call: Call, snapshot: Snapshot, facts: Facts, trail: list[Step] | None, *, any_arguments: bool
) -> Verdict:
    registered = _admitted(call, snapshot, facts, trail)
    if isinstance(registered, Refuse):
        return registered
    about = facts.about or facts.rules.about(registered.name)

    # 3. Hooks before the call were asked: `call` has the arguments that they leave it.
    if trail is not None:
        none = (Reason("no_hooks", "no hook is told of it"),)
        trail.append(Step("hooks", Decision.ALLOW, facts.would_hear or none))

    # 4. The schema of the final arguments, all violations at once; what they are about.
    attended, subjects, fault = call.execution.attended, facts.subjects, facts.fault
    if any_arguments:
        if trail is not None:
            _pass(trail, "arguments", "not_given", "no arguments are given, so none are checked")
        opinion, subjects = about.whatever(attended=attended), NO_SUBJECTS
    else:
        violations = (fault,) if fault else registered.schema.violations(call.arguments)
        if violations:
            unknown = () if fault else unmentioned(registered, call.arguments)
            return refusals.invalid_arguments(registered, violations, unknown)
        if subjects is not NO_SUBJECTS and (faults := unresolved(registered, subjects)):
            # Nothing runs either way; a deny rule says more, and holds for what is not known.
            opinion = about.judge(call.arguments, subjects, attended=attended, now=facts.now)
            if opinion.decision is Decision.DENY:
                why = tuple(Reason("unresolvable", str(fault)) for fault in faults)
                denied = refusals.denied(registered, opinion.reasons)
                return replace(denied, reasons=why + opinion.reasons)
            return refusals.unresolvable(registered, faults)
        if trail is not None:
            valid = Reason("valid", "the arguments fit the schema")
            trail.append(Step("arguments", Decision.ALLOW, (valid, *resolutions(subjects))))
        # 5. Rules on the final arguments. An allow is no pass: it answers the gate's question.
        opinion = about.judge(call.arguments, subjects, attended=attended, now=facts.now)
    if subjects is not NO_SUBJECTS and (reasons := barred(subjects)):
        return refusals.barred(registered, reasons)
    if opinion.decision is _DENY:
        return refusals.denied(registered, opinion.reasons)
    if trail is not None:
        dormant: tuple[Reason, ...] = ()
        if not any_arguments:
            dormant = about.dormant(call.arguments, subjects, attended=attended, now=facts.now)
        _pass_rules(trail, opinion, facts, dormant)

    # 6. The gate, and who has answered it.
    reasons = asks(registered, facts.exempt, opinion)
    if facts.asked:
        reasons += facts.asked
    over_rules: Sized | bool = facts.unknowns or facts.asked
    if subjects is not NO_SUBJECTS:
        control = control_files(registered, subjects)
        beyond = outside(registered, subjects)
        reasons += control + beyond
        if reasons and opinion.decision is not _ALLOW:
            reasons += unplaced(subjects)
        over_rules = over_rules or control
        if beyond and not over_rules:
            over_rules = unspoken(registered, subjects, opinion.rules)
    if facts.unknowns:
        reasons += tuple(unknown.reason for unknown in facts.unknowns)
    if not reasons and facts.exempt is not None and facts.given is None:
        return Run(registered, (exemption(registered, facts.exempt),), subjects=subjects)
    if call.declared is not None and not over_rules:
        yes = Reason("declared", "its declaration as a hook is the answer", call.declared.source)
        return Run(registered, (yes,), Answer(True, HOOK), subjects=subjects)
    rule = answer_by_rule(opinion)
    if trail is not None:
        overruled = (_OVERRULED,) if rule is not None and over_rules else ()
        trail.append(Step("gate", Decision.ASK, reasons + overruled))
    if over_rules:
        rule = None
    return _answered(call, registered, reasons, rule, facts)


def _admitted(
    call: Call, snapshot: Snapshot, facts: Facts, trail: list[Step] | None
) -> Registered | Refuse:
    """The first steps: all that needs no arguments."""
    # 1. The name, in this turn's snapshot. Nothing but names of shown tools leaves this step.
    registered = snapshot.get(call.name)
    bounds = call.execution.bounds
    if registered is None:
        return _no_tool(call, snapshot, facts)
    limit = refusal(registered, bounds)
    if limit is not None and limit.code == "not_offered":
        return refusals.not_offered(registered, limit)
    given, fingerprint = facts.given, registered.definition.origin.fingerprint
    if given is not None and given.answer.approved and given.fingerprint != fingerprint.digest:
        return refusals.tool_changed(registered, "the definition")
    if (call.declared is not None or call.execution.entry == HOOK) and not _declared(
        call, registered
    ):
        return refusals.undeclared(registered)
    if trail is not None:
        _pass(trail, "name", "registered", "the name is registered and offered")

    # 2. What needs no arguments: deny rules by name, the ceiling.
    about = facts.about or facts.rules.about(registered.name)
    if about.denial is not None:
        return refusals.denied(registered, about.denial.reasons)
    if trail is not None:
        _pass(trail, "deny rules", "no_deny_rule", "no deny rule matches by name")
    if limit is not None:
        return refusals.above_ceiling(registered, limit)
    if trail is not None:
        _pass(trail, "ceiling", "within_ceiling", "the declared level is within the ceiling")
    return registered


def _declared(call: Call, registered: Registered) -> bool:
    """Whether a hook's own call is of the tool that its declaration names."""
    declared = call.declared
    return declared is not None and call.execution.entry == HOOK and declared.names(registered)


def _answered(
    call: Call,
    registered: Registered,
    reasons: tuple[Reason, ...],
    rule: Reason | None,
    facts: Facts,
) -> Verdict:
    """The answer to the gate's question, in the order in which answers count.

    A no that the session remembers counts before a rule's yes. `rule` is the allow rule that may
    answer: none does over an open unknown, a control file, an ask rule or a hook's ask. A grant
    does not answer over an open unknown either.
    """
    question, remembered = None, None
    if facts.grants or facts.given is not None:
        question = _question(call, registered, reasons, facts.subjects)
        remembered = matching(facts.grants, question)
        if remembered is not None and not remembered.approved:
            no = Answer(False, remembered.approver, Scope.SESSION, remembered.note)
            return refusals.said_no(registered, reasons, no)
        verdict = _by_given(registered, question, facts)
        if verdict is not None:
            return verdict
    subjects = facts.subjects
    if rule is not None:
        return Run(registered, (rule,), Answer(True, "rule"), subjects=subjects)
    if remembered is not None and not facts.unknowns:
        yes = Reason("grant", f"{remembered.approver} approved it for this session")
        return Run(registered, (yes,), Answer(True, "grant", Scope.SESSION), subjects=subjects)
    if not facts.answerers:
        return refusals.nobody_to_ask(registered, reasons)
    question = question or _question(call, registered, reasons, subjects)
    return Ask(registered, with_lasting(question, subjects) if facts.keeps else question)


def _by_given(registered: Registered, question: Question, facts: Facts) -> Verdict | None:
    """What an answer to this call's own question makes of it; None if more is asked by now."""
    given = facts.given
    if given is None:
        return None
    if not given.answer.approved:
        return refusals.said_no(registered, question.reasons, given.answer)
    if given.digest != question.digest:
        return refusals.tool_changed(registered, "what the arguments lead to")
    if not covers(given.concerns, question.reasons):
        return None
    return Run(registered, question.reasons, given.answer, given, facts.unknowns, facts.subjects)


def _question(
    call: Call, registered: Registered, reasons: tuple[Reason, ...], subjects: Subjects
) -> Question:
    execution = call.execution
    return Question(
        call_id=call.id,
        tool=registered.name,
        origin=registered.definition.origin,
        level=registered.side_effect_level,
        destructive=registered.is_destructive,
        arguments=call.arguments,
        digest=call_digest(registered, call.arguments, subjects),
        reasons=reasons,
        execution_id=execution.id,
        session_id=session_of(execution),
        principal=execution.principal,
        resolved=real_paths(subjects, call.arguments),
        agent=execution.agent,
    )


def _no_tool(call: Call, snapshot: Snapshot, facts: Facts) -> Refuse:
    """Why nothing is called that: its server is not there, or the name is no tool's."""
    server = server_of(call.name)
    if server is not None and server in facts.failed:
        present = (tool.definition.origin.server for tool in snapshot.tools)
        if server not in present:
            return refusals.server_not_there(call.name, server)
    return refusals.unknown_tool(
        call.name, near_tool_names(call.name, _usable(call, snapshot, facts))
    )


def _usable(call: Call, snapshot: Snapshot, facts: Facts) -> list[str]:
    """The names that advice may hold: what is shown, less what a rule denies outright."""
    return [
        tool.name
        for tool in shown(snapshot, call.execution.bounds)
        if facts.rules.about(tool.name).denial is None
    ]


def _pass(trail: list[Step], name: str, code: str, text: str) -> None:
    trail.append(Step(name, Decision.ALLOW, (Reason(code, text),)))


def _pass_rules(
    trail: list[Step], opinion: RuleOpinion, facts: Facts, dormant: tuple[Reason, ...]
) -> None:
    notes = tuple(note for note in opinion.notes if note.code != "no_answer")
    idle = (*(note for note in opinion.notes if note.code == "no_answer"), *dormant)
    reasons = opinion.reasons
    if not reasons:
        text = "no rule decides" if notes or idle else "no rule says anything"
        reasons = (Reason("no_rule", text),)
    if opinion.decision is Decision.ALLOW and facts.unknowns:
        reasons += (Reason("no_answer", "no rule answers while an outcome is unknown"),)
    head = (Reason("do_not_count", "these do not count here:"),) if idle else ()
    trail.append(
        Step("rules", opinion.decision or Decision.ALLOW, (*reasons, *notes, *head, *idle))
    )
