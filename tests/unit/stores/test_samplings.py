"""Requests for a model are counted for all processes together."""

from __future__ import annotations

from pathlib import Path

from lockgate.stores.samplings import HOUR, SqliteSamplings
from lockgate.stores.state import open_state


def test_an_hour_holds_so_many_whoever_asks(tmp_path: Path) -> None:
    """Each opening of the database is another process; each server counts for itself."""
    for at, refused in ((0.0, False), (10.0, False), (20.0, True), (HOUR, False), (HOUR + 1, True)):
        with open_state(tmp_path / "state.db", "o") as state:
            assert SqliteSamplings(state).too_often("a", 2, 1e9 + at) is refused
    with open_state(tmp_path / "state.db", "o") as state:
        assert SqliteSamplings(state).too_often("b", 1, 1e9 + HOUR + 1) is False


def test_a_clock_that_is_set_back_gives_no_more_and_locks_nobody_out(tmp_path: Path) -> None:
    """What it wrote in the future counts until it is an hour away."""
    with open_state(tmp_path / "state.db", "o") as state:
        samplings = SqliteSamplings(state)
        assert samplings.too_often("a", 1, 1e9) is False
        assert samplings.too_often("a", 1, 1e9 - 60) is True
        assert samplings.too_often("a", 1, 1e9 - 2 * HOUR) is False
