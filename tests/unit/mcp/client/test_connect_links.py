"""Links that end, or never begin, while a server is being connected to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.connect import connect
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.memory import MemoryTransport, PeerLink
from lockgate.testing.turns import turns

CLIENT = ClientIdentity("test", "1")


async def nobody(link: PeerLink) -> None:
    """A server that ends at once."""


async def test_a_server_that_ends_at_once_is_started_once_more_and_then_named() -> None:
    """The link is gone before anything could be sent: told like an end on the probe, not raised."""
    starts = 0

    async def quits(link: PeerLink) -> None:
        nonlocal starts
        starts += 1

    transport = MemoryTransport(quits, peer="quits")
    with pytest.raises(PeerError, match=r"ended before it answered initialize.*the server ended"):
        await connect(transport, peer="quits", client=CLIENT)
    assert starts == 2
    assert not _left()


async def test_a_server_that_ends_right_after_its_answer_is_named() -> None:
    """The answer and the end arrive in one turn of the loop: no session is handed out."""

    async def serve(link: PeerLink) -> None:
        await link.receive()
        await link.send(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}')
        await link.receive()
        await link.send(b'{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25"}}')

    with pytest.raises(PeerError, match="agreed on a revision, and then ended: the server ended"):
        await connect(MemoryTransport(serve, peer="quits"), peer="quits", client=CLIENT)
    assert not _left()


async def test_cancelled_while_the_link_is_opened_nothing_is_left() -> None:
    """The owner is told to stop, and waited for."""
    opening = asyncio.Event()
    undone = asyncio.Event()

    class Slow(MemoryTransport):
        def open(self, receiver: Any) -> Any:
            return self

        async def __aenter__(self) -> Any:
            opening.set()
            try:
                await asyncio.Event().wait()
            finally:
                undone.set()

        async def __aexit__(self, *error: object) -> None:
            raise AssertionError("what was not entered is not left")

    connecting = asyncio.create_task(connect(Slow(nobody, peer="x"), peer="x", client=CLIENT))
    await opening.wait()
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert undone.is_set()
    assert not _left()


@pytest.mark.parametrize("failed", [True, False], ids=["failed", "cancelled"])
async def test_cancelled_while_it_closes_all_is_closed_before_that_is_told(failed: bool) -> None:
    """A connect that failed, or was cancelled, is closing its link when the stop comes: nothing of
    it is left when the stop gets through, however often it is said."""
    closing, closed, may_close = asyncio.Event(), asyncio.Event(), asyncio.Event()

    class Slow(MemoryTransport):
        @asynccontextmanager
        async def open(self, receiver: Any) -> AsyncGenerator[Any, None]:
            async with super().open(receiver) as link:
                try:
                    yield link
                finally:
                    closing.set()
                    await may_close.wait()
                    closed.set()

    heard = asyncio.Event()

    async def serve(link: PeerLink) -> None:
        asked = await link.receive()
        if failed:
            while asked is not None and b"initialize" not in asked:
                await link.send(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}')
                asked = await link.receive()
            result = b'{"protocolVersion":"2099-01-01"}'
            await link.send(b'{"jsonrpc":"2.0","id":2,"result":%b}' % result)
        heard.set()
        await link.receive()

    transport = Slow(serve, peer="x")
    connecting = asyncio.create_task(connect(transport, peer="x", client=CLIENT))
    async with asyncio.timeout(5):
        await heard.wait()
        if not failed:
            connecting.cancel()
        await closing.wait()
        for _ in range(3):
            connecting.cancel()
            await turns(5)
        assert not connecting.done()
        may_close.set()
        with pytest.raises(asyncio.CancelledError):
            await connecting
    assert closed.is_set()
    assert not _left()


async def test_a_server_that_can_not_be_reached_is_told_as_it_was() -> None:
    """What the transport says about spawning is passed on, with its phase."""

    class Missing(MemoryTransport):
        def open(self, receiver: Any) -> Any:
            raise PeerError(
                "no such program",
                peer="x",
                phase=Phase.SPAWN,
                fault=Fault.NOT_STARTED,
                fate=Fate.NOT_SENT,
            )

    with pytest.raises(PeerError, match="no such program") as caught:
        await connect(Missing(nobody, peer="x"), peer="x", client=CLIENT)
    assert caught.value.phase is Phase.SPAWN
    assert not _left()


async def test_a_transport_with_a_defect_is_no_hang(caplog: pytest.LogCaptureFixture) -> None:
    """An exception that no transport should raise ends the connection, and is logged."""

    class Broken(MemoryTransport):
        def open(self, receiver: Any) -> Any:
            raise ZeroDivisionError

    with pytest.raises(PeerError, match="the transport failed: ZeroDivisionError"):
        await connect(Broken(nobody, peer="x"), peer="x", client=CLIENT)
    assert "the transport failed" in caplog.text


def _left() -> list[str]:
    """Our tasks that still run."""
    return [t.get_name() for t in asyncio.all_tasks() if t.get_name().startswith("lockgate")]
