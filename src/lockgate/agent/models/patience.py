"""How often a provider is asked again after a failure, and how long a reply is waited for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Bounds of one reply. Times are in seconds."""

    tries: int = 4
    """Requests in all, the first one counted."""
    within: float = 600.0
    """For the whole of it: every try, the waits between them, and reading the reply."""
    first: float = 0.5
    """The wait after the first failure, before chance; it doubles with each one."""
    longest: float = 60.0
    """The longest single wait, whatever the provider asks for."""

    def wait(self, failed: int, *, asked: float | None, left: float, chance: float) -> float | None:
        """How long to wait before the next try; None: there is none.

        `failed` tries came to nothing so far; `asked` is how long the provider wants to be left
        alone, if it said; `left` is what is left of `within`; `chance` is from 0 to 1 and spreads
        the tries of programs that failed at the same time.
        """
        if failed >= self.tries:
            return None
        wait = self.first * 2 ** (failed - 1) * (0.5 + chance / 2)
        if asked is not None:
            wait = max(asked, wait)
        if asked is not None and asked > self.longest:
            return None  # sooner would be refused again, and nobody waits that long for a turn
        wait = min(wait, self.longest)
        return wait if wait < left else None
