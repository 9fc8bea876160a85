"""A journal in memory: what a session writes down, and what becomes of it where it can not."""

from __future__ import annotations

from collections.abc import Sequence

from lockgate.calls.waiting import Waiting
from lockgate.errors import LocalError


class MemoryJournal:
    """Keeps a session as long as it is held; given to the next agent, that one goes on with it.

    While `full` is set nothing can be written, as on a full disk.
    """

    def __init__(self, messages: Sequence[bytes] = ()) -> None:
        """With what was said already."""
        self.messages = list(messages)
        self.noted: bytes | None = None
        self.calls: dict[str, Waiting] = {}
        self.full = False
        self.closed = False

    def read(self) -> tuple[bytes, ...]:
        return tuple(self.messages)

    def write(self, messages: Sequence[bytes]) -> None:
        self._check()
        self.messages.extend(messages)

    def seen(self) -> bytes | None:
        return self.noted

    def note_seen(self, seen: bytes) -> None:
        self._check()
        self.noted = seen

    def note_waiting(self, calls: Sequence[Waiting]) -> None:
        self._check()
        self.calls |= {call.call_id: call for call in calls}

    def waiting(self) -> tuple[Waiting, ...]:
        return tuple(self.calls.values())

    def forget(self, calls: Sequence[Waiting]) -> None:
        self._check()
        for call in calls:
            self.calls.pop(call.call_id, None)

    def close(self) -> None:
        self.closed = True

    def _check(self) -> None:
        if self.full:
            raise LocalError("the disk is full")

    def __repr__(self) -> str:
        return f"<MemoryJournal of {len(self.messages)} messages>"
