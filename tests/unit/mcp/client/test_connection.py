"""Requests over one connection: bounds, fates, cancel signals, its end."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import msgspec
import pytest

from lockgate.errors import Fate, Fault, LocalError, PeerError
from lockgate.mcp.client.connection import Connection
from lockgate.mcp.client.making import Unwritable
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.jsonrpc import request
from lockgate.mcp.transport.memory import MemoryTransport, PeerLink
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.steps import Answer, Do, Message


async def test_a_request_gets_its_result_undecoded(
    server: LoopServer, session: ServerSession
) -> None:
    """`request` returns the JSON text of the result; what the server got is what was asked."""
    server.on("x/y", Answer(result={"n": 2**70}))
    raw = await session.connection.request("x/y", {"a": 1})
    assert msgspec.json.decode(raw) == {"n": 2**70}
    assert server.heard("x/y")[0]["params"] == {"a": 1}


@pytest.mark.req("S3-21")
@pytest.mark.req("B-03")
async def test_no_answer_in_time_is_a_timeout_of_unknown_fate(
    server: LoopServer, session: ServerSession
) -> None:
    """A request that was written and not answered in time: TIMEOUT, fate UNKNOWN, and the server
    is told by notifications/cancelled with its id that nobody waits any more."""
    server.on("slow")
    with pytest.raises(
        PeerError, match=r"did not answer slow within 0\.05 s \(timeout\)"
    ) as caught:
        await session.connection.request("slow", timeout=0.05)
    assert (caught.value.fault, caught.value.fate) == (Fault.TIMEOUT, Fate.UNKNOWN)
    cancelled = await server.hears("notifications/cancelled")
    assert cancelled["params"]["requestId"] == server.heard("slow")[0]["id"]


async def test_the_own_timeout_holds_where_none_is_given(server: LoopServer) -> None:
    """Without `timeout`, a request takes as long as its connection says."""
    connection = Connection(server.transport(), peer="fake", request_timeout=0.05)
    await connection.open()
    server.on("slow")
    with pytest.raises(PeerError, match=r"within 0\.05 s"):
        await connection.exchange(lambda id: request(id, "slow"), withdraw=False)
    await connection.close()
    assert not server.heard("notifications/cancelled")


@pytest.mark.req("S3-21")
async def test_waiting_for_room_counts_and_leaves_nothing_sent() -> None:
    """PB-015: a server that does not read: whoever waits for room times out as NOT_SENT, nothing
    of the request was sent and no cancel signal is either; closing is not held up."""

    async def deaf(link: Any) -> None:
        await asyncio.Event().wait()

    transport = MemoryTransport(deaf, peer="deaf", capacity=1, grace=0.05)
    connection = Connection(transport, peer="deaf", request_timeout=0.05)
    await connection.open()
    with pytest.raises(PeerError) as first:
        await connection.exchange(lambda id: request(id, "a"))
    with pytest.raises(PeerError, match="nothing was sent") as second:
        await connection.exchange(lambda id: request(id, "b"))
    assert (first.value.fate, second.value.fate) == (Fate.UNKNOWN, Fate.NOT_SENT)
    assert second.value.fault is Fault.TIMEOUT
    async with asyncio.timeout(2):
        await connection.close()


@pytest.mark.req("S3-21")
async def test_cancelled_while_it_waits_for_room_nothing_was_sent() -> None:
    """The cancellation passes, the clock's own is taken back, and no cancel signal is sent."""
    reading = asyncio.Event()
    heard: list[bytes] = []

    async def deaf_at_first(link: PeerLink) -> None:
        await reading.wait()
        while (frame := await link.receive()) is not None:
            heard.append(frame)

    transport = MemoryTransport(deaf_at_first, peer="deaf", capacity=1)
    connection = Connection(transport, peer="deaf", request_timeout=5)
    await connection.open()
    sent = asyncio.create_task(connection.exchange(lambda id: request(id, "sent")))
    await asyncio.sleep(0)
    waits = asyncio.create_task(connection.exchange(lambda id: request(id, "waits")))
    await asyncio.sleep(0)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    with pytest.raises(PeerError, match="no room for late"):
        await connection.exchange(lambda id: request(id, "late"), timeout=0.01)
    this = asyncio.current_task()
    assert this is not None
    assert this.cancelling() == 0
    reading.set()
    await asyncio.sleep(0)
    await connection.close()
    with pytest.raises(PeerError, match="the connection was closed"):
        await sent
    assert [msgspec.json.decode(frame)["method"] for frame in heard] == ["sent"]


@pytest.mark.req("S3-21")
async def test_cancellation_passes_and_is_told_to_the_server(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-023: only the cancelled call ends; a late answer to it is ignored, others go on."""
    server.on("slow")
    call = asyncio.create_task(session.connection.request("slow"))
    asked = await server.hears("slow")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    cancelled = await server.hears("notifications/cancelled")
    assert cancelled["params"]["requestId"] == asked["id"]
    server.on("echo", Answer(result={"ok": True}))
    assert msgspec.json.decode(await session.connection.request("echo")) == {"ok": True}
    await server.say({"jsonrpc": "2.0", "id": asked["id"], "result": {}})
    assert msgspec.json.decode(await session.connection.request("echo")) == {"ok": True}


@pytest.mark.req("S3-22")
async def test_when_the_server_ends_every_call_is_told_at_once(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-022: pending calls fail with fate UNKNOWN, later ones at once with NOT_SENT, and why."""
    server.on("slow")
    connection = session.connection
    calls = [asyncio.create_task(connection.request("slow")) for _ in range(3)]
    await server.hears("slow", 3)
    server.hang_up()
    async with asyncio.timeout(1):
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    for outcome in outcomes:
        assert isinstance(outcome, PeerError)
        assert (outcome.fault, outcome.fate) == (Fault.CLOSED, Fate.UNKNOWN)
        assert "no answer to slow: the server ended" in str(outcome)
    for _ in range(2):
        with pytest.raises(PeerError, match="nothing was sent: the server ended") as caught:
            await connection.request("slow")
        assert (caught.value.fault, caught.value.fate) == (Fault.NOT_CONNECTED, Fate.NOT_SENT)
    assert (await connection.wait_gone()) is connection.reason


async def test_closing_ends_pending_calls_and_is_idempotent(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-085: close while calls wait, twice at once and once more; from any task."""
    server.on("slow")
    call = asyncio.create_task(session.connection.request("slow"))
    await server.hears("slow")
    await asyncio.gather(session.close(), session.close())
    await session.close()
    with pytest.raises(PeerError, match="the connection was closed") as caught:
        await call
    assert caught.value.fate is Fate.UNKNOWN
    assert not session.connection.usable
    assert "closed" in repr(session.connection)


@pytest.mark.req("S3-24")
async def test_opening_and_closing_in_different_tasks_works(server: LoopServer) -> None:
    """One task opens, another asks, a third closes."""
    connection = Connection(server.transport(), peer="fake")
    await asyncio.create_task(connection.open())
    await asyncio.create_task(connection.exchange(lambda id: request(id, "ping")))
    await asyncio.create_task(connection.close())
    assert not [t for t in asyncio.all_tasks() if t.get_name().startswith("lockgate")]


@pytest.mark.req("S3-24")
async def test_use_from_another_loop_is_refused_with_a_clear_error(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-090: from a thread with a loop of its own: a LocalError at once, never a hang."""
    errors: list[Exception] = []

    def elsewhere() -> None:
        for use in (session.connection.request("x"), session.close()):
            try:
                asyncio.run(_bounded(use))
            except LocalError as error:
                errors.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    await asyncio.to_thread(thread.join, 5)
    assert ["another event loop" in str(error) for error in errors] == [True, True]
    assert session.connection.usable


async def _bounded(use: Any) -> None:
    async with asyncio.timeout(2):
        await use


async def test_use_out_of_turn_is_a_local_error(server: LoopServer) -> None:
    """Before opening, opened twice, before anything is agreed upon, opened after closing."""
    connection = Connection(server.transport(), peer="fake")
    with pytest.raises(LocalError, match="never opened"):
        await connection.exchange(lambda id: request(id, "ping"))
    await connection.open()
    with pytest.raises(LocalError, match="make a new one"):
        await connection.open()
    with pytest.raises(LocalError, match="no protocol revision"):
        await connection.request("ping")
    await connection.close()
    unused = Connection(server.transport(), peer="fake")
    await unused.close()
    with pytest.raises(LocalError, match="make a new one"):
        await unused.open()


async def test_params_without_a_json_form_are_refused_before_sending(
    server: LoopServer, session: ServerSession
) -> None:
    """The message names the kind of trouble and never the value."""
    for params in ({"a": object()}, {"a": "secret\ud800"}):
        with pytest.raises(Unwritable, match="can not be written as JSON") as caught:
            await session.connection.request("x", params)
        assert "secret" not in str(caught.value)
    assert not server.heard("x")


async def test_an_answer_that_comes_with_the_timeout_counts(
    server: LoopServer, session: ServerSession
) -> None:
    """An answer that arrives in the turn of the loop in which time runs out is not thrown away."""

    async def busy(message: Message) -> None:
        # Longer than the client's bound: its timer and the answer are due in the same turn.
        until = time.perf_counter() + 0.05
        while time.perf_counter() < until:
            pass

    server.on("busy", Do(busy), Answer(result={"ok": 1}))
    raw = await session.connection.request("busy", timeout=0.02)
    assert msgspec.json.decode(raw) == {"ok": 1}
    assert not server.heard("notifications/cancelled")
