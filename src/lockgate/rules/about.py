"""All that the rules say about one tool: at once where the arguments do not matter, else by call.

deny > ask > allow > nothing. A deny that only may match asks. A rule that fails while it is
evaluated is a deny, with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from lockgate.decision import Decision, Reason
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.matcher import Match, SubjectPattern
from lockgate.rules.opinion import SILENT, RuleOpinion, failure_of, opinion_of
from lockgate.rules.rule import Rule
from lockgate.tools.registry import Registered
from lockgate.tools.subject import Resolved, SubjectKind, Subjects

_NO_ANSWER: Final = "no_answer"
_NOT_ALLOWED: Final = "not_allowed"


class AboutTool:
    """The rules that can say something of one tool. Immutable."""

    __slots__ = (
        "_bare",
        "_by_call",
        "_destructive",
        "_first",
        "denial",
        "fixed",
        "paths",
        "withheld",
    )

    def __init__(
        self,
        tool: Registered | None,
        rules: Sequence[Rule],
        failed: Sequence[Rule] = (),
        withheld: tuple[SubjectPattern, ...] = (),
    ) -> None:
        """`rules` match `tool` by name; `failed` could not be looked at. `withheld` are patterns of
        files that a search leaves out."""
        subjects = () if tool is None else tool.definition.subjects
        self._first = subjects[0] if subjects else None
        self._destructive = tool is not None and tool.is_destructive
        self._bare = tuple([rule for rule in rules if rule.bare])
        self._by_call = tuple([rule for rule in rules if not rule.bare])
        if any(rule.until is not None for rule in self._bare):
            self._bare, self._by_call = (), tuple(rules)
        self.withheld = withheld
        self.paths: frozenset[str] = frozenset(
            parameter.name
            for rule in self._by_call
            for parameter in rule.parameters
            if parameter.pattern.kind is SubjectKind.PATH
        )
        """Names of arguments that are to be resolved as paths, beside the tool's own subjects."""
        denial = failure_of(failed) if failed else None
        if denial is None:
            bare = opinion_of([rule for rule in self._bare if rule.decision is Decision.DENY])
            denial = bare if bare.decision is not None else None
        self.denial: RuleOpinion | None = denial
        """What refuses every call of the tool, whatever its arguments."""
        self.fixed: tuple[RuleOpinion, RuleOpinion] | None = None
        """The opinion where a person is there to answer, and where none is, if it is the same for
        every call; else None."""
        if denial is not None:
            self.fixed = denial, denial
        elif not self._by_call:
            self.fixed = self._of_bare(attended=True), self._of_bare(attended=False)

    def judge(
        self, arguments: Mapping[str, Any], subjects: Subjects, *, attended: bool, now: float
    ) -> RuleOpinion:
        """What the rules say of a call. Never raises."""
        if self.fixed is not None:
            return self.fixed[not attended]
        call = _Call(arguments, subjects, self._first and subjects.get(self._first.parameter))
        found = _Found()
        for rule in (*self._bare, *self._by_call):
            try:
                if _holds(rule, attended=attended, now=now):
                    self._add(found, rule, call)
            except Exception:  # noqa: BLE001 - whatever goes wrong in a rule closes the door
                return failure_of((rule,))
        of_line = self._first is not None and self._first.kind is SubjectKind.COMMAND
        return found.opinion(call.subject, of_line=of_line)

    def whatever(self, *, attended: bool) -> RuleOpinion:
        """What the rules say whatever the arguments; the others are named in the notes."""
        if self.fixed is not None:
            return self.fixed[not attended]
        known = self._of_bare(attended=attended)
        notes = tuple(
            Reason("by_call", f"the rule {rule.text} depends on the call", rule.source)
            for rule in self._by_call
        )
        return RuleOpinion(known.decision, known.reasons, known.rules, (*known.notes, *notes))

    def _of_bare(self, *, attended: bool) -> RuleOpinion:
        found = _Found()
        call = _Call({}, Subjects(), None)
        for rule in self._bare:
            if _holds(rule, attended=attended, now=0.0):
                self._add(found, rule, call)
        return found.opinion(None, of_line=False)

    def _add(self, found: _Found, rule: Rule, call: _Call) -> None:
        """Put `rule` where it belongs for a call."""
        subject = rule.subject
        if isinstance(subject, CommandPattern):
            if call.subject is None:
                return
            if rule.decision is Decision.ALLOW and not self._answers(found, rule, call):
                return
            found.commands[rule.decision].append((subject, rule))
            return
        match = _match(rule, call)
        if match is Match.NO:
            return
        if match is Match.MAYBE and rule.decision is Decision.DENY:
            found.doubts.append(rule)
        elif rule.decision is not Decision.ALLOW or self._answers(found, rule, call):
            found.matching.append(rule)

    def _answers(self, found: _Found, rule: Rule, call: _Call) -> bool:
        """Whether an allow rule that matches may answer; if not, it is noted why (S0-08)."""
        if not self._destructive:
            return True
        if not rule.destructive or rule.tool is None:
            why = "does not say destructive: true" if rule.tool else "names no single tool"
        elif not rule.constrains(call.arguments):
            why = "does not constrain every argument of the call, nor ends in ..."
        else:
            return True
        text = f"the allow rule {rule.text} answers for no destructive call: it {why}"
        found.notes.append(Reason(_NO_ANSWER, text, rule.source))
        return False


class _Call:
    """What rules are held against."""

    __slots__ = ("arguments", "subject", "subjects")

    def __init__(
        self, arguments: Mapping[str, Any], subjects: Subjects, subject: Resolved | None
    ) -> None:
        self.arguments = arguments
        self.subjects = subjects
        self.subject = subject


class _Found:
    """Rules that say something of one call."""

    __slots__ = ("commands", "doubts", "matching", "notes")

    def __init__(self) -> None:
        self.matching: list[Rule] = []
        self.doubts: list[Rule] = []
        """Deny rules that only may match."""
        self.commands: dict[Decision, list[tuple[CommandPattern, Rule]]] = {
            decision: [] for decision in Decision
        }
        self.notes: list[Reason] = []

    def opinion(self, subject: Resolved | None, *, of_line: bool) -> RuleOpinion:
        """The strictest of them."""
        opinions = [opinion_of(self.matching)]
        if self.doubts:
            reasons = tuple(
                Reason("deny_rule_may_match", f"the deny rule {rule.text} may match", rule.source)
                for rule in self.doubts
            )
            opinions.append(RuleOpinion(Decision.ASK, reasons, tuple(self.doubts)))
        if of_line:
            opinions.append(self._of_line(subject))
        top = max((o.decision for o in opinions if o.decision is not None), default=None)
        notes = (*self.notes, *(note for o in opinions for note in o.notes))
        if top is None and not notes:
            return SILENT
        deciding = [o for o in opinions if o.decision is not None and o.decision is top]
        return RuleOpinion(
            top,
            tuple(reason for o in deciding for reason in o.reasons),
            tuple(rule for o in deciding for rule in o.rules),
            notes,
        )

    def _of_line(self, subject: Resolved | None) -> RuleOpinion:
        """What command rules say of a shell line, and what is doubtful about it by itself."""
        # Late: the shell's grammar is only for those who have a tool that runs lines.
        from lockgate.rules.command.line import Analysis
        from lockgate.rules.command.verdict import judge as judge_line

        if not isinstance(subject, Analysis):
            return SILENT
        rules = {id(pattern): rule for found in self.commands.values() for pattern, rule in found}
        lists = {d: [pattern for pattern, _ in found] for d, found in self.commands.items()}
        decided = judge_line(
            subject, lists[Decision.ALLOW], lists[Decision.DENY], lists[Decision.ASK]
        )
        reasons = tuple(reason for reason in decided.reasons if reason.code != _NOT_ALLOWED)
        # That some command is not allowed is no question of its own, but what to know of it.
        missed = tuple(reason for reason in decided.reasons if reason.code == _NOT_ALLOWED)
        notes = missed if lists[Decision.ALLOW] else ()
        if not reasons:
            return RuleOpinion(None, (), (), notes) if notes else SILENT
        sources = {reason.source for reason in reasons}
        deciding = tuple(rule for rule in rules.values() if rule.source in sources)
        return RuleOpinion(decided.decision, reasons, deciding, notes)


def _holds(rule: Rule, *, attended: bool, now: float) -> bool:
    """Whether a rule says anything at this time, in this kind of execution."""
    if rule.decision is not Decision.ALLOW:
        return True
    if rule.until is not None and not now < rule.until:
        return False
    return rule.when == "any" or (rule.when == "attended") is attended


def _match(rule: Rule, call: _Call) -> Match:
    """How far a rule means a call: for allow, YES or NO."""
    allow = rule.decision is Decision.ALLOW
    if rule.exact and allow and not _says_all(rule, call):
        return Match.NO
    if rule.subject is not None and not isinstance(rule.subject, CommandPattern):
        if call.subject is None:
            return Match.NO
        return _of_subject(rule.subject, call.subject, allow=allow)
    least = Match.YES
    for parameter in rule.parameters:
        if parameter.name not in call.arguments:
            return Match.NO
        value, resolved = call.arguments[parameter.name], call.subjects.get(parameter.name)
        if allow:
            if not parameter.pattern.allows(value, resolved):
                return Match.NO
        else:
            least = min(least, parameter.pattern.catches(value, resolved))
    return least


def _says_all(rule: Rule, call: _Call) -> bool:
    """Whether an exact rule names every argument of a call, and its paths are as written."""
    named = {parameter.name for parameter in rule.parameters}
    return named.issuperset(call.arguments) and call.subjects.as_written


def _of_subject(pattern: SubjectPattern, subject: Resolved, *, allow: bool) -> Match:
    if isinstance(subject, tuple):  # an array: all of it for an allow, any of it for the others
        several = cast("tuple[Resolved, ...]", subject)
        if allow:
            whole = bool(several) and all(pattern.allows(one) for one in several)
            return Match.YES if whole else Match.NO
        return max((pattern.catches(one) for one in several), default=Match.NO)
    if allow:
        return Match.YES if pattern.allows(subject) else Match.NO
    return pattern.catches(subject)
