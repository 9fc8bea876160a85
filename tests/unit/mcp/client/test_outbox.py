"""Frames sent on nobody's behalf: bounded, in order, and not for ever."""

from __future__ import annotations

import asyncio
import logging

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.outbox import CAPACITY, LAST_WORDS, Outbox
from lockgate.mcp.protocol.jsonrpc import Outgoing, RequestId


class Link:
    """A link that takes frames when it is open, and raises what it is told to."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.open = asyncio.Event()
        self.error: PeerError | None = None

    async def send(self, message: Outgoing) -> None:
        await self.open.wait()
        if self.error is not None:
            raise self.error
        self.sent.append(message.payload)

    def abandon(self, request: RequestId) -> bool:
        return False

    @property
    def mirrors(self) -> bool:
        return False

    def last_words(self) -> str:
        return ""


def _frame(number: int) -> Outgoing:
    return Outgoing(b"%d" % number)


async def test_frames_are_written_in_order_and_the_rest_at_the_end() -> None:
    """What was put before the end is still written."""
    link, outbox = Link(), Outbox("fake", 5)
    link.open.set()
    delivering = asyncio.create_task(outbox.deliver(link))
    for number in range(3):
        outbox.put(_frame(number))
    outbox.end()
    outbox.put(_frame(9))
    await delivering
    assert link.sent == [b"0", b"1", b"2"]


async def test_a_link_that_is_stuck_does_not_hold_up_the_end() -> None:
    """The frame being written when the end comes gets LAST_WORDS, not its whole patience."""
    link, outbox = Link(), Outbox("fake", 60)
    delivering = asyncio.create_task(outbox.deliver(link))
    outbox.put(_frame(0))
    outbox.put(_frame(1))
    await asyncio.sleep(0)
    async with asyncio.timeout(LAST_WORDS + 1):
        outbox.end()
        await delivering
    assert link.sent == []


async def test_what_can_not_be_written_is_logged_and_the_next_is_tried(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One frame's failure is not the next one's."""
    link, outbox = Link(), Outbox("fake", 5)
    link.open.set()
    link.error = PeerError(
        "no\nanswer [no]: \x1b[2J",
        peer="fake",
        phase=Phase.REQUEST,
        fault=Fault.CLOSED,
        fate=Fate.NOT_SENT,
    )
    delivering = asyncio.create_task(outbox.deliver(link))
    with caplog.at_level(logging.DEBUG):
        outbox.put(_frame(0))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        link.error = None
        outbox.put(_frame(1))
        outbox.end()
        await delivering
    assert link.sent == [b"1"]
    assert "a frame could not be written: no\\nanswer [no]: \\x1b[2J" in caplog.text


async def test_a_frame_too_many_is_dropped() -> None:
    """A server that asks and never reads fills no memory."""
    link, outbox = Link(), Outbox("fake", 5)
    for number in range(CAPACITY + 5):
        outbox.put(_frame(number))
    link.open.set()
    outbox.end()
    await outbox.deliver(link)
    assert link.sent == [b"%d" % number for number in range(CAPACITY)]
