"""A question as a person reads it: the whole call, what it can do, why it is asked (S0-08, PB-153).

Pure: from a question and a width to text. Nothing of the call is left out; what an eye could be
deceived by is escaped, and the values of secret-looking keys are masked by their length. No line is
wider than the terminal, which would break it itself: each begins with a label or gutter of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lockgate.bridges.arguments import GOES_ON, argument_lines, holds_secrets, scalar
from lockgate.policy.approval import Question
from lockgate.showing import folded, looks_secret, masked, quoted, visible
from lockgate.tools.origin import Origin
from lockgate.traits import SideEffectLevel

_LABEL: Final = 11
"""Columns of the words on the left."""
_REALLY: Final = "|! "
"""Before what an argument does not say by itself."""
MIN_WIDTH: Final = 24
"""Columns below which a question can not be shown."""

_FOLLOWS: Final[Mapping[str, str]] = {
    "declared": "what its code declares",
    "default": "the worst case: nothing was declared, or the server's word is not trusted",
    "claim": "what the server claims, which is trusted",
    "verdict": "the operator's word",
}


def render_question(question: Question, width: int = 80, *, reveal: bool = False) -> str:
    """The question without its prompt, in lines of at most `width` columns (24 or more).

    `reveal` shows the values of secret-looking keys too. Ends in a newline.
    """
    lines = [
        _rule("a call needs an answer", width),
        *_asked_by(question, width),
        *row("tool", visible(question.tool), width),
        *row("from", _from(question.origin), width),
        *row("can", _can(question), width),
        *row("judged by", _by(question.origin), width),
    ]
    for index, reason in enumerate(question.reasons):
        lines += row("why asked" if index == 0 else "", visible(str(reason)), width)
    if question.principal is not None:
        lines += row("for", visible(question.principal), width)
    if question.arguments:
        lines.append("arguments")
        lines += argument_lines(question.arguments, width, reveal=reveal)
        for name, paths in question.resolved.items():
            hidden = looks_secret(name) and not reveal
            for path in paths.split("\n"):
                what = f"{quoted(name)} is really {masked(path) if hidden else quoted(path)}"
                lines += folded(what, width, _REALLY, GOES_ON)
    else:
        lines += row("arguments", "none", width)
    return "\n".join(lines) + "\n"


def render_summary(question: Question, above: int, width: int = 80) -> str:
    """What stands right above the prompt: the tool, what it can do, and how much there is to read.

    `above` is the number of lines that belong to the question and may be out of sight by now.
    """
    lines = [
        _rule("in short", width),
        *_asked_by(question, width),
        *row("tool", visible(question.tool), width),
        *row("can", _can(question), width),
        *row("above", f"{above} lines that belong to this question", width),
    ]
    return "\n".join(lines) + "\n"


def row(label: str, text: str, width: int, column: int = _LABEL) -> list[str]:
    """`text` beside `label`, from `column` on, in lines of at most `width` columns."""
    lines = folded(text, width, f"{label:<{column}}", " " * column)
    return [line.rstrip() for line in lines]


def has_secrets(question: Question) -> bool:
    """Whether anything in the question is masked, so that revealing would show more."""
    return holds_secrets(question.arguments)


def _asked_by(question: Question, width: int) -> list[str]:
    """Whose call it is, where that is not the agent itself."""
    if question.agent is None:
        return []
    return row("asked by", f"{visible(question.agent)}, which works for the agent", width)


def _from(origin: Origin) -> str:
    if origin.server is None:
        return f"{origin.source} code"
    return f"server {visible(origin.server)}, where it is called {quoted(origin.original_name)}"


def _can(question: Question) -> str:
    if question.level is SideEffectLevel.READ_ONLY:
        return "only read (read-only)"
    if question.destructive:
        return "OVERWRITE, REMOVE OR INVALIDATE THINGS (mutating, destructive)"
    return "add or change things, without overwriting or removing (mutating, not destructive)"


def _by(origin: Origin) -> str:
    text = _FOLLOWS.get(origin.ruling, visible(origin.ruling))
    if origin.claim:
        hints = ", ".join(
            f"{visible(key)} {scalar(value)}"
            for key, value in origin.claim.items()
            if not isinstance(value, Mapping | list)
        )
        text += f" (claimed: {hints})" if hints else ""
    return text


def _rule(words: str, width: int) -> str:
    return f"-- {words} {'-' * width}"[:width]
