"""What every failure of an HTTP exchange means for the message that it carried (B-03). No I/O.

One table for what stopped a request on its way, one for the status that it was answered with. The
rule behind both: only what proves that nobody acted on the message makes it NOT_SENT. A connection
that ended, a time that ran out and a server that fails leave it UNKNOWN. So does a good status with
something in the place of an answer: whoever said it may stand before the server or behind it
(docs/decisions/0032).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final, TypeAlias

from lockgate.errors import Fate, Fault
from lockgate.web.failure import Stage, Trouble

Verdict: TypeAlias = tuple[Fault, Fate]

MAX_RETRY_AFTER: Final = 3600.0
"""Seconds; a peer that wants a longer pause gets this one."""


class Odd(enum.Enum):
    """What is wrong with an exchange whose status is a good one."""

    NO_MESSAGE = "no message"
    """Answered with something that is not the answer: a page for people, garbage, another's."""
    NO_ANSWER = "no answer"
    """Accepted, or begun to be answered, and nothing that could bring the answer is left."""
    NO_SESSION = "no session"
    """The session that it opens can not be used."""


_FAULTS: Final[Mapping[Trouble, Fault]] = {
    Trouble.UNREACHABLE: Fault.NOT_CONNECTED,
    Trouble.UNTRUSTED: Fault.NOT_CONNECTED,
    Trouble.TIMEOUT: Fault.TIMEOUT,
    Trouble.CLOSED: Fault.CLOSED,
    Trouble.GARBAGE: Fault.MALFORMED,
}

BROKEN: Final[Mapping[tuple[Stage, Trouble], Verdict]] = {
    (stage, trouble): (
        (Fault.NOT_CONNECTED if trouble is Trouble.CLOSED else fault, Fate.NOT_SENT)
        if stage is Stage.CONNECTING
        else (fault, Fate.UNKNOWN)
    )
    for stage in Stage
    for trouble, fault in _FAULTS.items()
}
"""(how far it had come, what stopped it) to fault and fate; every pair is here."""

ANSWERED: Final[Mapping[int, Verdict]] = {
    401: (Fault.UNAUTHORIZED, Fate.NOT_SENT),
    403: (Fault.UNAUTHORIZED, Fate.NOT_SENT),
    407: (Fault.UNAUTHORIZED, Fate.NOT_SENT),  # of a proxy: it never came through
    429: (Fault.RATE_LIMITED, Fate.NOT_SENT),
    408: (Fault.REFUSED, Fate.UNKNOWN),  # whoever says it may have handed the message on
}
"""Statuses with a meaning of their own; `by_status` has the others."""

SESSION_ENDED: Final[Verdict] = (Fault.NOT_CONNECTED, Fate.NOT_SENT)
"""404 to a message of a session (2025-11-25, basic/transports: Session Management)."""

TOO_LARGE: Final[Verdict] = (Fault.TOO_LARGE, Fate.ANSWERED)
"""An answer over the limit of one frame."""
MAYBE_TOO_LARGE: Final[Verdict] = (Fault.TOO_LARGE, Fate.UNKNOWN)
"""A message over that limit, of which nobody knows whether it was the answer."""

ODD: Final[Mapping[Odd, Verdict]] = {
    Odd.NO_MESSAGE: (Fault.MALFORMED, Fate.UNKNOWN),
    Odd.NO_ANSWER: (Fault.MALFORMED, Fate.UNKNOWN),
    Odd.NO_SESSION: (Fault.MALFORMED, Fate.ANSWERED),
}


class Absence(enum.Enum):
    """What a failure says about whether the server is there at all."""

    NONE = "none"
    """Nothing: somebody is there, or has been until now."""
    SIGN = "sign"
    """It may not be; several in a row tell."""
    PROOF = "proof"
    """Nobody can be reached."""


def absence(stage: Stage, trouble: Trouble) -> Absence:
    """What an exchange that was stopped on its way says. A time that ran out while the answer was
    waited for says nothing: what was asked may take long."""
    if stage is Stage.CONNECTING and trouble is not Trouble.CLOSED:
        return Absence.PROOF
    hung_up = trouble is Trouble.CLOSED
    unheard = stage in (Stage.CONNECTING, Stage.WRITING, Stage.WAITING)
    return Absence.SIGN if hung_up and unheard else Absence.NONE


_GATEWAY: Final = frozenset({502, 503, 504})
"""What stands before a server says this when it does not get through to it."""


def absence_by_status(status: int) -> Absence:
    """What a status says. A server that fails (500) is there."""
    return Absence.SIGN if status in _GATEWAY else Absence.NONE


def by_status(status: int) -> Verdict:
    """What a status says that is no success and came without a usable JSON-RPC error.

    A server that fails (5xx) may have done so after acting. One that refuses (4xx), or that points
    elsewhere (3xx), has answered: asking the same again would be answered the same.
    """
    known = ANSWERED.get(status)
    if known is not None:
        return known
    return Fault.REFUSED, (Fate.UNKNOWN if status >= 500 else Fate.ANSWERED)


def answers(status: int, *, own_id: bool) -> bool:
    """Whether a JSON-RPC error in the body of this status is the answer to the request.

    `own_id` says that it names the request. One that names none may be of whatever stands between:
    of a failing gateway it proves nothing. What the status itself settles, no body changes.
    """
    if status in ANSWERED:
        return False
    return own_id or status < 500


def retry_after(value: str, date: str) -> float | None:
    """The seconds that a `Retry-After` asks for, at most `MAX_RETRY_AFTER`; None if it says none.

    A date counts from `date`, the one that the same answer carries: no two clocks are compared.
    """
    text = value.strip()
    if text.isascii() and text.isdecimal():
        return min(float(text[:12]), MAX_RETRY_AFTER)
    if not text or not date:
        return None
    try:
        pause = (parsedate_to_datetime(text) - parsedate_to_datetime(date)).total_seconds()
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(pause, 0.0), MAX_RETRY_AFTER)
