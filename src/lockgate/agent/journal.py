"""Where a session is written down: what the agent asks of the place, as the agent sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lockgate.calls.waiting import Waiting


class Journal(Protocol):
    """Keeps one session for whoever goes on with it later, in another process too.

    Its methods raise `LockgateError` if the place fails, and then have kept nothing of what they
    were given.
    """

    def read(self) -> tuple[bytes, ...]:
        """Every message that was written, oldest first; none of a new session."""
        ...

    def write(self, messages: Sequence[bytes]) -> None:
        """Add these, all or none of them, so that they outlive this process however it ends."""
        ...

    def seen(self) -> bytes | None:
        """What `note_seen` was given last."""
        ...

    def note_seen(self, seen: bytes) -> None:
        """Keep what the model of this session was shown, to tell it later what changed."""
        ...

    def note_waiting(self, calls: Sequence[Waiting]) -> None:
        """Keep that these calls wait under their tickets, or have the results they come with."""
        ...

    def waiting(self) -> tuple[Waiting, ...]:
        """The calls that were noted and not `forget`ten, with what became of them until now."""
        ...

    def forget(self, calls: Sequence[Waiting]) -> None:
        """The session has been told the end of these."""
        ...

    def close(self) -> None:
        """Let another process go on with the session. Idempotent."""
        ...
