"""The clock of the open requests: one timer, and each request given up at its own time."""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec import Raw

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.failures import Failures
from lockgate.mcp.client.pending import PendingRequests, Waiting
from lockgate.mcp.protocol.jsonrpc import Response

GONE = PeerError("it is gone", peer="s", phase=Phase.REQUEST, fault=Fault.CLOSED, fate=Fate.UNKNOWN)


def _open(
    pending: PendingRequests, seconds: float, sender: asyncio.Task[Any] | None = None
) -> Waiting:
    loop = asyncio.get_running_loop()
    waiting = Waiting("tools/call", loop.create_future(), sender, loop.time() + seconds)
    pending.add(pending.next_id(), waiting)
    return waiting


async def test_each_is_given_up_at_its_own_time() -> None:
    """Whatever the order in which they were made, and none before its time."""
    pending = PendingRequests(Failures("s"))
    limits = (0.03, 60.0, 0.01, 0.02, 0.01)
    opened = [_open(pending, limit) for limit in limits]
    order: list[float] = []
    for limit, waiting in zip(limits, opened, strict=True):
        waiting.answer.add_done_callback(lambda _, limit=limit: order.append(limit))
    async with asyncio.timeout(5):
        assert [await opened[n].answer for n in (0, 2, 3, 4)] == [None] * 4
    await asyncio.sleep(0)
    assert order == [0.01, 0.01, 0.02, 0.03]
    assert not opened[1].answer.done()
    pending.fail_all(GONE)


async def test_one_that_is_done_is_not_looked_at() -> None:
    """The clock goes on for the others when the one it was set for is gone."""
    pending = PendingRequests(Failures("s"))
    first, second = _open(pending, 0.01), _open(pending, 0.02)
    pending.drop(1)
    async with asyncio.timeout(5):
        assert await second.answer is None
    assert not first.answer.done()


async def test_who_waits_for_room_is_given_up_though_the_link_is_gone() -> None:
    """A link that forgets a sender can not make a request wait for ever."""
    pending = PendingRequests(Failures("s"))
    stuck = asyncio.create_task(asyncio.Event().wait())
    waiting = _open(pending, 0.01, stuck)
    pending.fail_all(GONE)
    assert isinstance(waiting.answer.result(), PeerError)
    async with asyncio.timeout(5):
        await asyncio.wait((stuck,))
    assert stuck.cancelled()


async def test_a_question_is_moot_however_its_request_is_answered() -> None:
    """Also by an answer whose id is a text: nobody waits for it any more."""
    pending = PendingRequests(Failures("s"))
    _open(pending, 60.0)
    over: list[bool] = []
    with pending.held(lambda: over.append(True)):
        pending.answered(Response("1", Raw(b"{}")))
        assert over
