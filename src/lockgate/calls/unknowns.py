"""Open unknowns: calls that may have taken effect, and nobody knows (B-03).

While one is open, further calls of its tool that may not run twice are asked about, over rules
and grants. An approval given to a question that names it closes it: the person has been told,
and has looked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from lockgate.decision import Reason
from lockgate.policy.grants import session_of
from lockgate.tools.context import Execution


@dataclass(frozen=True, slots=True)
class OpenUnknown:
    """One call whose outcome is not known."""

    execution: str
    call_id: str
    scope: str
    """Whose calls it stands in the way of, from `scope_of`."""
    tool: str
    """Registered name."""
    time: float
    """Unix time at which it was started."""

    @property
    def reason(self) -> Reason:
        """Why a further call is asked about; the call id in it is what an answer refers to."""
        return Reason(
            "open_unknown",
            f"an earlier call of {self.tool} ({self.call_id}) may have taken effect; "
            "look whether it did before another one is made",
        )


class UnknownBook(Protocol):
    """Where open unknowns are kept. Its methods raise `LockgateError` if the place fails."""

    def find(self, scope: str, tool: str) -> tuple[OpenUnknown, ...]:
        """Those that are open for `tool` in `scope`, oldest first."""
        ...

    def open(self, unknown: OpenUnknown) -> None:
        """Keep it until it is closed."""
        ...

    def close(self, unknowns: Iterable[OpenUnknown], by: str) -> None:
        """Settle them; `by` is who said so. Those that are not open are ignored."""
        ...


class MemoryUnknowns:
    """A book that ends with its owner."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], tuple[OpenUnknown, ...]] = {}

    def find(self, scope: str, tool: str) -> tuple[OpenUnknown, ...]:
        return self._open.get((scope, tool), ())

    def open(self, unknown: OpenUnknown) -> None:
        key = (unknown.scope, unknown.tool)
        self._open[key] = (*self._open.get(key, ()), unknown)

    def close(self, unknowns: Iterable[OpenUnknown], by: str) -> None:
        """Forget them; this book keeps no history, so `by` is not kept either."""
        gone = frozenset(unknowns)
        for key in {(unknown.scope, unknown.tool) for unknown in gone}:
            left = tuple(u for u in self._open.get(key, ()) if u not in gone)
            if left:
                self._open[key] = left
            else:
                self._open.pop(key, None)


def scope_of(execution: Execution) -> str:
    """The session an unknown belongs to; without one, the principal that made the call."""
    session = session_of(execution)
    return f"principal:{execution.principal or ''}" if session is None else f"session:{session}"
