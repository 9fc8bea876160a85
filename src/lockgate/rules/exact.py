"""The rule for exactly one call: what an answer for always is written down as, and how it is read.

Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from lockgate.rules.matcher import Match, Parameter
from lockgate.rules.pattern import PatternError, parse_pattern
from lockgate.rules.rule import Rule
from lockgate.rules.values import ExactValue, same
from lockgate.showing import holds_secret, looks_secret, visible
from lockgate.tools.subject import Resolved, SubjectKind

MAX_RULE: Final = 2_000
"""Characters that a rule may have: what is longer nobody reads before it is written."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.$-]*")
"""Arguments that a rule names without quotes."""
_GAP: Final = re.compile(r" {25,}")
"""White space that looks like the end of a text, and is not."""
_PLAIN: Final = frozenset({"\n", "\t"})
"""Characters that are shown as escapes and may still be written: JSON has words for them."""


def exact_rule_text(tool_name: str, arguments: Mapping[str, Any]) -> str | None:
    """`Tool(name=VALUE, ...)` with every argument as a JSON literal, in the order of the call;
    `Tool()` for a call without arguments.

    None where it can not or should not be written: a tool or an argument whose name no rule can
    say, over 2,000 characters, characters that an eye does not see, and whatever looks like a
    secret, by its name or by itself: a secret must never get into a file of rules.

    Read as an exact rule (`Rule.exact`) it means this call and no other.
    """
    try:
        pattern = parse_pattern(tool_name)
    except PatternError:
        return None
    if pattern.tool is None or not _fit_to_write(arguments):
        return None
    values = (f"{_named(name)}={_literal(value)}" for name, value in arguments.items())
    text = f"{tool_name}({', '.join(values)})"
    return text if len(text) <= MAX_RULE and visible(text) == text else None


@dataclass(frozen=True, slots=True)
class OneValue:
    """One JSON value and no other: where any pattern else means an array of it as well."""

    text: str
    value: Any = field(repr=False)

    @property
    def kind(self) -> SubjectKind | None:
        """Nothing is resolved for it."""
        return None

    @property
    def constrains(self) -> bool:
        """It is one value."""
        return True

    def allows(self, value: Any, resolved: Resolved | None) -> bool:
        """Whether `value` is it."""
        del resolved
        return same(value, self.value)

    def catches(self, value: Any, resolved: Resolved | None) -> Match:
        """The same: an exact rule is an allow rule."""
        return Match.YES if self.allows(value, resolved) else Match.NO


def exactly(rule: Rule) -> Rule:
    """An exact rule in which each argument is the one value that is written, as JSON.

    Raises `PatternError` for a pattern of another kind: it would mean more than one call.
    """
    read: list[Parameter] = []
    for parameter in rule.parameters:
        pattern = parameter.pattern
        if not isinstance(pattern, ExactValue):
            raise PatternError(
                f"says exact: true, and its argument {parameter.name!r} is no JSON value",
                -1,
                f"write {parameter.name}={json.dumps(pattern.text, ensure_ascii=False)} if this"
                " text is meant",
            )
        read.append(Parameter(parameter.name, OneValue(pattern.text, pattern.value)))
    return replace(rule, parameters=tuple(read))


def _named(name: str) -> str:
    return name if _NAME.fullmatch(name) else _literal(name)


def _literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _fit_to_write(arguments: Mapping[str, Any]) -> bool:
    """Whether nothing in them is a secret, hidden from the eye, or too much to be looked through.

    Values that are not there (null, a switch, nothing) are no secret under any name.
    """
    waiting: list[tuple[bool, Any]] = [
        (looks_secret(name), value) for name, value in arguments.items()
    ]
    left = MAX_RULE - sum(map(len, arguments))
    if left < 0 or not all(name and _readable(name) for name in arguments):
        return False
    while waiting:
        secret, value = waiting.pop()
        left -= 1
        if isinstance(value, Mapping):
            members = cast("Mapping[str, Any]", value)
            left -= sum(map(len, members))
            if left < 0 or not all(map(_readable, members)):
                return False
            waiting += [(secret or looks_secret(key), held) for key, held in members.items()]
        elif isinstance(value, list):
            waiting += [(secret, held) for held in cast("list[Any]", value)]
        elif isinstance(value, str):
            left -= len(value)
            if left < 0 or (value and secret) or not _readable(value) or holds_secret(value):
                return False
        elif secret and value is not None and not isinstance(value, bool):
            return False
        elif isinstance(value, int):
            left -= value.bit_length() // 4  # at least its digits
        if left < 0 or len(waiting) > MAX_RULE:
            return False
    return True


def _readable(text: str) -> bool:
    plain = "".join(char for char in text if char not in _PLAIN)
    return visible(plain) == plain and _GAP.search(text) is None
