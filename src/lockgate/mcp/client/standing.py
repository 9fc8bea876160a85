"""Bounds that stand still while something is asked of this side (S3-21)."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol


class Bound(Protocol):
    """A bound on a call, such as its caller's deadline. Held as often as it is let go."""

    def hold(self) -> None:
        """Stand still from now on."""
        ...

    def release(self) -> None:
        """Go on, with the time that was left."""
        ...


@contextmanager
def standing(bound: Bound | None) -> Generator[None]:
    """While this is entered `bound` stands still; None is no bound."""
    if bound is None:
        yield
        return
    bound.hold()
    try:
        yield
    finally:
        bound.release()
