"""What someone may have meant: the nearest of the words that are valid at this place (S0-14)."""

from __future__ import annotations

from collections.abc import Iterable

MAX_DISTANCE = 2
"""Edits (insert, remove, replace, swap two neighbours) up to which a word counts as near."""


def nearest(word: str, known: Iterable[str], *, limit: int = 3) -> tuple[str, ...]:
    """The known words that `word` may be a slip for, the nearest first, at most `limit`.

    Near is: equal but for case and surrounding space, or at most two edits away and not half of the
    word. Equally near words come in alphabetical order. Empty when nothing is near: never a guess.
    """
    wanted = word.strip().casefold()
    allowed = min(MAX_DISTANCE, max(1, len(wanted) // 2))
    found: list[tuple[int, str]] = []
    for candidate in known:
        folded = candidate.casefold()
        if abs(len(folded) - len(wanted)) > allowed:
            continue
        distance = edit_distance(wanted, folded, allowed)
        if distance <= allowed:
            found.append((distance, candidate))
    found.sort()
    return tuple(candidate for _, candidate in found[:limit])


def edit_distance(first: str, second: str, bound: int) -> int:
    """Optimal string alignment distance; `bound + 1` stands for everything over `bound`."""
    if first == second:
        return 0
    before_last: list[int] = []
    last = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        row = [i]
        for j, b in enumerate(second, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
        if min(row) > bound:
            return bound + 1
        before_last, last = last, row
    return min(last[-1], bound + 1)
