"""The tokens that an execution and its children may use up between them."""

from __future__ import annotations


class TokenBudget:
    """Counts tokens against a bound, and against that of whatever it is a part of."""

    def __init__(self, limit: int | None, within: TokenBudget | None = None) -> None:
        """`limit` is over 0; None is no bound of its own. What is spent here is spent `within` as
        well: a child's tokens are its parent's."""
        self._limit = limit
        self._within = within
        self._used = 0

    @property
    def used(self) -> int:
        """Tokens spent here and in the children."""
        return self._used

    def spend(self, tokens: int) -> None:
        """Count what a reply has cost. It is never refused: it is spent already."""
        self._used += tokens
        if self._within is not None:
            self._within.spend(tokens)

    @property
    def nearest(self) -> tuple[int, int] | None:
        """The bound that is reached first: how many tokens are left before it, none or more, and
        the bound itself. None where nothing bounds."""
        outer = None if self._within is None else self._within.nearest
        if self._limit is None:
            return outer
        own = max(self._limit - self._used, 0), self._limit
        return own if outer is None else min(own, outer)
