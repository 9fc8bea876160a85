"""Whether a rule means a call, command rules aside: those are about each command of a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from lockgate.decision import Decision
from lockgate.rules.matcher import Match, SubjectPattern
from lockgate.rules.rule import Rule
from lockgate.tools.subject import Resolved, Subjects


def means(
    rule: Rule, arguments: Mapping[str, Any], subjects: Subjects, subject: Resolved | None
) -> Match:
    """How far `rule` means a call with `arguments`: YES or NO for an allow rule.

    `subjects` are the call's, resolved, and `subject` the first one that its tool declares. An
    argument that is absent satisfies no rule, whatever its list (S0-08).
    """
    allow = rule.decision is Decision.ALLOW
    if rule.exact and allow and not _says_all(rule, arguments, subjects):
        return Match.NO
    if rule.subject is not None:
        if subject is None:
            return Match.NO
        # The protocol is the same for commands; they only never come here.
        return _of_subject(cast("SubjectPattern", rule.subject), subject, allow=allow)
    least = Match.YES
    for parameter in rule.parameters:
        name = parameter.name
        if name not in arguments:
            return Match.NO
        value, resolved = arguments[name], subjects.get(name)
        if allow:
            if not parameter.pattern.allows(value, resolved):
                return Match.NO
        else:
            found = parameter.pattern.catches(value, resolved)
            if found is Match.NO:
                return Match.NO
            least = min(least, found)
    return least


def _says_all(rule: Rule, arguments: Mapping[str, Any], subjects: Subjects) -> bool:
    """Whether an exact rule names every argument of a call, and its paths are as written."""
    named = {parameter.name for parameter in rule.parameters}
    return named.issuperset(arguments) and subjects.as_written


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
