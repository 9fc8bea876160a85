"""Credentials by a script: one value after the other, each until it is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lockgate.errors import PeerError
from lockgate.mcp.transport.tokens import Challenge
from lockgate.process.hidden import Learned


class ScriptedTokens:
    """A `TokenSource`; what it was asked is kept."""

    def __init__(
        self, *values: str, first: bool = True, failing: Callable[[], PeerError] | None = None
    ) -> None:
        """`values` are sent one after the other. Without `first` the first one is sent only when
        the server has refused to do without. `failing` makes what is raised when there is none
        left; without it the refusal stays the server's."""
        self.challenges: list[Challenge] = []
        """Every refusal, in order."""
        self.settled = 0
        """How often a transport has let go of it."""
        self.learned = Learned()
        self._values: list[str | None] = [] if first else [None]
        self._values += values
        self._failing = failing
        self._learn(values)

    def _learn(self, values: Iterable[str]) -> None:
        for value in values:
            self.learned.learn(value, value.partition(" ")[2])

    async def authorization(self) -> str | None:
        """The value that is in use."""
        return self._values[0] if self._values else None

    async def challenged(self, challenge: Challenge) -> bool:
        """Go on to the next value, unless somebody else has."""
        self.challenges.append(challenge)
        if self._values and challenge.used != self._values[0]:
            return True
        if len(self._values) < 2:
            if self._failing is not None:
                raise self._failing()
            return False
        del self._values[0]
        return True

    async def settle(self) -> None:
        """Nothing is under way."""
        self.settled += 1
