"""Requests and answers over one connection: correlation, bounds, fates, cancel signals."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
from typing import Any

import msgspec
import pytest

from lockgate.errors import Fate, Fault, LocalError, PeerError, Phase
from lockgate.mcp.client.connection import Connection, Unwritable
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.jsonrpc import request
from lockgate.mcp.transport.memory import MemoryTransport
from lockgate.testing.memory_server import SILENCE, MemoryServer, Message, RpcError


def _result(identity: Any, result: Any = None) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": identity, "result": result or {}})


async def test_a_request_gets_its_result_undecoded(
    server: MemoryServer, session: ServerSession
) -> None:
    """`request` returns the JSON text of the result; what the server got is what was asked."""
    server.on("x/y", {"n": 2**70})
    raw = await session.connection.request("x/y", {"a": 1})
    assert msgspec.json.decode(raw) == {"n": 2**70}
    assert server.heard("x/y")[0]["params"] == {"a": 1}


@pytest.mark.req("S3-24")
async def test_answers_are_never_swapped(server: MemoryServer, session: ServerSession) -> None:
    """PB-088: a hundred requests at once, answered in random order between notifications and
    pings: each caller gets its own answer, and the time is the longest, not the sum."""
    waiting: list[Message] = []
    shuffled = random.Random(88)  # noqa: S311 - an order, no secret

    async def answer(message: Message) -> Any:
        waiting.append(message)
        if len(waiting) < 100:
            return SILENCE
        shuffled.shuffle(waiting)
        for number, held in enumerate(waiting):
            text = held["params"]["n"] + "x" * 10_000
            await server.say({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
            await server.say({"jsonrpc": "2.0", "id": f"p{number}", "method": "ping"})
            await server.say(_result(held["id"], {"text": text}))
        return SILENCE

    server.on("echo", answer)
    connection = session.connection
    raws = await asyncio.gather(*(connection.request("echo", {"n": str(n)}) for n in range(100)))
    texts = [msgspec.json.decode(raw)["text"].rstrip("x") for raw in raws]
    assert texts == [str(n) for n in range(100)]
    for number in range(100):
        assert (await server.hears_answer(f"p{number}"))["result"] == {}


async def test_an_error_answer_is_told_with_code_words_and_data(
    server: MemoryServer, session: ServerSession
) -> None:
    """A JSON-RPC error is REFUSED and ANSWERED; its words are cut to a bounded length."""

    async def refuse(message: Message) -> Any:
        raise RpcError(-32001, "no such thing" + "!" * 10_000, {"why": 1})

    server.on("x", refuse)
    with pytest.raises(PeerError, match="no such thing") as caught:
        await session.connection.request("x")
    error = caught.value
    assert (error.fault, error.fate, error.phase) == (Fault.REFUSED, Fate.ANSWERED, Phase.REQUEST)
    assert (error.code, error.data, error.peer) == (-32001, {"why": 1}, "fake")
    assert len(str(error)) < 4200


@pytest.mark.req("S3-21")
@pytest.mark.req("B-03")
async def test_no_answer_in_time_is_a_timeout_of_unknown_fate(
    server: MemoryServer, session: ServerSession
) -> None:
    """A request that was written and not answered in time: TIMEOUT, fate UNKNOWN, and the server
    is told by notifications/cancelled with its id that nobody waits any more."""
    server.on("slow", SILENCE)
    with pytest.raises(
        PeerError, match=r"did not answer slow within 0\.05 s \(timeout\)"
    ) as caught:
        await session.connection.request("slow", timeout=0.05)
    assert (caught.value.fault, caught.value.fate) == (Fault.TIMEOUT, Fate.UNKNOWN)
    cancelled = await server.hears("notifications/cancelled")
    assert cancelled["params"]["requestId"] == server.heard("slow")[0]["id"]


async def test_the_own_timeout_holds_where_none_is_given(server: MemoryServer) -> None:
    """Without `timeout`, a request takes as long as its connection says."""
    connection = Connection(server.transport(), peer="fake", request_timeout=0.05)
    await connection.open()
    server.on("slow", SILENCE)
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
async def test_cancellation_passes_and_is_told_to_the_server(
    server: MemoryServer, session: ServerSession
) -> None:
    """PB-023: only the cancelled call ends; a late answer to it is ignored, others go on."""
    server.on("slow", SILENCE)
    call = asyncio.create_task(session.connection.request("slow"))
    asked = await server.hears("slow")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    cancelled = await server.hears("notifications/cancelled")
    assert cancelled["params"]["requestId"] == asked["id"]
    server.on("echo", {"ok": True})
    assert msgspec.json.decode(await session.connection.request("echo")) == {"ok": True}
    await server.say(_result(asked["id"]))
    assert msgspec.json.decode(await session.connection.request("echo")) == {"ok": True}


async def test_a_late_answer_is_not_a_stray(
    server: MemoryServer, session: ServerSession, caplog: pytest.LogCaptureFixture
) -> None:
    """What answers a request that was given up is known as late, not warned about."""
    server.on("slow", SILENCE)
    with pytest.raises(PeerError):
        await session.connection.request("slow", timeout=0.01)
    with caplog.at_level(logging.DEBUG):
        await server.say(_result(server.heard("slow")[0]["id"]))
        await session.connection.request("ping")
    assert [r.levelno for r in caplog.records if "late answer" in r.message] == [logging.DEBUG]
    assert not [r for r in caplog.records if r.levelno > logging.DEBUG]


async def test_an_id_of_another_type_is_told_at_once(
    server: MemoryServer, session: ServerSession
) -> None:
    """PB-038: `"2"` does not answer 2; the call fails with both ids long before its timeout."""

    async def answer(message: Message) -> Any:
        return _result(str(message["id"]))

    server.on("x", answer)
    with pytest.raises(PeerError, match=r"a string, where \d+, a number, was asked") as caught:
        await session.connection.request("x")
    assert (caught.value.fault, caught.value.fate) == (Fault.MALFORMED, Fate.ANSWERED)
    assert f"'{server.heard('x')[0]['id']}'" in str(caught.value)


async def test_an_id_written_as_a_float_is_the_same_number(
    server: MemoryServer, session: ServerSession
) -> None:
    """PB-038: `2.0` is the JSON number 2."""

    async def answer(message: Message) -> Any:
        return b'{"jsonrpc":"2.0","id":%d.0,"result":{"ok":1}}' % message["id"]

    server.on("x", answer)
    assert msgspec.json.decode(await session.connection.request("x")) == {"ok": 1}


async def test_a_timeout_hints_at_answers_that_fitted_nobody(
    server: MemoryServer, session: ServerSession
) -> None:
    """PB-039: a server that answers everything with id 0 is found out from the message."""
    server.on("x", _result(0))
    with pytest.raises(PeerError, match="response with unknown id 0 received"):
        await session.connection.request("x", timeout=0.05)


async def test_an_error_without_an_id_is_hinted_at(
    server: MemoryServer, session: ServerSession
) -> None:
    """PB-039: an error for nobody in particular shows in the message of what then times out."""
    server.on("x", b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"bad request"}}')
    with pytest.raises(PeerError, match=r"error without an id received: bad request \(-32600\)"):
        await session.connection.request("x", timeout=0.05)


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (b'{"jsonrpc":"2.0","id":%d,"result":{"text":"a \xb0\xa1 b"}}', "not valid UTF-8"),
        (b'{"jsonrpc":"2.0","id":%d,"result":' + b"[" * 3000 + b"]" * 3000 + b"}", "nested"),
        (b'{"jsonrpc":"2.0","id":%d,"result":{"a":}}', "not JSON"),
    ],
)
async def test_an_answer_that_can_not_be_read_fails_its_own_call_only(
    server: MemoryServer, session: ServerSession, frame: bytes, why: str
) -> None:
    """PB-011, PB-111: the one who waits is told why at once, and the connection lives on."""

    async def answer(message: Message) -> Any:
        return frame % message["id"]

    server.on("bad", answer).on("other", SILENCE)
    other = asyncio.create_task(session.connection.request("other"))
    held = await server.hears("other")
    with pytest.raises(PeerError, match=f"fake.*{why}") as caught:
        await session.connection.request("bad")
    assert (caught.value.fault, caught.value.fate) == (Fault.MALFORMED, Fate.ANSWERED)
    await server.say(_result(held["id"], {"fine": True}))
    assert msgspec.json.decode(await other) == {"fine": True}


async def test_an_answer_over_the_limit_fails_its_own_call_only(server: MemoryServer) -> None:
    """PB-005: above the cap the call fails with the cap named, and the connection lives on."""
    server.on("big", {"text": "x" * 10_000}).on("small", {"ok": 1})
    connection = Connection(server.transport(frame_limit=5000), peer="fake", request_timeout=5)
    await connection.open()
    with pytest.raises(PeerError, match=r"over the limit for one frame") as caught:
        await connection.exchange(lambda id: request(id, "big"))
    assert (caught.value.fault, caught.value.fate) == (Fault.TOO_LARGE, Fate.ANSWERED)
    assert await connection.exchange(lambda id: request(id, "small"))
    await connection.close()


async def test_noise_harms_nobody_and_is_logged_with_the_server(
    server: MemoryServer, session: ServerSession, caplog: pytest.LogCaptureFixture
) -> None:
    """PB-001, PB-002: what is no message is skipped and logged, cut, with the server's name."""
    server.on("slow", SILENCE)
    call = asyncio.create_task(session.connection.request("slow"))
    asked = await server.hears("slow")
    noise = [b"Server version : 1.2", b'{"level":"info"}', b"42", b"null", b"[]", b'"ready"']
    with caplog.at_level(logging.DEBUG):
        for line in [*noise, b"y" * 100_000]:
            await server.say(line)
        await server.say(_result(asked["id"]))
        await call
    lines = [r for r in caplog.records if "fake sent something" in r.message]
    assert len(lines) == len(noise) + 1
    assert [r.levelno for r in lines].count(logging.WARNING) == 3
    assert max(len(r.message) for r in lines) < 500


@pytest.mark.req("S3-22")
async def test_when_the_server_ends_every_call_is_told_at_once(
    server: MemoryServer, session: ServerSession
) -> None:
    """PB-022: pending calls fail with fate UNKNOWN, later ones at once with NOT_SENT, and why."""
    server.on("slow", SILENCE)
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
    server: MemoryServer, session: ServerSession
) -> None:
    """PB-085: close while calls wait, twice at once and once more; from any task."""
    server.on("slow", SILENCE)
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
async def test_opening_and_closing_in_different_tasks_works(server: MemoryServer) -> None:
    """One task opens, another asks, a third closes."""
    connection = Connection(server.transport(), peer="fake")
    await asyncio.create_task(connection.open())
    await asyncio.create_task(connection.exchange(lambda id: request(id, "ping")))
    await asyncio.create_task(connection.close())
    assert not [t for t in asyncio.all_tasks() if t.get_name().startswith("lockgate")]


@pytest.mark.req("S3-24")
async def test_use_from_another_loop_is_refused_with_a_clear_error(
    server: MemoryServer, session: ServerSession
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


async def test_use_out_of_turn_is_a_local_error(server: MemoryServer) -> None:
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
    server: MemoryServer, session: ServerSession
) -> None:
    """The message names the kind of trouble and never the value."""
    for params in ({"a": object()}, {"a": "secret\ud800"}):
        with pytest.raises(Unwritable, match="can not be written as JSON") as caught:
            await session.connection.request("x", params)
        assert "secret" not in str(caught.value)
    assert not server.heard("x")


async def test_an_answer_that_comes_with_the_timeout_counts(
    server: MemoryServer, session: ServerSession
) -> None:
    """An answer that arrives in the turn of the loop in which time runs out is not thrown away."""

    async def busy(message: Message) -> Any:
        # Longer than the client's bound: its timer and the answer are due in the same turn.
        until = time.perf_counter() + 0.05
        while time.perf_counter() < until:
            pass
        return {"ok": 1}

    server.on("busy", busy)
    raw = await session.connection.request("busy", timeout=0.02)
    assert msgspec.json.decode(raw) == {"ok": 1}
    assert not server.heard("notifications/cancelled")
