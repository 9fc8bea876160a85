"""All command rules about one tool, and what they say of a shell line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

from lockgate.decision import Decision, Reason
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.opinion import SILENT, RuleOpinion, failure_of, reason_of
from lockgate.rules.rule import Rule
from lockgate.tools.subject import Resolved

if TYPE_CHECKING:
    from lockgate.rules.command.line import Analysis

_NOT_ALLOWED: Final = "not_allowed"


class CommandRules:
    """Command rules by list, made ready to be held against lines. Immutable."""

    __slots__ = ("_allow", "_ask", "_deny", "_rule_of", "rules")

    def __init__(self, rules: Sequence[Rule]) -> None:
        """`rules` each have a command pattern for their subject."""
        self.rules = tuple(rules)
        self._allow = _patterns(rules, Decision.ALLOW)
        self._ask = _patterns(rules, Decision.ASK)
        self._deny = _patterns(rules, Decision.DENY)
        self._rule_of: Mapping[Reason, Rule] = MappingProxyType(
            {reason: rule for rule in reversed(rules) for reason in _reasons(rule)}
        )
        """The verdict on a line names patterns; here is which rule each reason comes from."""

    def having(self, more: Sequence[Rule]) -> Self:
        """These and some more."""
        return type(self)((*self.rules, *more)) if more else self

    def judge(self, line: Resolved | None) -> RuleOpinion:
        """What they say of a line, and what is doubtful about it by itself.

        `line` is an `Analysis`. Of anything else that is there it is not known what it runs.
        """
        # Late: the shell's grammar is only for those who have a tool that runs lines.
        from lockgate.rules.command.line import Analysis
        from lockgate.rules.command.verdict import judge

        if line is None:
            return SILENT
        if not isinstance(line, Analysis):
            strict = [rule for rule in self.rules if rule.decision is not Decision.ALLOW]
            return failure_of(strict) if strict else SILENT
        decided = judge(line, self._allow, self._deny, self._ask)
        reasons: list[Reason] = []
        deciding: dict[int, Rule] = {}
        missed: list[Reason] = []
        for reason in decided.reasons:
            if reason.code == _NOT_ALLOWED:
                missed.append(reason)
                continue
            rule = self._rule_of.get(reason)
            if rule is not None:
                deciding[id(rule)] = rule
            why = "" if rule is None else _where(line, rule)
            if rule is not None and rule.reason:
                why += f": {rule.reason}"
            reasons.append(Reason(reason.code, reason.text + why, reason.source) if why else reason)
        # That some command is not allowed is no question of its own, but what to know of it.
        notes = tuple(missed)
        if not reasons:
            return RuleOpinion(None, (), (), notes) if notes else SILENT
        return RuleOpinion(decided.decision, tuple(reasons), tuple(deciding.values()), notes)


def _where(line: Analysis, rule: Rule) -> str:
    """Which commands of a line a strict rule means, by number: a reason holds no word of them."""
    from lockgate.rules.command.verdict import numbered

    pattern = rule.subject
    if rule.decision is Decision.ALLOW or not isinstance(pattern, CommandPattern):
        return ""
    if not pattern.words:
        return ""  # each of them
    met = [n for n, one in enumerate(line.commands, 1) if pattern.catches(one)]
    return f" ({numbered(met, len(line.commands))})" if met and len(line.commands) > 1 else ""


def concerns(pattern: CommandPattern, line: Resolved | None) -> bool:
    """Whether a pattern means any command of a line for certain."""
    # Late: the shell's grammar is only for those who have a tool that runs lines.
    from lockgate.rules.command.line import Analysis

    return isinstance(line, Analysis) and any(pattern.allows(one) for one in line.commands)


def _patterns(rules: Sequence[Rule], decision: Decision) -> tuple[CommandPattern, ...]:
    return tuple(
        rule.subject
        for rule in rules
        if rule.decision is decision and isinstance(rule.subject, CommandPattern)
    )


def _reasons(rule: Rule) -> tuple[Reason, ...]:
    """What the verdict on a line says where it goes by this rule: it knows the pattern alone."""
    pattern = rule.subject
    if not isinstance(pattern, CommandPattern):
        return ()
    known = replace(rule, text=pattern.text, source=pattern.source, reason=None)
    may = f"the deny rule {pattern.text} may match"
    return (reason_of(known), Reason("deny_rule_may_match", may, pattern.source))


NO_COMMANDS: Final = CommandRules(())
"""Of a tool that no command rule speaks of."""
