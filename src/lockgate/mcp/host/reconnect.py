"""When a lost connection is made anew: a policy, and how far one server is with it. Pure.

Tries follow one another in growing, jittered steps up to a cap. Repeated failure opens a circuit:
the server is left alone for a while, then given a single try, and after another failure left alone
for longer (S3-17). A connection that is lost soon after it was made counts as a failure too, so a
server that comes and goes is not restarted without end. Randomness and time are handed in.
"""

from __future__ import annotations

import enum

import msgspec


class Backoff(msgspec.Struct, frozen=True):
    """Waits that grow: `first` seconds, then twice as long each time, up to `most`."""

    first: float
    most: float
    jitter: float = 0.5
    """The share of each wait that chance may take off, so that clients do not come all at once."""

    def __post_init__(self) -> None:
        if not 0 < self.first <= self.most or not 0 <= self.jitter < 1:
            raise ValueError("a back-off needs 0 < first <= most and 0 <= jitter < 1")

    def wait(self, number: int, chance: float) -> float:
        """Seconds before try `number`, from 1; `chance` is from 0 to 1."""
        if number < 1 or not 0 <= chance <= 1:
            raise ValueError("tries are counted from 1, and chance is from 0 to 1")
        # Beyond 2**60 every wait is the longest one, and the power no longer a float.
        longest = min(self.most, self.first * 2.0 ** min(number - 1, 60))
        return longest * (1 - self.jitter * chance)


class Circuit(enum.Enum):
    """How a server that was lost is treated."""

    CLOSED = "closed"
    """It is tried again and again, with growing waits."""
    OPEN = "open"
    """It failed so often that it is left alone for a while."""
    HALF_OPEN = "half-open"
    """It was left alone, and now has one try; staying up closes the circuit."""


class ReconnectPolicy(msgspec.Struct, frozen=True):
    """How a lost server is brought back."""

    waits: Backoff = Backoff(0.5, 30.0)
    """Before each try while the circuit is closed."""
    opens_after: int = 6
    """Failures in a row that open the circuit."""
    rests: Backoff = Backoff(60.0, 900.0)
    """How long it is left alone while the circuit is open, growing with each try that fails."""
    stable_after: float = 30.0
    """Seconds that a connection has to last for the failures before it to be forgotten."""

    def __post_init__(self) -> None:
        if self.opens_after < 1 or not self.stable_after >= 0:
            raise ValueError("a circuit opens after 1 failure or more; seconds are not negative")


class Recovery(msgspec.Struct, frozen=True):
    """How far one server is: a value, made anew by each failure."""

    failures: int = 0
    """Connections that failed, or did not last, in a row."""
    waiting: bool = False
    """Whether the next try is still to come."""

    def circuit(self, policy: ReconnectPolicy) -> Circuit:
        """The circuit now."""
        if self.failures < policy.opens_after:
            return Circuit.CLOSED
        return Circuit.OPEN if self.waiting else Circuit.HALF_OPEN

    def failed(
        self, policy: ReconnectPolicy, *, lasted: float = 0.0, hopeless: bool = False
    ) -> Recovery:
        """After one more failure: the connection `lasted` so many seconds, 0 if there was none.

        `hopeless` is one that no further try will mend, such as a program that is not there: it
        opens the circuit at once.
        """
        before = 0 if lasted >= policy.stable_after and lasted > 0 else self.failures
        failures = max(before + 1, policy.opens_after) if hopeless else before + 1
        return Recovery(failures, waiting=True)

    def wait(self, policy: ReconnectPolicy, chance: float, at_least: float = 0.0) -> float:
        """Seconds until the next try; `at_least` is what the server itself asked for."""
        if self.failures < policy.opens_after:
            wait = policy.waits.wait(max(self.failures, 1), chance)
        else:
            wait = policy.rests.wait(self.failures - policy.opens_after + 1, chance)
        return max(wait, at_least)

    def trying(self) -> Recovery:
        """The next try begins."""
        return msgspec.structs.replace(self, waiting=False)
