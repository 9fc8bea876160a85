"""What is particular to frames in memory; the rest is in the contract."""

from __future__ import annotations

import asyncio

import pytest

from lockgate.errors import PeerError, Phase
from lockgate.mcp.protocol.jsonrpc import Outgoing
from lockgate.mcp.transport.memory import MemoryTransport, PeerLink, memory_pair
from lockgate.testing.receiver import RecordingReceiver


async def echo(peer: PeerLink) -> None:
    """Sends back what it is sent."""
    while (frame := await peer.receive()) is not None:
        await peer.send(frame)


async def test_a_pair_is_crossed() -> None:
    """What one side sends the other hears, and both hear the end."""
    left, right = RecordingReceiver(), RecordingReceiver()
    async with memory_pair(left, right, peer="other") as (one, two):
        await one.send(Outgoing(b"to the right"))
        await two.send(Outgoing(b"to the left"))
        assert (await left.next(), await right.next()) == (b"to the left", b"to the right")
    assert [error.phase for error in (*left.errors, *right.errors)] == [Phase.CLOSE] * 2


async def test_a_receiver_is_never_called_by_a_sender() -> None:
    """Frames come from the loop: a receiver that makes someone send is not entered twice."""
    left, right = RecordingReceiver(), RecordingReceiver()
    async with memory_pair(left, right, peer="other") as (one, _):
        await one.send(Outgoing(b"x"))
        assert right.frames == []
        await right.next()


async def test_a_full_pair_makes_senders_wait() -> None:
    """As many frames as its capacity, and not one more, before the other side is asked."""
    left, right = RecordingReceiver(), RecordingReceiver()
    async with memory_pair(left, right, peer="other", capacity=2) as (one, _):
        async with asyncio.timeout(5):
            for number in range(20):
                await one.send(Outgoing(b"%d" % number))
        await asyncio.sleep(0)
        assert right.frames == [b"%d" % number for number in range(20)]


async def test_a_server_that_fails_has_hung_up() -> None:
    """The receiver is told what kind of failure, and the failure itself is the error's cause."""

    async def fail(peer: PeerLink) -> None:
        await peer.receive()
        raise LookupError("secret")

    receiver = RecordingReceiver()
    async with MemoryTransport(fail, peer="here").open(receiver) as link:
        await link.send(Outgoing(b"x"))
        error = await receiver.end()
    assert str(error) == "the server failed: LookupError"
    assert isinstance(error.__cause__, LookupError)


async def test_a_server_that_ignores_its_end_is_cancelled() -> None:
    """After the grace period."""
    ended: list[str] = []

    async def stay(peer: PeerLink) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async with MemoryTransport(stay, peer="here", grace=0.01).open(RecordingReceiver()):
        await asyncio.sleep(0)
    assert ended == ["cancelled"]


async def test_a_server_may_answer_until_it_returns() -> None:
    """What it sent before it returned is delivered before the end is told."""

    async def answer(peer: PeerLink) -> None:
        for number in range(100):
            await peer.send(b"%d" % number)

    receiver = RecordingReceiver()
    async with MemoryTransport(answer, peer="here", capacity=3).open(receiver):
        assert str(await receiver.end()) == "the server ended"
    assert len(receiver.frames) == 100


async def test_a_server_that_sends_to_nobody_is_told() -> None:
    """Its client has hung up: an error, not a queue that grows."""
    told = asyncio.Event()

    async def late(peer: PeerLink) -> None:
        while await peer.receive() is not None:
            pass
        with pytest.raises(PeerError, match="closed"):
            await peer.send(b"x")
        told.set()

    async with MemoryTransport(late, peer="here").open(RecordingReceiver()):
        await asyncio.sleep(0)
    assert told.is_set()


async def test_a_receiver_that_fails_ends_the_link() -> None:
    """As over a pipe."""
    reported: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: reported.append(context["exception"]))

    class Failing(RecordingReceiver):
        def frame(self, data: bytes) -> None:
            raise LookupError

    receiver = Failing()
    async with MemoryTransport(echo, peer="here").open(receiver) as link:
        await link.send(Outgoing(b"x"))
        assert str(await receiver.end()) == "what it sent could not be taken in"
    assert isinstance(reported[0], LookupError)


def test_where_it_runs_is_said() -> None:
    """For lists and messages."""
    assert MemoryTransport(echo, peer="here").describe() == "in this process"


async def test_a_capacity_is_at_least_one() -> None:
    """Nothing could ever be sent otherwise."""
    with pytest.raises(ValueError, match="capacity"):
        async with MemoryTransport(echo, peer="here", capacity=0).open(RecordingReceiver()):
            pass
