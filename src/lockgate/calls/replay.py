"""When a call may run again: the one policy for retries, recovery and waking (S0-18).

`another_try` is pure and knows no setting. The kinds of error it is told about matter only where
trying again at once can not help.
"""

from __future__ import annotations

from typing import Final

import msgspec

from lockgate.errors import Fate
from lockgate.tools.result import ErrorKind
from lockgate.tools.tool import Declared

MAX_ATTEMPTS: Final = 2
"""One further try at most, whatever the tool and the fate."""

_ANSWERED: Final = Fate.ANSWERED

_NEEDS_MORE_THAN_TIME: Final = frozenset(
    {ErrorKind.UNAUTHORIZED, ErrorKind.RATE_LIMITED, ErrorKind.DENIED, ErrorKind.INVALID_ARGUMENTS}
    | {ErrorKind.TOOL_CHANGED}
)
"""Proven not executed, and an immediate repeat would be answered the same."""


class Again(msgspec.Struct, frozen=True, gc=False):
    """Whether a call may run again, and why."""

    allowed: bool
    why: str


def replayable(tool: Declared) -> bool:
    """Whether a second run of `tool` can do no harm that the first has not done already."""
    return tool.is_read_only or tool.is_idempotent


def another_try(
    tool: Declared,
    fate: Fate,
    attempts: int,
    *,
    same_invocation: bool,
    kind: ErrorKind | None = None,
) -> Again:
    """Whether a call of `tool`, tried `attempts` times, the last with `fate`, may run again.

    `same_invocation` is False after a crash, in a replay and in a woken run: there only a
    READ_ONLY tool runs again by its traits, everything else passes the gate anew. `kind` is the
    error kind of the last result, None if it has none.
    """
    if fate is _ANSWERED:
        return Again(False, "it was answered")
    if attempts >= MAX_ATTEMPTS:
        return Again(False, f"it was tried {attempts} times")
    if fate is Fate.NOT_SENT:
        if kind in _NEEDS_MORE_THAN_TIME:
            return Again(False, "nothing was sent, and the same would happen again")
        return Again(True, "nothing was sent")
    if tool.is_read_only:
        return Again(True, "it only reads")
    if not tool.is_idempotent:
        return Again(False, "it may have taken effect, and a second run could do it twice")
    if same_invocation:
        return Again(True, "it is idempotent, and this is the same invocation")
    return Again(False, "it is idempotent, but a run from before must pass the gate again")


def together(before: Fate | None, last: Fate) -> Fate:
    """The fate of a call over its attempts: an answer settles it, an unknown one before does not
    go away because a later attempt was never sent."""
    if last is _ANSWERED or before is None:
        return last
    return Fate.UNKNOWN if Fate.UNKNOWN in (before, last) else last
