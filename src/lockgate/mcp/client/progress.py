"""What is done about the progress of one request: someone is told, and more time is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from lockgate.mcp.protocol.progress import Progress

ProgressListener: TypeAlias = Callable[[float, float | None, str | None], None]
"""Is told how far the answer is: so far, in all or None, in words or None.

Called on the event loop between two frames, so it must return quickly. One that fails is logged and
harms nothing.
"""


class Tracked(msgspec.Struct):
    """One request whose progress is asked for; made anew for each."""

    listener: ProgressListener | None = None
    at_most: float | None = None
    """Seconds that the request may take in all while there is progress, each time as long again as
    it was given at first. None: progress gives it no time."""
    limit: float = 0.0
    """Seconds that it was given at first."""
    allowed: float = 0.0
    """Seconds that it has now, from its begin."""
    _begun: float | None = None

    def begin(self, now: float, limit: float) -> None:
        """The request is made: loop time, and the seconds it is given. Made again, in the time
        that is left, it is still the same one."""
        if self._begun is None:
            self._begun, self.limit, self.allowed = now, limit, limit

    def due(self, now: float, before: float) -> float:
        """The loop time by which the answer has to be there, now that there is progress; never
        earlier than `before`."""
        if self.at_most is None or self._begun is None:
            return before
        due = max(before, min(now + self.limit, self._begun + self.at_most))
        self.allowed = due - self._begun
        return due

    def tell(self, progress: Progress) -> None:
        """Tell the listener. Raises what it raises."""
        if self.listener is not None:
            self.listener(progress.progress, progress.total, progress.message)
