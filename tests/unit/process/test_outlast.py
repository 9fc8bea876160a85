"""Seeing an ending through although we are cancelled."""

from __future__ import annotations

import asyncio

import pytest

from lockgate.process.outlast import outlast


async def test_cancelled_it_waits_for_the_end_and_passes_it_on() -> None:
    """However often; the task is never cancelled by it."""
    gate = asyncio.Event()
    ended: list[str] = []

    async def end() -> None:
        await gate.wait()
        ended.append("end")

    waiting = asyncio.create_task(outlast(asyncio.create_task(end())))
    for _ in range(3):
        await asyncio.sleep(0)
        waiting.cancel()
    await asyncio.sleep(0)
    assert not waiting.done()
    gate.set()
    await asyncio.wait((waiting,))
    assert waiting.cancelled()
    assert ended == ["end"]


async def test_a_timeout_around_it_stays_a_timeout() -> None:
    """`asyncio.timeout` recognises its own cancellation when it comes out late."""
    gate = asyncio.Event()
    asyncio.get_running_loop().call_later(0.05, gate.set)

    async def end() -> None:
        await gate.wait()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await outlast(asyncio.create_task(end()))
    assert gate.is_set()


async def test_what_the_ending_raises_is_raised() -> None:
    """A failure is not lost."""

    async def fail() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        await outlast(asyncio.create_task(fail()))
