"""When a server's list is read again, and who waits for it (S3-18)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.host.catalogue import AT_ONCE, FRESH_AT_LEAST, MINUTE, MOST, Catalogue
from lockgate.testing.clock import FakeClock
from lockgate.testing.pauses import ScriptedPauses

BROKEN = PeerError("broken", peer="s", phase=Phase.REQUEST, fault=Fault.REFUSED, fate=Fate.ANSWERED)


class _Lists:
    """Reads of a list that end when a test says so."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.begun = 0
        self._catalogue = catalogue
        self._ends: asyncio.Queue[PeerError | None] = asyncio.Queue()
        self._news = asyncio.Condition()

    async def read(self, covers: int) -> None:
        self.begun += 1
        async with self._news:
            self._news.notify_all()
        error = await self._ends.get()
        if error is not None:
            raise error
        self._catalogue.taken(covers, None)

    def end(self, error: PeerError | None = None) -> None:
        """Let one reading end."""
        self._ends.put_nowait(error)

    async def begins(self, count: int) -> None:
        """Wait until so many have begun."""
        async with asyncio.timeout(5), self._news:
            await self._news.wait_for(lambda: self.begun >= count)


@asynccontextmanager
async def _kept(
    catalogue: Catalogue, read: Callable[[int], Awaitable[None]]
) -> AsyncGenerator[None]:
    keeping = asyncio.create_task(catalogue.keep(read))
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.wait((keeping,))


def _made(pauses: ScriptedPauses, clock: FakeClock | None = None) -> Catalogue:
    return Catalogue(clock=clock or FakeClock(), pause=pauses)


@pytest.mark.req("S3-18")
async def test_a_burst_is_read_twice_at_most() -> None:
    """What comes while a list is read is covered by one more; the readings are paced."""
    pauses = ScriptedPauses()
    catalogue = _made(pauses)
    lists = _Lists(catalogue)
    async with _kept(catalogue, lists.read):
        catalogue.announce()
        await lists.begins(1)
        for _ in range(500):
            catalogue.announce()
        lists.end()
        await pauses.release()
        await lists.begins(2)
        lists.end()
        await pauses.release()
        assert (lists.begun, catalogue.unread) == (2, False)
        assert pauses.seconds == [0.5, 1.0]


async def test_a_failure_is_kept_and_tried_again_with_growing_waits() -> None:
    """The list counts as unread until it was read; then nothing is left of the failure."""
    pauses = ScriptedPauses()
    catalogue = _made(pauses)
    lists = _Lists(catalogue)
    async with _kept(catalogue, lists.read):
        catalogue.announce()
        for _ in range(2):
            lists.end(BROKEN)
            await pauses.begins()
            assert (catalogue.failure, catalogue.unread) == (BROKEN, True)
            await pauses.release()
        lists.end()
        await pauses.begins()
        assert (catalogue.failure, catalogue.unread) == (None, False)
        assert pauses.seconds == [1.0, 2.0, 0.5]


async def test_whoever_waits_is_told_by_a_reading_that_began_after() -> None:
    """A reading under way does not cover what was announced since, and nothing is paced while
    somebody waits."""
    pauses = ScriptedPauses()
    catalogue = _made(pauses)
    lists = _Lists(catalogue)
    async with _kept(catalogue, lists.read):
        catalogue.announce()
        await lists.begins(1)
        catalogue.announce()
        waiting = asyncio.create_task(catalogue.settled())
        await asyncio.sleep(0)
        lists.end()
        await lists.begins(2)
        assert not waiting.done()
        lists.end()
        assert await waiting
        assert await catalogue.settled()  # covered already


async def test_whoever_waits_is_told_of_a_failure_and_of_the_end() -> None:
    """Neither leaves anybody waiting; without a connection nobody waits at all."""
    pauses = ScriptedPauses()
    catalogue = _made(pauses)
    lists = _Lists(catalogue)
    async with _kept(catalogue, lists.read):
        catalogue.announce()
        await lists.begins(1)
        waiting = asyncio.create_task(catalogue.settled())
        await asyncio.sleep(0)
        lists.end(BROKEN)
        assert not await waiting
        waiting = asyncio.create_task(catalogue.settled())
        await lists.begins(2)
    assert not await waiting
    assert not await catalogue.settled()


async def test_waiting_can_be_given_up() -> None:
    """One that is cancelled hurries nobody any more."""
    pauses = ScriptedPauses()
    catalogue = _made(pauses)
    lists = _Lists(catalogue)
    async with _kept(catalogue, lists.read):
        catalogue.announce()
        waiting = asyncio.create_task(catalogue.settled())
        await lists.begins(1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        lists.end()
        await pauses.begins()
        assert pauses.seconds == [0.5]


async def test_a_list_gets_old_by_what_its_server_says_but_not_too_soon() -> None:
    """2026-07-28, Caching: looked at when a turn begins, read once; 0 does not mean each time; what
    says nothing never gets old."""
    pauses, clock = ScriptedPauses(), FakeClock()
    catalogue = _made(pauses, clock)
    lists = _Lists(catalogue)
    catalogue.taken(catalogue.begin(), 0)
    async with _kept(catalogue, lists.read):
        clock.advance(FRESH_AT_LEAST - 1)
        catalogue.look(clock())
        clock.advance(1)
        catalogue.look(clock())
        catalogue.look(clock())
        await lists.begins(1)
        assert not catalogue.unread  # nobody waits for it
        lists.end()
        await pauses.release()
        clock.advance(1e9)
        catalogue.look(clock())
        await asyncio.sleep(0)
        assert lists.begun == 1


@pytest.mark.req("S3-18")
@pytest.mark.req("B-06")
@pytest.mark.parametrize("takes", [0.0, 1.0])
@pytest.mark.parametrize("works", [True, False])
async def test_who_announces_without_end_does_not_have_a_list_read_for_each_call(
    takes: float, works: bool
) -> None:
    """Each waits for a list that was read after what was announced before it, and in no minute more
    than so many begin; the first few begin at once."""
    clock = FakeClock()
    begun: list[float] = []

    async def paused(seconds: float, early: asyncio.Event) -> None:
        for _ in range(4):
            await asyncio.sleep(0)  # whoever calls next does so now
        if not early.is_set():
            clock.advance(seconds)

    catalogue = Catalogue(clock=clock, pause=paused)

    async def read(covers: int) -> None:
        begun.append(clock())
        clock.advance(takes)
        catalogue.announce()
        if not works:
            raise BROKEN
        catalogue.taken(covers, None)

    start = clock()
    async with _kept(catalogue, read), asyncio.timeout(20):
        await asyncio.sleep(0)
        while clock() < start + 20 * MINUTE and len(begun) <= 20 * MOST:
            catalogue.announce()
            before = len(begun)
            assert await catalogue.settled() is works
            assert len(begun) > before
    assert max(sum(at <= other < at + MINUTE for other in begun) for at in begun) <= MOST
    assert begun[AT_ONCE - 1] == start + (AT_ONCE - 1) * takes


async def test_a_pace_holds_for_calls_too_and_is_told() -> None:
    """Ten at once; the eleventh is waited for by whoever calls, and then there is one for all."""
    pauses = ScriptedPauses()
    catalogue = _made(pauses)
    lists = _Lists(catalogue)
    async with _kept(catalogue, lists.read):
        for count in range(1, AT_ONCE + 1):
            catalogue.announce()
            waiting = asyncio.create_task(catalogue.settled())
            await lists.begins(count)
            lists.end()
            assert await waiting
        assert await pauses.begins() == 0.5
        assert catalogue.crowded
        catalogue.announce()
        several = [asyncio.create_task(catalogue.settled()) for _ in range(5)]
        await asyncio.sleep(0)
        assert lists.begun == AT_ONCE
        await pauses.release()
        await lists.begins(AT_ONCE + 1)
        lists.end()
        assert await asyncio.gather(*several) == [True] * 5
        assert lists.begun == AT_ONCE + 1
