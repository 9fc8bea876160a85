"""A deadline that can stand still."""

from __future__ import annotations

import math

from lockgate.testing.clock import FakeClock
from lockgate.tools.deadline import Deadline


def test_it_stands_still_until_it_is_let_go_as_often() -> None:
    """S3-21: what was left when the first began is left when the last has ended."""
    clock = FakeClock(100.0)
    deadline = Deadline(110.0, clock)
    clock.advance(4)
    deadline.hold()
    clock.advance(100)
    deadline.hold()
    assert deadline.at == math.inf
    assert not deadline.over
    deadline.release()
    clock.advance(100)
    assert deadline.at == math.inf
    deadline.release()
    assert deadline.at == clock() + 6
    clock.advance(6)
    assert deadline.over


def test_whoever_waits_for_it_is_told_that_it_moved() -> None:
    """Once when it begins to stand still, once when it goes on."""
    moved: list[float] = []
    deadline = Deadline(10.0, FakeClock(0.0))
    deadline.moved = lambda: moved.append(deadline.at)
    deadline.hold()
    deadline.hold()
    deadline.release()
    deadline.release()
    assert moved == [math.inf, 10.0]
