"""Near spellings: what someone may have meant, and never a wild guess."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.schema.spelling import MAX_DISTANCE, edit_distance, nearest

WORDS = ("command", "comment", "args", "env", "trust", "ignore")


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("comand", ("command",)),
        ("commnad", ("command",)),
        ("Command", ("command", "comment")),
        (" command ", ("command", "comment")),
        ("trsut", ("trust",)),
        ("arg", ("args",)),
        ("envv", ("env",)),
        ("commend", ("command", "comment")),
        ("frobnicate", ()),
        ("x", ()),
        ("", ()),
    ],
)
def test_near_is_within_two_edits(word: str, near: tuple[str, ...]) -> None:
    """Case and surrounding space do not count; the nearest comes first."""
    assert nearest(word, WORDS) == near


def test_half_of_a_short_word_is_no_slip() -> None:
    """Two edits turn any two letters into any others."""
    assert nearest("ab", ["cd", "ac"]) == ("ac",)


def test_at_most_as_many_as_asked_for() -> None:
    """In order of nearness, then of the alphabet."""
    assert nearest("aaaa", ["aaab", "aaa", "aaaa", "aabb"], limit=3) == ("aaaa", "aaa", "aaab")


SHORT = st.text("abc", max_size=6)


@given(SHORT, SHORT)
def test_the_distance_is_symmetric_and_bounded(first: str, second: str) -> None:
    """From one to the other is as far as back; beyond the bound it is one over it."""
    distance = edit_distance(first, second, 10)
    assert distance == edit_distance(second, first, 10)
    assert (distance == 0) is (first == second)
    assert distance <= max(len(first), len(second))
    assert edit_distance(first, second, MAX_DISTANCE) == min(distance, MAX_DISTANCE + 1)


@given(st.text(max_size=8), st.integers(0, 7), st.sampled_from("xyz"))
def test_one_edit_is_a_distance_of_one(word: str, place: int, letter: str) -> None:
    """Inserting one character."""
    at = min(place, len(word))
    assert edit_distance(word, word[:at] + letter + word[at:], 3) == 1


def test_a_swap_of_neighbours_is_one_edit() -> None:
    """The commonest slip of all."""
    assert edit_distance("trust", "trsut", 3) == 1


def test_a_very_long_word_costs_nothing() -> None:
    """Its length alone says that it is not near."""
    assert nearest("x" * 10_000_000, WORDS) == ()
