"""Rules bound to the tools of a snapshot: what they say of a call costs one look-up.

A rule that speaks of a subject or a parameter which the tool has not is unbound: a deny or ask then
holds for the tool by its name alone, an allow says nothing (PB-177). `BoundRules.unbound` tells
them all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from lockgate.decision import Decision
from lockgate.rules.about import AboutTool
from lockgate.rules.matcher import SubjectPattern
from lockgate.rules.opinion import RuleOpinion
from lockgate.rules.pattern import ToolPattern
from lockgate.rules.rule import Rule, RuleSet
from lockgate.schema.shape import ELSEWHERE
from lockgate.tools.naming import server_prefix
from lockgate.tools.registry import Registered, Snapshot
from lockgate.tools.subject import NO_SUBJECTS, SubjectKind, Subjects

READING: Final = frozenset({"Grep", "Glob", "Edit"})
"""Tools of ours that a strict rule about `Read` holds for as well: they show or need what is in a
file."""
SEARCHING: Final = frozenset({"Grep", "Glob"})
"""Those that come upon files which no argument names: a strict rule of their own for a path also
means what they find."""
_UNBOUND: Final = "the tool has not what the rule speaks of, so it holds for every call"
_NOTHING: Final[Mapping[str, Any]] = {}


class BoundRules:
    """The rules, worked out for each tool of one snapshot. Immutable."""

    __slots__ = ("_by_tool", "_denies", "rules", "unbound")

    def __init__(
        self, rules: RuleSet, by_tool: Mapping[str, AboutTool], unbound: tuple[Rule, ...]
    ) -> None:
        self.rules = rules
        """What was bound."""
        self.unbound = unbound
        """Rules that match no tool of the snapshot, or speak of a subject or parameter which no
        tool that they name has; as they were written."""
        self._by_tool = by_tool
        self._denies = tuple(rule for rule in rules.rules if rule.decision is Decision.DENY)

    def about(self, tool_name: str) -> AboutTool:
        """All that is said of the tool registered as `tool_name`.

        A name outside the snapshot is judged by deny rules alone, and by name alone.
        """
        known = self._by_tool.get(tool_name)
        if known is not None:
            return known
        denies = [rule for rule in self._denies if _pattern(rule).matches_name(tool_name)]
        return AboutTool(None, [_by_name(rule) for rule in denies])

    def judge(
        self,
        tool_name: str,
        arguments: Mapping[str, Any],
        *,
        attended: bool,
        subjects: Subjects = NO_SUBJECTS,
        now: float = 0.0,
    ) -> RuleOpinion:
        """What the rules say of a call to the tool registered as `tool_name`.

        `attended` is whether a person is there to answer: an allow rule holds for the executions
        that its `when` names. `subjects` are the call's, resolved; `now` is Unix time, by which an
        allow rule may have ended.
        """
        return self.about(tool_name).judge(arguments, subjects, attended=attended, now=now)


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
    withheld: defaultdict[str, list[SubjectPattern]] = defaultdict(list)
    unbound: list[Rule] = []
    for rule in rules.rules:
        pattern = _pattern(rule)
        bound = False
        for tool in index.candidates(pattern):
            try:
                if not pattern.matches(tool.tool):
                    continue
                fits = _fits(rule, tool)
                bound = bound or fits
                if fits:
                    matching[tool.name].append(rule)
                    if tool.name in SEARCHING and _keeps_files(rule):
                        withheld[tool.name].append(rule.subject)  # pyright: ignore[reportArgumentType] - _keeps_files has looked: it is a path pattern
                elif rule.decision is not Decision.ALLOW:
                    matching[tool.name].append(_by_name(rule))
            except Exception:  # noqa: BLE001 - whatever goes wrong in a rule closes the door
                failed[tool.name].append(rule)
                bound = True
        if _keeps_from_reading(rule):
            for tool in index.reading:
                matching[tool.name].append(rule)
                bound = True
            for tool in index.naming if _keeps_files(rule) else ():
                withheld[tool.name].append(rule.subject)  # pyright: ignore[reportArgumentType] - _keeps_files has looked: it is a path pattern
        if not bound:
            unbound.append(rule)
    by_tool: dict[str, AboutTool] = {}
    for name, entry in snapshot.entries.items():
        try:
            by_tool[name] = AboutTool(entry, matching[name], failed[name], tuple(withheld[name]))
        except Exception:  # noqa: BLE001 - whatever goes wrong in a rule closes the door
            by_tool[name] = AboutTool(entry, (), matching[name])
    return BoundRules(rules, by_tool, tuple(unbound))


class _Index:
    """Finds the tools that a pattern can mean without looking at all of them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._of_server: defaultdict[str, list[Registered]] = defaultdict(list)
        self._of_original: defaultdict[tuple[str, str], list[Registered]] = defaultdict(list)
        self.reading: list[Registered] = []
        """Tools of ours that a strict rule about `Read` holds for as well."""
        self.naming: list[Registered] = []
        """Tools of ours that may name a file beside the one they were asked about."""
        for name, entry in snapshot.entries.items():
            origin = entry.definition.origin
            if origin.server is not None:
                self._of_server[origin.server].append(entry)
                self._of_original[origin.server, origin.original_name].append(entry)
            elif _kind(entry) is SubjectKind.PATH:
                self.naming.append(entry)
                if name in READING:
                    self.reading.append(entry)

    def candidates(self, pattern: ToolPattern) -> list[Registered]:
        if pattern.server is not None and pattern.tool is None:
            return self._of_server[pattern.server]
        found: list[Registered] = []
        name = pattern.tool or ""
        if pattern.server is not None:
            found += self._of_original[pattern.server, name]
            name = server_prefix(pattern.server) + name
        entry = self._snapshot.get(name)
        if entry is not None and entry not in found:
            found.append(entry)
        return found


def _pattern(rule: Rule) -> ToolPattern:
    return ToolPattern(rule.server, rule.tool)


def _by_name(rule: Rule) -> Rule:
    """A rule that has to hold, for every call of what it names."""
    if rule.bare:
        return rule
    reason = f"{rule.reason}; {_UNBOUND}" if rule.reason else _UNBOUND
    return replace(rule, subject=None, parameters=(), reason=reason)


def _kind(tool: Registered) -> SubjectKind | None:
    subjects = tool.definition.subjects
    return subjects[0].kind if subjects else None


def _keeps_from_reading(rule: Rule) -> bool:
    """Whether a rule keeps from reading, by whatever tool of ours; with or without files."""
    return rule.decision is not Decision.ALLOW and rule.server is None and rule.tool == "Read"


def _keeps_files(rule: Rule) -> bool:
    """Whether a rule that has to hold speaks of files."""
    return (
        rule.decision is not Decision.ALLOW
        and rule.subject is not None
        and rule.subject.kind is SubjectKind.PATH
    )


def _fits(rule: Rule, tool: Registered) -> bool:
    """Whether the tool is the one an allow rule is pinned to, and has what the rule speaks of."""
    if rule.pin is not None and tool.definition.origin.fingerprint.digest != rule.pin:
        return False
    if rule.subject is not None and rule.subject.kind is not _kind(tool):
        return False
    if not rule.parameters:
        return True
    schema = tool.definition.input_schema
    known = schema.get("properties", _NOTHING)
    if not ELSEWHERE.isdisjoint(schema) or not isinstance(known, Mapping):
        return True
    if schema.get("additionalProperties", not known) is not False:
        return True  # it says, or says nothing at all, of what else there may be
    return all(parameter.name in known for parameter in rule.parameters)
