"""Reading one rule as it is written in a permission list. A fault in any of them stops the start.

Most of all in a deny: a rule that silently matches nothing is a door that someone believes shut
(PB-177).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from lockgate.decision import Decision
from lockgate.errors import ConfigError, Problem
from lockgate.rules.pattern import PatternError, parse_pattern
from lockgate.rules.rule import Rule


def parse_rule(
    text: object,
    decision: Decision,
    *,
    servers: Collection[str] | None = None,
    known_tools: Collection[str] | None = None,
    source: str | None = None,
    when: Literal["attended", "unattended", "any"] | None = None,
) -> Rule:
    """Parse one rule of the list for `decision`.

    `servers` are the configured ones: a rule that names another is an error; None checks nothing.
    `known_tools`, where given, does the same for tools of our own. `source` is where the rule
    stands (file and key path), for messages and reasons. `when` says which executions an allow rule
    answers for, `attended` by default; ask and deny rules always hold and may not say it.

    Raises `ConfigError` with one problem that names the rule, the character (1-based) and, where
    there is one, the nearest spelling.
    """
    if not isinstance(text, str):
        kind = type(text).__name__
        raise _fault(f"a rule is a string, not {kind}", source, "put it in quotes")
    if when is not None and decision is not Decision.ALLOW:
        word = decision.name.lower()
        raise _fault(f"the {word} rule {text!r} says when: it always holds", source, "leave it out")
    try:
        pattern = parse_pattern(text, servers=servers, known_tools=known_tools)
    except PatternError as error:
        place = f"at character {error.position + 1} " if text else ""
        raise _fault(f"the rule {text!r} {place}{error.message}", source, error.hint) from None
    return Rule(
        decision, text, pattern.server, pattern.tool, "attended" if when is None else when, source
    )


def _fault(message: str, source: str | None, hint: str | None) -> ConfigError:
    return ConfigError(Problem(message, path=source or "", hint=hint))
