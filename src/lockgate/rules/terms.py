"""What a rule says besides its text, and whether it may: most of all what an allow rule has to say
to answer for a call that can destroy (S0-08)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lockgate.decision import Decision
from lockgate.rules.in_tree import IN_TREE
from lockgate.rules.pattern import PatternError
from lockgate.rules.rule import Rule
from lockgate.tools.subject import SubjectKind

_PIN: Final = re.compile(r"[0-9a-f]{64}")
_NOWHERE: Final = -1
"""For what is not at any character of the rule."""
_EXAMPLE: Final[Mapping[SubjectKind, str]] = {
    SubjectKind.COMMAND: "git status:*",
    SubjectKind.PATH: "./docs/**",
    SubjectKind.URL: "domain:example.com",
}


def check_terms(rule: Rule, *, says_when: bool) -> None:
    """Refuse what `rule` may not say, or has to say and does not. Raises `PatternError`."""
    if rule.reason is not None and not rule.reason.strip():
        raise _fault("has an empty reason", "say why it is there, or leave the key out")
    if rule.decision is not Decision.ALLOW:
        _check_strict(rule, says_when=says_when)
    else:
        _check_allow(rule)


def _check_strict(rule: Rule, *, says_when: bool) -> None:
    said = {
        "when": says_when,
        "until": rule.until is not None,
        "destructive": rule.destructive,
        "pin": rule.pin is not None,
        "exact": rule.exact,
    }
    if words := [word for word, is_said in said.items() if is_said]:
        listed = ", ".join(words)
        kind = rule.decision.name.lower()
        raise _fault(f"is in the list {kind} and says {listed}: it always holds", "leave it out")


def _check_allow(rule: Rule) -> None:
    for word, is_said in (
        ("destructive: true", rule.destructive),
        ("pin", rule.pin is not None),
        ("exact: true", rule.exact),
    ):
        if is_said and rule.tool is None:
            raise _fault(f"says {word} and names a whole server", "name exactly one tool")
    if rule.pin is not None and not _PIN.fullmatch(rule.pin):
        raise _fault("has a pin that is not 64 hexadecimal digits in lower case")
    if rule.exact and (rule.rest or rule.subject is not None):
        raise _fault(
            "says exact: true and leaves something open",
            "name every argument of the call: name=value, ...",
        )
    ours = IN_TREE.get(rule.tool or "") if rule.server is None else None
    needed = ours is not None and ours.destructive
    if needed and not rule.destructive:
        raise _fault(
            f"does not say destructive: true, and {rule.tool} can overwrite, remove or invalidate"
            " things",
            f'write {{rule: "{_narrow(rule)}", destructive: true}}',
        )
    if rule.destructive and not _constrains(rule):
        raise _fault(
            "says destructive: true and constrains nothing",
            f"write {_narrow(rule, anew=True)}, or {_head(rule)}(...) if every call is meant",
        )


def _constrains(rule: Rule) -> bool:
    if rule.rest or rule.exact:
        return True
    if rule.subject is not None:
        return rule.subject.constrains
    return any(parameter.pattern.constrains for parameter in rule.parameters)


def _narrow(rule: Rule, *, anew: bool = False) -> str:
    """The rule as it should be written, or an example of one that constrains something."""
    if not anew and _constrains(rule):
        return rule.text
    ours = IN_TREE.get(rule.tool or "") if rule.server is None else None
    inside = _EXAMPLE[ours.subject] if ours is not None and ours.subjects else "name=pattern"
    return f"{_head(rule)}({inside})"


def _head(rule: Rule) -> str:
    return rule.text.partition("(")[0]


def _fault(message: str, hint: str | None = None) -> PatternError:
    return PatternError(message, _NOWHERE, hint)
