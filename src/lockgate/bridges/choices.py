"""The answers that a question offers: what each would mean, in words, and what a line of them says.

Pure. What outlasts the session has no short form, so that no slip of a finger gives it; and a rule
is shown as it would be written, before it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lockgate.bridges.arguments import BEGINS, GOES_ON
from lockgate.bridges.question import row
from lockgate.policy.approval import Answer, Question, Scope
from lockgate.showing import folded, quoted, visible

_NO: Final = re.compile(r"no?\b[\s,.:;-]*(.*)", re.IGNORECASE | re.DOTALL)
_MAX_NOTE: Final = 1_000
_COLUMN: Final = 14
_FROM_NOW_ON: Final = "make this call; from the next start on it counts as a tool that"
_WHILE: Final = "while its definition stays as it is"
_WORDS: Final[Mapping[str, Scope]] = {
    "o": Scope.ONCE,
    "once": Scope.ONCE,
    "s": Scope.SESSION,
    "session": Scope.SESSION,
    "always": Scope.ALWAYS,
    "read-only": Scope.READ_ONLY,
    "additive": Scope.ADDITIVE,
}


def choice_lines(question: Question, width: int, *, revealable: bool) -> list[str]:
    """Every answer to `question` with its meaning, in lines of at most `width` columns."""
    lines = [
        "answers",
        *_choice("n, no", "do not call it (default); words after it are told to the model", width),
        *_choice("o, once", "make this call, this time", width),
    ]
    if question.offers(Scope.SESSION):
        what = "exactly this call" if question.destructive else "every call of this tool"
        lines += _choice("s, session", f"{what}, until the session ends", width)
    if question.always is not None:
        what = f"exactly this call, in every attended run, {_WHILE}: by this rule in your answers"
        lines += _choice("always", what, width)
        lines += rule_lines(question.always, width)
    if question.offers(Scope.READ_ONLY):
        lines += _choice("read-only", f"{_FROM_NOW_ON} only reads, {_WHILE}", width)
    if question.offers(Scope.ADDITIVE):
        what = f"{_FROM_NOW_ON} never overwrites or removes, {_WHILE}"
        lines += _choice("additive", what, width)
    if revealable:
        lines += _choice("r, reveal", "show the masked values and ask again", width)
    return lines


def rule_lines(rule: str, width: int) -> list[str]:
    """A rule that would be written, in full, behind the gutter of what a stranger has a say in."""
    return folded(visible(rule), width, BEGINS, GOES_ON)


def understood(typed: str | None, question: Question, name: str) -> tuple[Answer, str]:
    """What a line means as an answer of the approver `name`, and what is said to the person.

    None is end of input. What is not offered means no, as does everything unclear (S0-09).
    """
    if typed is None:
        return Answer(False, name), "no"
    scope = _WORDS.get(typed.casefold())
    if scope is not None and question.offers(scope):
        return Answer(True, name, scope), ""
    refusal = _NO.fullmatch(typed)
    if refusal is not None:
        return Answer(False, name, note=visible(refusal[1][:_MAX_NOTE])), ""
    return Answer(False, name), f"{quoted(typed[:40])} is none of the answers: no" if typed else ""


def _choice(words: str, meaning: str, width: int) -> list[str]:
    return row(f"  {words}", meaning, width, column=_COLUMN)
