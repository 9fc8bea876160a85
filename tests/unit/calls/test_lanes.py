"""Lanes: first come, first served, and nothing left behind."""

from __future__ import annotations

import asyncio

import pytest

from lockgate.calls.lanes import Lanes
from lockgate.testing.turns import turns


async def two_waiting(lanes: Lanes) -> tuple[asyncio.Task[None], asyncio.Task[None]]:
    """The lane is taken, and two wait for it."""
    assert lanes.take("tool")
    waiting = [asyncio.create_task(lanes.acquire("tool")) for _ in range(2)]
    await turns()
    return waiting[0], waiting[1]


async def test_a_lane_is_held_by_one_and_handed_on_in_order() -> None:
    """Whoever waits longest comes next; a newcomer never overtakes."""
    lanes, order = Lanes(), list[int]()

    async def user(number: int) -> None:
        async with lanes.hold("tool"):
            order.append(number)
            await asyncio.sleep(0)

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        for number in range(5):
            group.create_task(user(number))
    assert order == [0, 1, 2, 3, 4]
    assert len(lanes) == 0


async def test_lanes_are_independent() -> None:
    """Two names never wait for each other."""
    lanes = Lanes()
    async with lanes.hold("one"), lanes.hold("two"):
        assert len(lanes) == 2
        assert not lanes.take("one")
    assert lanes.take("one")
    lanes.release("one")


async def test_a_cancelled_wait_holds_nobody_up() -> None:
    """Cancelling one that waits takes it out of the line, and the next is served."""
    lanes = Lanes()
    first, second = await two_waiting(lanes)
    first.cancel()
    await turns()
    lanes.release("tool")
    async with asyncio.timeout(5):
        await second
    with pytest.raises(asyncio.CancelledError):
        await first
    lanes.release("tool")
    assert len(lanes) == 0


async def test_a_wait_that_is_cancelled_while_it_is_served_hands_on() -> None:
    """The lane that was just handed to a cancelled task goes to the next one, not to nobody."""
    lanes = Lanes()
    first, second = await two_waiting(lanes)
    lanes.release("tool")
    first.cancel()
    async with asyncio.timeout(5):
        await second
    assert first.cancelled()
    lanes.release("tool")
    assert len(lanes) == 0


async def test_a_failure_inside_gives_the_lane_back() -> None:
    """Whatever happens inside, the lane is free afterwards."""
    lanes = Lanes()
    with pytest.raises(ValueError, match="inside"):
        async with lanes.hold("tool"):
            raise ValueError("inside")
    assert len(lanes) == 0


async def test_a_release_beside_a_cancellation_harms_nobody() -> None:
    """One that is cancelled in the same moment as the lane is given back is passed over."""
    lanes = Lanes()
    first, second = await two_waiting(lanes)
    first.cancel()
    lanes.release("tool")
    async with asyncio.timeout(5):
        await second
    with pytest.raises(asyncio.CancelledError):
        await first
    lanes.release("tool")
    assert len(lanes) == 0
