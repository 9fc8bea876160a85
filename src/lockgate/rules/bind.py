"""Rules bound to the tools of a snapshot: what they say of a call costs one look-up.

deny > ask > allow > nothing, wherever they are written. A deny that matches no tool still holds by
name; an allow or ask that matches none says nothing; all of them are told by `unbound`. A rule that
fails while it is evaluated is a deny, with its reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lockgate.decision import Decision, Reason
from lockgate.rules.pattern import ToolPattern
from lockgate.rules.rule import Rule, RuleSet
from lockgate.tools.naming import server_prefix
from lockgate.tools.registry import Snapshot
from lockgate.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class RuleOpinion:
    """What the rules say of one call."""

    decision: Decision | None
    """The strictest of what matched; None if no rule says anything."""
    reasons: tuple[Reason, ...]
    """One for each rule that is as strict, with its source; empty exactly when nothing matched."""
    rules: tuple[Rule, ...]
    """The rules behind the reasons, in the same order."""


SILENT: Final = RuleOpinion(None, (), ())
"""No rule says anything."""


class BoundRules:
    """The rules, worked out for each tool of one snapshot. Immutable."""

    __slots__ = ("_denies", "_for_tool", "rules", "unbound")

    def __init__(
        self,
        rules: RuleSet,
        for_tool: Mapping[str, tuple[RuleOpinion, RuleOpinion]],
        unbound: tuple[Rule, ...],
    ) -> None:
        self.rules = rules
        """What was bound."""
        self.unbound = unbound
        """Rules that match no tool of the snapshot, as they were written."""
        self._for_tool = for_tool
        """By registered name: the opinion where a person is there to answer, and where none is."""
        self._denies = tuple(rule for rule in rules.rules if rule.decision is Decision.DENY)

    def judge(self, tool_name: str, arguments: Mapping[str, Any], *, attended: bool) -> RuleOpinion:
        """What the rules say of a call to the tool registered as `tool_name`.

        `attended` is whether a person is there to answer: an allow rule holds for the executions
        that its `when` names. A name outside the snapshot is judged by deny rules alone. Rules by
        name do not read `arguments`.
        """
        known = self._for_tool.get(tool_name)
        if known is not None:
            return known[0] if attended else known[1]
        return _opinion([rule for rule in self._denies if _pattern(rule).matches_name(tool_name)])


def bind(rules: RuleSet, snapshot: Snapshot) -> BoundRules:
    """Work out what `rules` say of every tool of `snapshot`.

    Kept with the snapshot, so binding the same rules to it again costs nothing.
    """
    # By identity: hashing two hundred rules for each call would cost more than judging by them.
    # The bound rules hold on to `rules`, so the number stays theirs.
    return snapshot.derived((bind, id(rules)), lambda: _bind(rules, snapshot))


def _bind(rules: RuleSet, snapshot: Snapshot) -> BoundRules:
    index = _Index(snapshot)
    matching: defaultdict[str, list[Rule]] = defaultdict(list)
    failed: defaultdict[str, list[Rule]] = defaultdict(list)
    unbound: list[Rule] = []
    for rule in rules.rules:
        pattern = _pattern(rule)
        bound = False
        for tool in index.candidates(pattern):
            try:
                matches = pattern.matches(tool)
            except Exception:  # noqa: BLE001 - whatever goes wrong in a rule closes the door
                failed[tool.name].append(rule)
                bound = True
                continue
            if matches:
                matching[tool.name].append(rule)
                bound = True
        if not bound:
            unbound.append(rule)
    for_tool = {name: _opinions(matching[name], failed[name]) for name in snapshot.entries}
    return BoundRules(rules, for_tool, tuple(unbound))


class _Index:
    """Finds the tools that a pattern can mean without looking at all of them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._of_server: defaultdict[str, list[Tool]] = defaultdict(list)
        self._of_original: defaultdict[tuple[str, str], list[Tool]] = defaultdict(list)
        for tool in snapshot.tools:
            origin = tool.definition.origin
            if origin.server is not None:
                self._of_server[origin.server].append(tool)
                self._of_original[origin.server, origin.original_name].append(tool)

    def candidates(self, pattern: ToolPattern) -> list[Tool]:
        if pattern.server is not None and pattern.tool is None:
            return self._of_server[pattern.server]
        found: list[Tool] = []
        name = pattern.tool or ""
        if pattern.server is not None:
            found += self._of_original[pattern.server, name]
            name = server_prefix(pattern.server) + name
        entry = self._snapshot.get(name)
        if entry is not None and entry.tool not in found:
            found.append(entry.tool)
        return found


def _pattern(rule: Rule) -> ToolPattern:
    return ToolPattern(rule.server, rule.tool)


def _opinions(matching: list[Rule], failed: list[Rule]) -> tuple[RuleOpinion, RuleOpinion]:
    if failed:
        failure = _failure(failed)
        return failure, failure
    if not matching:
        return SILENT, SILENT
    return (
        _opinion([rule for rule in matching if _holds(rule, attended=True)]),
        _opinion([rule for rule in matching if _holds(rule, attended=False)]),
    )


def _holds(rule: Rule, *, attended: bool) -> bool:
    if rule.decision is not Decision.ALLOW or rule.when == "any":
        return True
    return (rule.when == "attended") is attended


def _opinion(rules: list[Rule]) -> RuleOpinion:
    if not rules:
        return SILENT
    top = max(rule.decision for rule in rules)
    deciding = tuple(rule for rule in rules if rule.decision is top)
    return RuleOpinion(top, tuple(_reason(rule) for rule in deciding), deciding)


def _reason(rule: Rule) -> Reason:
    word = rule.decision.name.lower()
    return Reason(f"{word}_rule", f"the {word} rule {rule.text} matches", rule.source)


def _failure(rules: list[Rule]) -> RuleOpinion:
    reasons = tuple(
        Reason("rule_failed", f"the rule {rule.text} could not be evaluated", rule.source)
        for rule in rules
    )
    return RuleOpinion(Decision.DENY, reasons, tuple(rules))
