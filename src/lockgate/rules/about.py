"""All that the rules say about one tool: at once where the arguments do not matter, else by call.

deny > ask > allow > nothing. A deny that only may match asks. A rule that fails while it is
evaluated is a deny, with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from lockgate.decision import Decision, Reason
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.lines import NO_COMMANDS, CommandRules, concerns
from lockgate.rules.matcher import Match, SubjectPattern
from lockgate.rules.meaning import means
from lockgate.rules.opinion import SILENT, RuleOpinion, failure_of, opinion_of
from lockgate.rules.path import PathPattern
from lockgate.rules.rule import Rule
from lockgate.tools.registry import Registered
from lockgate.tools.subject import Resolved, Subject, SubjectKind, Subjects

_NO_ANSWER: Final = "no_answer"
_UNRESOLVED: Final = object()
"""A subject that is there and was not resolved: nothing is known of it, so nothing is allowed and
whatever has to hold holds."""


class AboutTool:
    """The rules that can say something of one tool. Immutable."""

    __slots__ = ("_allowing", "_dated", "_first", "_views", "denial", "fixed", "paths", "withheld")

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
        destructive = tool is not None and tool.is_destructive
        self._first: Subject | None = subjects[0] if subjects else None
        self._allowing = tuple([rule for rule in rules if rule.decision is Decision.ALLOW])
        self._dated = tuple([rule for rule in rules if rule.until is not None])
        lasting = [rule for rule in rules if rule.until is None]
        self._views = tuple(
            _View([rule for rule in lasting if _answers_in(rule, attended)], destructive)
            for attended in (True, False)
        )
        """Where a person is there to answer, and where none is; without rules that end."""
        self.withheld = withheld
        self.paths: tuple[str, ...] = tuple(
            sorted(
                {
                    parameter.name
                    for rule in rules
                    for parameter in rule.parameters
                    if parameter.pattern.kind is SubjectKind.PATH
                }
            )
        )
        """Names of arguments that are to be resolved as paths, beside the tool's own subjects; in
        one order everywhere, as digests and explanations go by it."""
        denial = failure_of(failed) if failed else None
        if denial is None:
            bare = [rule for rule in rules if rule.bare and rule.decision is Decision.DENY]
            denial = opinion_of(bare) if bare else None
        self.denial: RuleOpinion | None = denial
        """What refuses every call of the tool, whatever its arguments."""
        self.fixed: tuple[RuleOpinion, RuleOpinion] | None = None
        """The opinion where a person is there to answer, and where none is, if it is the same for
        every call; else None."""
        lines = self._first is not None and self._first.kind is SubjectKind.COMMAND
        if denial is not None:
            self.fixed = denial, denial
        elif not lines and not self._dated and all(view.is_fixed for view in self._views):
            self.fixed = self._views[0].always, self._views[1].always

    def judge(
        self, arguments: Mapping[str, Any], subjects: Subjects, *, attended: bool, now: float
    ) -> RuleOpinion:
        """What the rules say of a call. Never raises."""
        if self.fixed is not None:
            return self.fixed[not attended]
        view = self._views[not attended]
        if self._dated:
            live = [rule for rule in self._dated if rule.until is not None and now < rule.until]
            view = view.having([rule for rule in live if _answers_in(rule, attended)])
        subject: Resolved | None = None
        first = self._first
        if first is not None:
            subject = subjects.get(first.parameter)
            if subject is None and first.parameter in arguments:
                subject = _UNRESOLVED
        opinion = view.judge(arguments, subjects, subject)
        if first is None or first.kind is not SubjectKind.COMMAND:
            return opinion
        try:
            of_line = view.commands.judge(subject)
        except Exception:  # noqa: BLE001 - whatever goes wrong in a rule closes the door
            return failure_of(view.commands.rules) if view.commands.rules else opinion
        return _strictest(opinion, of_line)

    def may_come_upon(self, subjects: Subjects) -> bool:
        """Whether a call may come upon a file that is withheld from it, in a directory that its
        arguments name: what it finds there is not known before it runs."""
        patterns = [pattern for pattern in self.withheld if isinstance(pattern, PathPattern)]
        return any(pattern.may_lie_below(p) for pattern in patterns for _, p in subjects.paths)

    def dormant(
        self, arguments: Mapping[str, Any], subjects: Subjects, *, attended: bool, now: float
    ) -> tuple[Reason, ...]:
        """The allow rules that mean a call and do not hold for it now, each with why; for reading.

        Of command rules, those that mean any command of the line.
        """
        subject = None if self._first is None else subjects.get(self._first.parameter)
        found: list[Reason] = []
        for rule in self._allowing:
            ended = rule.until is not None and now >= rule.until
            elsewhere = not _answers_in(rule, attended)
            if not (ended or elsewhere) or not _concerns(rule, arguments, subjects, subject):
                continue
            why = "has ended" if ended else f"answers in {rule.when} runs alone"
            found.append(Reason("rule_dormant", f"the allow rule {rule.label} {why}", rule.source))
        return tuple(found)

    def whatever(self, *, attended: bool) -> RuleOpinion:
        """What the rules say whatever the arguments; the others are named in the notes."""
        if self.fixed is not None:
            return self.fixed[not attended]
        view = self._views[not attended]
        known = view.always
        dated = [rule for rule in self._dated if _answers_in(rule, attended)]
        notes = [(rule, "depends on the call") for rule in view.by_call]
        notes += [(rule, "depends on the call") for rule in view.commands.rules]
        notes += [(rule, "depends on the time") for rule in dated]
        told = (
            Reason("by_call", f"the rule {rule.label} {why}", rule.source) for rule, why in notes
        )
        return RuleOpinion(known.decision, known.reasons, known.rules, (*known.notes, *told))


class _View:
    """Rules that hold in one kind of execution, sorted by what they need to know. Immutable."""

    __slots__ = ("_destructive", "_rules", "always", "by_call", "commands")

    def __init__(self, rules: Sequence[Rule], destructive: bool) -> None:
        self._rules = rules
        self._destructive = destructive
        always: list[Rule] = []
        by_call: list[Rule] = []
        commands: list[Rule] = []
        notes: list[Reason] = []
        for rule in rules:
            if not rule.bare and not isinstance(rule.subject, CommandPattern):
                by_call.append(rule)
            elif (note := self._silenced(rule, {})) is not None:
                notes.append(note)
            else:
                (always if rule.bare else commands).append(rule)
        self.by_call = tuple(by_call)
        self.commands = CommandRules(commands) if commands else NO_COMMANDS
        found = opinion_of(always)
        self.always = RuleOpinion(found.decision, found.reasons, found.rules, tuple(notes))
        """What is said of every call."""
        if found is SILENT and not notes:
            self.always = SILENT

    @property
    def is_fixed(self) -> bool:
        """Whether the same is said of every call that is no shell line."""
        return not self.by_call and not self.commands.rules

    def having(self, more: Sequence[Rule]) -> _View:
        """The same with some more rules."""
        return _View((*self._rules, *more), self._destructive) if more else self

    def judge(
        self, arguments: Mapping[str, Any], subjects: Subjects, subject: Resolved | None
    ) -> RuleOpinion:
        """What they say of a call, command rules aside."""
        matching: list[Rule] = []
        doubts: list[Rule] = []
        notes: list[Reason] = []
        for rule in self.by_call:
            try:
                match = means(rule, arguments, subjects, subject)
                if match is Match.NO:
                    continue
                note = self._silenced(rule, arguments)
            except Exception:  # noqa: BLE001 - whatever goes wrong in a rule closes the door
                return failure_of((rule,))
            if note is not None:
                notes.append(note)
            elif match is Match.MAYBE and rule.decision is Decision.DENY:
                doubts.append(rule)
            else:
                matching.append(rule)
        if not matching and not doubts and not notes:
            return self.always
        found = opinion_of(matching)
        told = RuleOpinion(found.decision, found.reasons, found.rules, tuple(notes))
        return _strictest(self.always, told, _doubtful(doubts))

    def _silenced(self, rule: Rule, arguments: Mapping[str, Any]) -> Reason | None:
        """Why an allow rule that means a call may not answer for it, or None (S0-08)."""
        if rule.decision is not Decision.ALLOW or not self._destructive:
            return None
        if not rule.destructive or rule.tool is None:
            why = "does not say destructive: true" if rule.tool else "names no single tool"
        elif not rule.constrains(arguments):
            why = "does not constrain every argument of the call, nor ends in ..."
        else:
            return None
        text = f"the allow rule {rule.label} answers for no destructive call: it {why}"
        return Reason(_NO_ANSWER, text, rule.source)


def _concerns(
    rule: Rule, arguments: Mapping[str, Any], subjects: Subjects, subject: Resolved | None
) -> bool:
    """Whether an allow rule means a call, or any command of its line."""
    try:
        if isinstance(rule.subject, CommandPattern):
            return concerns(rule.subject, subject)
        return means(rule, arguments, subjects, subject) is Match.YES
    except Exception:  # noqa: BLE001 - it decides nothing, so nothing has to be closed
        return False


def _answers_in(rule: Rule, attended: bool) -> bool:
    """Whether a rule says anything in this kind of execution."""
    if rule.decision is not Decision.ALLOW or rule.when == "any":
        return True
    return (rule.when == "attended") is attended


def _doubtful(rules: Sequence[Rule]) -> RuleOpinion:
    """Deny rules that only may match: a question."""
    if not rules:
        return SILENT
    reasons = tuple(
        Reason("deny_rule_may_match", f"the deny rule {rule.text} may match", rule.source)
        for rule in rules
    )
    return RuleOpinion(Decision.ASK, reasons, tuple(rules))


def _strictest(*opinions: RuleOpinion) -> RuleOpinion:
    """Several opinions made one: the reasons of those that are as strict as any, and all notes."""
    said = [opinion for opinion in opinions if opinion.decision is not None]
    top = max((opinion.decision for opinion in said if opinion.decision is not None), default=None)
    notes = _all(opinion.notes for opinion in opinions)
    if top is None and not notes:
        return SILENT
    deciding = [opinion for opinion in said if opinion.decision is top]
    return RuleOpinion(
        top,
        _all(opinion.reasons for opinion in deciding),
        tuple(rule for opinion in deciding for rule in opinion.rules),
        notes,
    )


def _all(reasons: Iterable[tuple[Reason, ...]]) -> tuple[Reason, ...]:
    return tuple(reason for several in reasons for reason in several)
