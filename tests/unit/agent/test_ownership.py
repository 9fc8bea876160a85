"""Who closes what: in order, whatever fails."""

from __future__ import annotations

import asyncio
import logging

import pytest

from lockgate.agent.ownership import Owned, Ownership, close_all
from lockgate.errors import LocalError


class _Thing:
    """Notes when it is closed; may fail, or not end."""

    def __init__(self, name: str, log: list[str], failure: Exception | None = None) -> None:
        self.name = name
        self._log = log
        self._failure = failure
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.closing = asyncio.Event()

    async def close(self) -> None:
        self.closing.set()
        await self.may_end.wait()
        self._log.append(self.name)
        if self._failure:
            raise self._failure


@pytest.mark.req("S3-07")
async def test_what_was_made_is_closed_when_the_rest_fails() -> None:
    """The builder closes its own, last made first, and the failure passes on."""
    log: list[str] = []

    async def build() -> None:
        async with Ownership() as made:
            made.own("store", _Thing("store", log).close)
            made.own("servers", _Thing("servers", log).close)
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        await build()
    assert log == ["servers", "store"]


@pytest.mark.req("S3-07")
async def test_what_was_made_is_closed_when_the_building_is_cancelled() -> None:
    """A cancellation is no way to leak."""
    log: list[str] = []
    inside = asyncio.Event()

    async def build() -> None:
        async with Ownership() as made:
            made.own("store", _Thing("store", log).close)
            inside.set()
            await asyncio.Event().wait()

    building = asyncio.create_task(build())
    await inside.wait()
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    assert log == ["store"]


@pytest.mark.req("S3-06")
async def test_released_things_belong_to_the_new_owner() -> None:
    """After `release` nothing is closed here; the order of closing goes along."""
    log: list[str] = []
    async with Ownership() as made:
        made.own("store", _Thing("store", log).close)
        made.own("servers", _Thing("servers", log).close)
        owned = made.release()
    assert log == []
    assert [thing.name for thing in owned] == ["servers", "store"]


@pytest.mark.req("S3-06")
async def test_a_failure_is_logged_and_the_rest_still_closes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The log names the thing; the words of a foreign error may hold a secret and stay out."""
    log: list[str] = []
    failing = _Thing("first", log, ValueError("token=abc"))
    ours = _Thing("second", log, LocalError("it was busy"))
    things = [Owned(t.name, t.close) for t in (failing, ours, _Thing("third", log))]
    with caplog.at_level(logging.WARNING):
        await close_all(things)
    assert log == ["first", "second", "third"]
    assert "closing first failed: ValueError" in caplog.text
    assert "closing second failed: LocalError: it was busy" in caplog.text
    assert "abc" not in caplog.text


async def test_a_thing_that_does_not_close_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    """Each has its time; the next one's turn comes."""
    log: list[str] = []
    stuck = _Thing("stuck", log)
    stuck.may_end.clear()
    await close_all([Owned("stuck", stuck.close), Owned("next", _Thing("next", log).close)], 0.01)
    assert log == ["next"]
    assert "closing stuck failed: TimeoutError" in caplog.text


async def test_a_cancellation_waits_until_everything_is_closed() -> None:
    """Also a repeated one; then it passes on."""
    log: list[str] = []
    slow = _Thing("slow", log)
    slow.may_end.clear()

    async def build() -> None:
        async with Ownership() as made:
            made.own("store", _Thing("store", log).close)
            made.own("slow", slow.close)

    building = asyncio.create_task(build())
    await slow.closing.wait()
    for _ in range(3):
        building.cancel()
        await asyncio.sleep(0)
    assert not building.done()
    slow.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await building
    assert log == ["slow", "store"]


async def test_nothing_owned_costs_nothing() -> None:
    """An empty block makes no task."""
    before = asyncio.all_tasks()
    async with Ownership():
        pass
    assert asyncio.all_tasks() == before
