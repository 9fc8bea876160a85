"""How stretches of time are worded."""

from __future__ import annotations

import pytest

from lockgate.cli.waiting import left


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (7 * 86_400 - 5, "7d"),
        (7 * 86_400 - 50_000, "6d"),
        (86_400 - 5, "1d"),
        (86_400 - 5000, "23h"),
        (3600 - 5, "1h"),
        (60.4, "1m"),
        (59.9, "1m"),
        (12.5, "12s"),
        (-3, "0s"),
    ],
)
def test_what_is_left_is_told_to_the_nearest(seconds: float, told: str) -> None:
    """Right after a question that waits seven days, seven days are left."""
    assert left(seconds) == told
