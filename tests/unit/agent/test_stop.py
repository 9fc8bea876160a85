"""What ends a turn from outside."""

from __future__ import annotations

import asyncio

from lockgate.agent.stop import Stop
from lockgate.tools.context import InterruptToken


async def test_the_outer_interrupt_stops_the_turn() -> None:
    """The first cause is the one that counts."""
    outer = InterruptToken()
    with Stop(outer, 60) as stop:
        assert stop.cause is None
        outer.interrupt()
        assert (stop.cause, stop.token.interrupted) == ("interrupted", True)


async def test_an_interrupt_before_the_turn_counts() -> None:
    """A turn that was interrupted before it began does not begin."""
    outer = InterruptToken()
    outer.interrupt()
    with Stop(outer, 60) as stop:
        assert stop.cause == "interrupted"


async def test_the_wall_clock_stops_the_turn() -> None:
    """And never sets the token of whoever started it."""
    outer = InterruptToken()
    with Stop(outer, 0.01) as stop:
        async with asyncio.timeout(10):
            await stop.token.wait()
    assert stop.cause == "seconds"
    assert not outer.interrupted


async def test_nothing_is_left_behind() -> None:
    """After the turn neither the clock nor the token reaches it."""
    outer = InterruptToken()
    with Stop(outer, 0.01) as stop:
        pass
    outer.interrupt()
    with Stop(None, 0.02) as later:
        async with asyncio.timeout(10):
            await later.token.wait()
    assert stop.cause is None
