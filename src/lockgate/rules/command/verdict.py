"""What lists of command patterns say of an analysed line. The strictest wins.

Allowed is a line without a doubt in which *every* command is allowed. Denied is one in which any
command is meant by a deny pattern; where it only may be meant, the line is asked about. An answer
never depends on the order of patterns or commands, and one deny more never allows more.
"""

from __future__ import annotations

from collections.abc import Sequence

from lockgate.decision import Decided, Decision, Reason
from lockgate.rules.command.line import Analysis
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.matcher import Match


def judge(
    analysis: Analysis,
    allow: Sequence[CommandPattern] = (),
    deny: Sequence[CommandPattern] = (),
    ask: Sequence[CommandPattern] = (),
) -> Decided:
    """The decision on a line, with its reasons; no reason holds a word of the line.

    Codes: `deny_rule`, `ask_rule`, `deny_rule_may_match`, `shell_...` for each doubt, `not_allowed`
    where a command matches no allow pattern, and `allow_rule` for each pattern that was needed.
    """
    names = frozenset([command.base_name for command in analysis.commands])
    matches = [(p, caught(analysis, p)) for p in _near(deny, names)]
    denied = [_reason("deny", p) for p, match in matches if match is Match.YES]
    if denied:
        return Decided(Decision.DENY, tuple(denied))
    reasons = [
        Reason("deny_rule_may_match", f"the deny rule {p.text} may match", p.source)
        for p, match in matches
        if match is Match.MAYBE
    ]
    reasons += [_reason("ask", p) for p in _near(ask, names) if caught(analysis, p)]
    reasons += sorted((d.reason() for d in analysis.doubts), key=lambda reason: reason.code)
    used: dict[CommandPattern, None] = {}
    missed: list[int] = []
    allow = [p for p in allow if not p.words or p.base_name in names]
    for number, command in enumerate(analysis.commands, 1):
        if not command.certain:
            continue
        by = next((p for p in allow if p.allows(command)), None)
        if by is None:
            missed.append(number)
        else:
            used[by] = None
    if missed:
        total = len(analysis.certain)
        what = f"{len(missed)} of {total} commands" if total > 1 else "the command"
        which = f": {numbered(missed)}" if len(missed) < total else ""
        reasons.append(Reason("not_allowed", f"no allow rule matches {what} of the line{which}"))
    if reasons or not used:
        return Decided(
            Decision.ASK, tuple(reasons) or (Reason("not_allowed", "nothing is allowed"),)
        )
    return Decided(Decision.ALLOW, tuple([_reason("allow", pattern) for pattern in used]))


def caught(analysis: Analysis, pattern: CommandPattern) -> Match:
    """How far a deny or ask pattern means any part of the line.

    A pattern for every command means every line, also one that can not be read.
    """
    if not pattern.words:
        return Match.YES
    return max((pattern.catches(command) for command in analysis.commands), default=Match.NO)


def numbered(numbers: Sequence[int], total: int | None = None) -> str:
    """Which commands of a line, by their place in it: `command 2 of 3`."""
    word = "command" if len(numbers) == 1 else "commands"
    of = "" if total is None else f" of {total}"
    return f"{word} {', '.join(map(str, numbers))}{of}"


def _near(
    patterns: Sequence[CommandPattern], names: frozenset[str | None]
) -> Sequence[CommandPattern]:
    """Those that can mean a command with one of these base names; None is a name not known."""
    if None in names:
        return patterns
    return [p for p in patterns if not p.words or p.base_name in names]


def _reason(word: str, pattern: CommandPattern) -> Reason:
    return Reason(f"{word}_rule", f"the {word} rule {pattern.text} matches", pattern.source)
