"""How long a turn may go on. Reaching a bound ends the turn with a result that says which one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """The bounds of one turn. Each is checked where nothing has begun that it would leave open."""

    iterations: int = 50
    """Passes of the loop: one reply of the model and the calls in it."""
    seconds: float = 3600.0
    """Wall clock of the turn. When it has passed, what is under way is interrupted."""
    tokens: int | None = None
    """Tokens that the model's replies report, read and written together; once they are used up, or
    the next reply would read more than is left, no further call is made. A reply that begins with
    less than `loop.ANY_MODEL_WRITES` left may be no longer. None is no bound."""
    repeated_failures: int = 3
    """How often the very same call may fail, and how many replies in a row may be cut off."""
    result_characters: int = 100_000
    """Characters of one result that the model is shown; head and tail are kept."""
    batch_characters: int = 400_000
    """Characters that the results of one reply may have together; the longest give way first."""
    media_characters: int = 7_000_000
    """Base64 characters of images and sound in one result (about 5 MB), shown whole or not."""
    calls: int = 128
    """Calls of one reply that are made; the others are answered as skipped (`too_many_calls`)."""

    def __post_init__(self) -> None:
        # Raises `ValueError`, also for what is no number: a program may give anything.
        for name in self.__slots__:
            value: Any = getattr(self, name)
            kinds = (int, float) if name == "seconds" else (int,)
            if name == "tokens" and value is None:
                continue
            if not isinstance(value, kinds) or isinstance(value, bool):
                wanted = "a number" if name == "seconds" else "a whole number"
                raise ValueError(
                    f"{name} of TurnLimits must be {wanted}, not {type(value).__name__}"
                )
        for name in ("iterations", "calls", "seconds", "repeated_failures"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be over 0")
        if self.tokens is not None and self.tokens <= 0:
            raise ValueError("tokens must be over 0, or None for no bound")
        if self.result_characters < 1000 or self.batch_characters < self.result_characters:
            raise ValueError(
                "result_characters must be at least 1000, and batch_characters no less"
            )
        if self.media_characters < 0:
            raise ValueError("media_characters can not be negative")
