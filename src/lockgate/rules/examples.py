"""The examples that a rule carries: calls that it has to mean, and calls that it must not.

They are held against the rule itself, as it is read and before any tool is there: paths by the
letter, and a tool's destructiveness as the rule takes it to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from lockgate.decision import Decision
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.matcher import Match
from lockgate.rules.meaning import means
from lockgate.rules.pattern import ToolPattern
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule
from lockgate.rules.url import resolve_url
from lockgate.tools.subject import NO_SUBJECTS, Resolved, SubjectKind, Subjects


def example_fault(rule: Rule, example: object, *, meant: bool, places: Places) -> str | None:
    """Why an example of `rule` does not hold, or None if it does.

    `example` is a text or an object of arguments; `meant` is whether the rule has to mean it. The
    text goes on from "the example".
    """
    wanted = _wanted(rule)
    takes_text = rule.bare or rule.subject is not None
    if not isinstance(example, str if takes_text else Mapping):
        return f"is to be {wanted}"
    try:
        found = _meaning(rule, cast("object", example), places)
    except Exception as error:  # noqa: BLE001 - a rule that fails on a call would refuse it
        return f"can not be held against the rule ({type(error).__name__})"
    if found is Match.MAYBE:
        return "may be meant, which only shows when it runs: such a call is asked about"
    if meant is not (found is Match.YES):
        return "is not meant by the rule" if meant else "is meant by the rule"
    return None


def _wanted(rule: Rule) -> str:
    if rule.bare:
        return "the name of a tool"
    if rule.subject is None:
        return "arguments, as in {name: value}"
    match rule.subject.kind:
        case SubjectKind.COMMAND:
            return "a command line"
        case SubjectKind.PATH:
            return "a path"
        case SubjectKind.URL:
            return "an address"


def _meaning(rule: Rule, example: object, places: Places) -> Match:
    if isinstance(example, Mapping):
        return _of_arguments(rule, cast("Mapping[str, Any]", example), places)
    text = str(example)
    subject = rule.subject
    if subject is None:
        named = ToolPattern(rule.server, rule.tool).matches_name(text)
        return Match.YES if named else Match.NO
    if isinstance(subject, CommandPattern):
        return _of_line(rule, subject, text)
    resolved: Resolved = (
        places.resolved(text) if subject.kind is SubjectKind.PATH else resolve_url(text)
    )
    return means(rule, {}, NO_SUBJECTS, resolved)


def _of_arguments(rule: Rule, arguments: Mapping[str, Any], places: Places) -> Match:
    found: dict[str, Resolved] = {}
    for parameter in rule.parameters:
        value = arguments.get(parameter.name)
        if parameter.pattern.kind is not SubjectKind.PATH:
            continue
        if isinstance(value, str):
            found[parameter.name] = places.resolved(value)
        elif isinstance(value, list):
            texts = cast("list[Any]", value)
            found[parameter.name] = tuple(places.resolved(t) for t in texts if isinstance(t, str))
    if rule.destructive and not rule.constrains(arguments):
        return Match.NO
    return means(rule, arguments, Subjects(found), None)


def _of_line(rule: Rule, pattern: CommandPattern, line: str) -> Match:
    # Late: the shell's grammar is only for those who have a tool that runs lines.
    from lockgate.rules.command.line import analyse
    from lockgate.rules.command.verdict import caught, judge

    analysis = analyse(line)
    if rule.decision is not Decision.ALLOW:
        return caught(analysis, pattern)
    allowed = judge(analysis, (pattern,)).decision is Decision.ALLOW
    return Match.YES if allowed else Match.NO
