"""One family of errors: each class says whose fault it is, each instance says in which phase.

`ConfigError` is the operator's, `ContractError` a promise that does not hold, `PeerError` what
another program did, `LocalError` a misuse of this library. A tool's failure is a result, never an
exception (S3-04). No message holds a secret or the value of an argument.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


class Fate(enum.Enum):
    """What is known about a message that was to reach a peer (B-03)."""

    NOT_SENT = "not_sent"
    """It is proven that the peer never acted on it; sending it again is safe."""
    ANSWERED = "answered"
    """The peer's answer arrived, be it a result or an error."""
    UNKNOWN = "unknown"
    """It may have been acted on: it was written, and no answer came."""


class Phase(enum.Enum):
    """How far the exchange with a peer had come when it failed."""

    SPAWN = "spawn"
    CONNECT = "connect"
    NEGOTIATE = "negotiate"
    REQUEST = "request"
    CLOSE = "close"


class Fault(enum.Enum):
    """What a peer did wrong, in the closed set that results are made from."""

    NOT_CONNECTED = "not_connected"
    """There was no connection when the request was made."""
    TIMEOUT = "timeout"
    """No answer within the bound."""
    CLOSED = "closed"
    """The connection ended: the process died, hung up, or was closed by us."""
    REFUSED = "refused"
    """The peer answered with an error of its own; `code` and the text are the peer's."""
    MALFORMED = "malformed"
    """What the peer sent can not be what the protocol asks for."""
    UNSUPPORTED = "unsupported"
    """No protocol version or capability in common."""
    TOO_LARGE = "too_large"
    """A frame over the limit, refused by its length."""
    NOT_STARTED = "not_started"
    """The program could not be started: not found, not executable, no such directory."""
    UNAUTHORIZED = "unauthorized"
    RATE_LIMITED = "rate_limited"


class LockgateError(Exception):
    """The family. Never raised itself; catch it to catch everything lockgate raises."""

    def __init__(self, *args: object) -> None:
        if type(self) is LockgateError:
            raise TypeError("LockgateError is the family, raise one of its members")
        super().__init__(*args)


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding about something the operator wrote, with its place."""

    message: str
    """What is wrong, without the value of a secret-bearing key."""
    path: str = ""
    """Key path, such as `mcp.servers[1].annotationTrust`; empty for the whole file."""
    file: Path | None = None
    line: int | None = None
    """1-based."""
    column: int | None = None
    """1-based."""
    hint: str | None = None
    """What to do: the nearest spelling, the list of valid ones, a command."""

    def __str__(self) -> str:
        place = str(self.file) if self.file else ""
        if self.line is not None:
            place += f":{self.line}" + (f":{self.column}" if self.column is not None else "")
        head = ": ".join(part for part in (place, self.path) if part)
        text = f"{head}: {self.message}" if head else self.message
        return f"{text}\n  {self.hint}" if self.hint else text


class ConfigError(LockgateError):
    """What the operator wrote can not be used. Carries every finding at once (S0-14)."""

    def __init__(self, *problems: Problem | str) -> None:
        self.problems = tuple(Problem(p) if isinstance(p, str) else p for p in problems)
        super().__init__("\n".join(_folded(self.problems)))


_INDEX = re.compile(r"\[\d+\]")
_ALIKE = 10
"""Findings that differ in nothing but where they are, of which each is told."""


def _folded(problems: Sequence[Problem]) -> Iterator[str]:
    """Every finding; of those that are alike the first, and how many more there are."""
    alike = [(p.message, p.hint, p.file, _INDEX.sub("[]", p.path)) for p in problems]
    total, told = Counter(alike), Counter[tuple[str, str | None, Path | None, str]]()
    for problem, kind in zip(problems, alike, strict=True):
        told[kind] += 1
        if told[kind] <= _ALIKE:
            yield str(problem)
        if told[kind] == _ALIKE and total[kind] > _ALIKE:
            yield f"  and {total[kind] - _ALIKE:,} more like this"


class ContractError(LockgateError):
    """A promise does not hold: a required server or an expected tool is missing (B-07)."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class PeerError(LockgateError):
    """Another program failed us, in a known phase, with a known fate of what was sent.

    `peer` is the configured name of the server (or of the program). The text says what happened
    and what to do; it may hold the peer's own words, cut to a bounded length.
    """

    def __init__(
        self,
        message: str,
        *,
        peer: str,
        phase: Phase,
        fault: Fault,
        fate: Fate,
        code: int | None = None,
        data: object = None,
        retry_after: float | None = None,
        final: bool = False,
    ) -> None:
        super().__init__(message)
        self.peer = peer
        self.phase = phase
        self.fault = fault
        self.fate = fate
        self.code = code
        """The peer's own error code, where it gave one (JSON-RPC `error.code`)."""
        self.data = data
        """The peer's own `error.data`, decoded; never logged."""
        self.retry_after = retry_after
        """Seconds that the peer wants to be left alone for, bounded; None if it did not say."""
        self.final = final
        """Whether the same is not to be asked for once more, though its fate would allow it: the
        peer took it on, and has been told to stop."""


class LocalError(LockgateError):
    """This library was misused: wrong loop or thread, used after closing, a missing extra."""
