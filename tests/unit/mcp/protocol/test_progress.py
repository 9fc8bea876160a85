"""Progress notifications, read from whatever a server sends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.progress import MAX_MESSAGE, Progress, read_progress

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["progressToken", "progress", "total", "message"]), inner)
    ),
    max_leaves=8,
)


@given(ANY)
def test_any_params_are_progress_or_a_reason(params: Any) -> None:
    """PB-143: nothing raises, whatever a server sends."""
    read = read_progress(params)
    assert isinstance(read, Progress) or read


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"progressToken": 1, "progress": 5}, Progress(1, 5.0)),
        ({"progressToken": "1", "progress": 0.5, "total": 2}, Progress("1", 0.5, 2.0)),
        ({"progressToken": 2.0, "progress": -1, "total": None}, Progress(2, -1.0)),
        ({"progressToken": 1, "progress": 1, "total": "x", "message": 5}, Progress(1, 1.0)),
        ({"progressToken": 1, "progress": 1, "total": 10**400}, Progress(1, 1.0)),
        ({"progressToken": 1, "progress": 1, "message": "m"}, Progress(1, 1.0, None, "m")),
    ],
)
def test_what_is_odd_beside_the_numbers_counts_as_absent(
    params: dict[str, Any], expected: Progress
) -> None:
    """PB-143: tokens of both kinds, `2.0` is 2, and a total that is null or no number is none."""
    assert read_progress(params) == expected


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        (None, "is null"),
        ([1], "is an array"),
        ({"progress": 1}, "has null for a token"),
        ({"progressToken": True, "progress": 1}, "has a boolean for a token"),
        ({"progressToken": 1.5, "progress": 1}, "has a number for a token"),
        ({"progressToken": 1}, "is null, not a number"),
        ({"progressToken": 1, "progress": "half"}, "is a string, not a number"),
        ({"progressToken": 1, "progress": True}, "is a boolean, not a number"),
        ({"progressToken": 1, "progress": 10**400}, "not a number"),
    ],
)
def test_what_is_no_progress_is_said(params: Any, reason: str) -> None:
    """In the end of a sentence, without what was sent."""
    read = read_progress(params)
    assert isinstance(read, str)
    assert reason in read


def test_a_long_message_is_cut() -> None:
    """PB-143: a megabyte of words is a thousand characters."""
    read = read_progress({"progressToken": 1, "progress": 1, "message": "x" * 1_000_000})
    assert isinstance(read, Progress)
    assert read.message is not None
    assert len(read.message) == MAX_MESSAGE
