"""A leash ends its body and takes the cancellation back; foreign cancellations pass."""

from __future__ import annotations

import asyncio

import pytest

from lockgate.calls.leash import Leash, Pulled, cancelled_from_outside
from lockgate.errors import LocalError
from lockgate.testing.clock import passing
from lockgate.tools.context import InterruptToken
from lockgate.tools.deadline import Deadline


def now() -> float:
    """The loop's time."""
    return asyncio.get_running_loop().time()


async def forever() -> None:
    """Wait for what never happens."""
    await asyncio.Event().wait()


async def test_the_deadline_ends_the_body() -> None:
    """At the deadline the body is cancelled, and the task goes on as if nothing had been."""
    with Leash(deadline=now()) as leash:
        await forever()
    assert leash.pulled is Pulled.DEADLINE
    assert not cancelled_from_outside()
    await asyncio.sleep(0)


async def test_an_interrupt_ends_the_body() -> None:
    """The token's interrupt ends the body at once."""
    token = InterruptToken()
    asyncio.get_running_loop().call_soon(token.interrupt)
    async with asyncio.timeout(5):
        with Leash(interrupt=token) as leash:
            await forever()
    assert leash.pulled is Pulled.INTERRUPT


async def test_an_interrupt_from_before_counts() -> None:
    """A token that is set already ends the body at its first wait."""
    token = InterruptToken()
    token.interrupt()
    async with asyncio.timeout(5):
        with Leash(interrupt=token) as leash:
            await forever()
    assert leash.pulled is Pulled.INTERRUPT


async def test_a_body_that_interrupts_itself_and_ends_is_not_haunted() -> None:
    """An interrupt out of the body, which then ends without waiting, cancels nothing later."""
    token = InterruptToken()
    with Leash(interrupt=token) as leash:
        token.interrupt()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert leash.pulled is None


async def test_a_body_that_ends_in_time_leaves_nothing_behind() -> None:
    """Neither the timer nor the listener outlives the block."""
    token = InterruptToken()
    with Leash(deadline=now() + 60, interrupt=token) as leash:
        await asyncio.sleep(0)
    token.interrupt()
    await asyncio.sleep(0)
    assert leash.pulled is None


async def test_a_cancellation_from_outside_passes() -> None:
    """Task cancellation is never turned into anything."""
    entered = asyncio.Event()

    async def work() -> None:
        with Leash(deadline=now() + 60, interrupt=InterruptToken()):
            entered.set()
            await forever()

    task = asyncio.create_task(work())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_beside_an_interrupt_passes() -> None:
    """When both happen at once, the cancellation wins."""
    token, entered = InterruptToken(), asyncio.Event()

    async def work() -> None:
        with Leash(interrupt=token):
            entered.set()
            await forever()

    task = asyncio.create_task(work())
    await entered.wait()
    token.interrupt()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_leashes_nest() -> None:
    """The outer one's pull passes through the inner one."""
    token = InterruptToken()
    asyncio.get_running_loop().call_soon(token.interrupt)
    inner = Leash(deadline=now() + 60)
    with Leash(interrupt=token) as outer, inner:
        await forever()
    assert outer.pulled is Pulled.INTERRUPT
    assert inner.pulled is None


async def test_a_timeout_around_it_passes() -> None:
    """`asyncio.timeout` outside still raises its TimeoutError."""

    async def work() -> None:
        async with asyncio.timeout(0):
            with Leash(deadline=now() + 60):
                await forever()

    with pytest.raises(TimeoutError):
        await work()


async def test_an_error_of_the_body_passes() -> None:
    """What the body raises is not hidden, also when the leash was pulled."""

    async def work() -> None:
        with Leash(deadline=now()):
            try:
                await forever()
            except asyncio.CancelledError:
                raise ValueError("instead") from None

    with pytest.raises(ValueError, match="instead"):
        await work()
    assert not cancelled_from_outside()


def test_there_is_no_leash_without_a_task() -> None:
    """Outside a task there is nothing to cancel; that is a misuse, and said so."""
    loop = asyncio.new_event_loop()
    told: list[BaseException] = []

    def enter() -> None:
        try:
            Leash().__enter__()
        except LocalError as error:
            told.append(error)
        loop.stop()

    loop.call_soon(enter)
    loop.run_forever()
    loop.close()
    assert len(told) == 1


async def test_a_limit_that_stands_still_does_not_pull() -> None:
    """S3-21: while a person is asked the deadline stands still, and goes on with what was left."""
    clock = asyncio.get_running_loop().time
    limit = Deadline(clock() + 0.02, clock)
    with Leash(limit=limit) as leash:
        limit.hold()
        await passing(0.1)
        assert leash.pulled is None
        limit.release()
        await asyncio.Event().wait()
    assert leash.pulled is Pulled.DEADLINE
    assert limit.moved is None


async def test_an_interrupt_reaches_a_body_whose_limit_stands_still() -> None:
    """Waiting for a person is waiting: the turn's interrupt ends it."""
    clock = asyncio.get_running_loop().time
    limit, token = Deadline(clock() + 60, clock), InterruptToken()
    with Leash(limit=limit, grace=1, interrupt=token) as leash:
        limit.hold()
        token.interrupt()
        await asyncio.Event().wait()
    assert leash.pulled is Pulled.INTERRUPT
