"""What the rules say of one call, with a reason for each rule that is behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lockgate.decision import Decision, Reason
from lockgate.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class RuleOpinion:
    """The strictest of what matched."""

    decision: Decision | None
    """None if no rule says anything."""
    reasons: tuple[Reason, ...]
    """One for each rule that is as strict, with its source; empty exactly when nothing matched."""
    rules: tuple[Rule, ...]
    """The rules behind the reasons, in the same order."""
    notes: tuple[Reason, ...] = ()
    """Allow rules that name the call and yet answer nothing, each with why; for reading."""


SILENT: Final = RuleOpinion(None, (), ())
"""No rule says anything."""


def opinion_of(rules: Sequence[Rule]) -> RuleOpinion:
    """The strictest of rules that match."""
    if not rules:
        return SILENT
    top = max(rule.decision for rule in rules)
    deciding = tuple(rule for rule in rules if rule.decision is top)
    return RuleOpinion(top, tuple(reason_of(rule) for rule in deciding), deciding)


def reason_of(rule: Rule) -> Reason:
    """That a rule matches, and why it was written if it says so."""
    word = rule.decision.name.lower()
    why = f": {rule.reason}" if rule.reason else ""
    return Reason(f"{word}_rule", f"the {word} rule {rule.label} matches{why}", rule.source)


def failure_of(rules: Sequence[Rule]) -> RuleOpinion:
    """Rules that could not be evaluated: whatever goes wrong in a rule closes the door."""
    reasons = tuple(
        Reason("rule_failed", f"the rule {rule.label} could not be evaluated", rule.source)
        for rule in rules
    )
    return RuleOpinion(Decision.DENY, reasons, tuple(rules))
