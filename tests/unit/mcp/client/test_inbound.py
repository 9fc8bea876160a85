"""What servers say unasked: pings, requests of their own, notifications."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.connection import Connection
from lockgate.mcp.client.inbound import Listener
from lockgate.mcp.client.services import Occasion, Refusal, Root, Services
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.jsonrpc import request
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.steps import Answer, Ask, Do, Message, Raw, Send


def _ask(identity: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}


async def test_pings_are_answered_while_a_call_waits(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-048: with the same id, 0 and strings among them, a hundred in a row, at once."""
    server.on("slow")
    call = asyncio.create_task(session.connection.request("slow"))
    await server.hears("slow")
    identities: list[int | str] = ["p1", 0, *range(1000, 1100)]
    for identity in identities:
        await server.say(_ask(identity, "ping"))
    for identity in identities:
        assert (await server.hears_answer(identity))["result"] == {}
    assert not call.done()
    call.cancel()


async def test_a_ping_before_the_handshake_is_answered(server: LoopServer) -> None:
    """PB-048: a server may ask before it answers initialize, and wait for that."""
    server.on("initialize", Ask("ping"), Answer())
    client = ClientIdentity("test", "1")
    session = await connect(server.transport(), peer="fake", client=client, request_timeout=5)
    await session.close()
    order = [message.get("method", "an answer") for message in server.received]
    assert order == ["server/discover", "initialize", "an answer", "notifications/initialized"]


@pytest.mark.parametrize(
    "method", ["roots/list", "sampling/createMessage", "elicitation/create", "made/up"]
)
async def test_what_nobody_handles_is_refused(
    server: LoopServer, session: ServerSession, method: str
) -> None:
    """A server that asks is told "method not found" at once, not left waiting."""
    await server.say(_ask("q", method))
    answer = await server.hears_answer("q")
    assert answer["error"]["code"] == -32601
    assert method in answer["error"]["message"]


async def test_what_is_asked_just_before_closing_is_answered(
    server: LoopServer, session: ServerSession
) -> None:
    """A server left waiting for roots/list can stay alive for a minute: it is told first."""
    await server.say(_ask("last", "roots/list"))
    heard = asyncio.create_task(server.hears_answer("last"))
    await asyncio.sleep(0)
    await session.close()
    assert (await heard)["error"]["code"] == -32601


async def test_a_request_that_can_not_be_read_is_refused(
    server: LoopServer, session: ServerSession
) -> None:
    """Whoever asked something unreadable hears so, by the id that could still be made out."""
    await server.say(b'{"jsonrpc":"2.0","id":"u","method":"ping","params":{"a":"\xb0"}}')
    answer = await server.hears_answer("u")
    assert answer["error"]["code"] == -32600
    assert "UTF-8" in answer["error"]["message"]


async def test_a_registered_handler_answers(server: LoopServer) -> None:
    """What the host serves is asked, in a task of its own; what fails there is refused without its
    text, and a `Refusal` with the words that it has for the server."""

    async def roots(occasion: Occasion) -> list[Root]:
        return [Root(f"file:///{occasion.server}")]

    async def sample(params: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
        if params["n"] == 1:
            raise ValueError("secret")
        raise Refusal(-1, "not today")

    server.on("tools/call", tool="slow")
    connection = await _serving(server, Services(roots=roots, sample=sample))
    call = asyncio.create_task(connection.request("tools/call", {"name": "slow"}))
    await server.hears("tools/call")
    await server.say(_ask("r", "roots/list"))
    assert (await server.hears_answer("r"))["result"] == {"roots": [{"uri": "file:///fake"}]}
    await server.say(_ask("x", "sampling/createMessage", n=1))
    refused = await server.hears_answer("x")
    assert refused["error"] == {"code": -32603, "message": "the request could not be handled"}
    await server.say(_ask("y", "sampling/createMessage", n=2))
    assert (await server.hears_answer("y"))["error"] == {"code": -1, "message": "not today"}
    call.cancel()
    await connection.close()


async def _serving(server: LoopServer, services: Services) -> Connection:
    """A connection that is agreed upon, on which the server may ask for this."""
    client = ClientIdentity("test", "1")
    session = await connect(server.transport(), peer="fake", client=client, services=services)
    return session.connection


async def _handling(server: LoopServer) -> tuple[Connection, asyncio.Event]:
    """A connection that handles a request for good, and what is set when that is cancelled."""
    cancelled = asyncio.Event()

    async def forever(occasion: Occasion) -> list[Root]:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return []

    connection = await _serving(server, Services(roots=forever))
    await server.say(_ask("r", "roots/list"))
    await connection.exchange(lambda id: request(id, "ping"))
    return connection, cancelled


async def test_a_handler_that_still_runs_is_refused_at_the_end(server: LoopServer) -> None:
    """Closing cancels handlers, after the server was told that no answer comes."""
    connection, cancelled = await _handling(server)
    await connection.close()
    assert cancelled.is_set()
    assert (await server.hears_answer("r"))["error"]["message"] == "the client is closing"


@pytest.mark.parametrize(
    "params", [{"requestId": "other"}, {"requestId": 1}, {"requestId": None}, {}, [1], None]
)
async def test_a_request_that_the_server_cancels_is_not_handled_any_further(
    server: LoopServer, params: Any
) -> None:
    """`notifications/cancelled` for that very id, and for no other; it is not answered then."""
    connection, cancelled = await _handling(server)
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    await server.say({**note, "params": params})
    await connection.exchange(lambda id: request(id, "ping"))
    assert not cancelled.is_set()
    await server.say({**note, "params": {"requestId": "r", "reason": "no need"}})
    async with asyncio.timeout(5):
        await cancelled.wait()
    await connection.close()
    assert server.answered("r") == []


async def test_handlers_end_with_a_server_that_ends(server: LoopServer) -> None:
    """Nobody is left to answer: what is being handled is cancelled."""
    connection, cancelled = await _handling(server)
    server.hang_up()
    await connection.wait_gone()
    async with asyncio.timeout(1):
        await cancelled.wait()
    await connection.close()


async def test_the_number_of_handlers_at_work_is_bounded(server: LoopServer) -> None:
    """A server that asks without end is refused, not allowed to pile up tasks."""
    gate = asyncio.Event()

    async def wait(occasion: Occasion) -> list[Root]:
        await gate.wait()
        return []

    connection = await _serving(server, Services(roots=wait))
    for number in range(101):
        await server.say(_ask(number + 1, "roots/list"))
    refused = await server.hears_answer(101)
    assert "100 requests are being handled" in refused["error"]["message"]
    gate.set()
    assert (await server.hears_answer(100))["result"] == {"roots": []}
    await connection.close()


async def test_listeners_hear_everything_in_order_and_fail_alone(
    server: LoopServer, caplog: pytest.LogCaptureFixture
) -> None:
    """PB-052: odd notifications are handed on as they are, before the handshake too; a listener
    that fails is logged without what it was told, and the others still hear everything."""
    heard: list[tuple[str, str, Any]] = []

    def broken(name: str, method: str, params: Any) -> None:
        raise ValueError(f"secret {params}")

    def told(name: str, method: str, params: Any) -> None:
        heard.append((name, method, params))

    listeners: list[Listener] = [broken, told]
    odd: list[dict[str, Any]] = [
        {"method": "notifications/message", "params": {"level": "verbose", "data": {"a": 1}}},
        {"method": "notifications/message", "params": {"level": "info", "data": ["secret"]}},
        {"method": "notifications/message", "params": {"data": None}},
        {"method": "notifications/unknown"},
        {"method": "notifications/progress", "params": {"progressToken": 9, "progress": -1}},
        {"method": "notifications/message", "params": [1, 2]},
        {"method": "notifications/message", "params": None},
    ]
    server.on("initialize", *(Send({"jsonrpc": "2.0", **each}) for each in odd), Answer())
    client = ClientIdentity("test", "1")
    with caplog.at_level(logging.ERROR):
        session = await connect(
            server.transport(), peer="fake", client=client, request_timeout=5, listeners=listeners
        )
    assert heard == [("fake", n["method"], n.get("params")) for n in odd]
    assert len([r for r in caplog.records if "a listener failed" in r.message]) == len(odd)
    assert "secret" not in caplog.text
    assert "ValueError at" in caplog.text
    await session.close()


async def test_nothing_is_heard_after_closing(server: LoopServer) -> None:
    """A listener is never called again once the connection is closed."""
    heard: list[str] = []
    client = ClientIdentity("test", "1")
    session = await connect(
        server.transport(),
        peer="fake",
        client=client,
        listeners=[lambda server, method, params: heard.append(method)],
    )
    await server.say({"jsonrpc": "2.0", "method": "notifications/one"})
    await session.connection.request("ping")
    await session.close()
    assert heard == ["notifications/one"]


async def test_batches_are_read_where_the_revision_has_them(server: LoopServer) -> None:
    """2025-03-26 allowed batches: read there, and refused as no message everywhere else."""

    async def batch(message: Message) -> Raw:
        return Raw(
            b'[{"jsonrpc":"2.0","method":"notifications/x"},'
            b'{"jsonrpc":"2.0","id":%d,"result":{"ok":1}}]\n' % message["id"]
        )

    server.on("x", Do(batch))
    server.on("initialize", Answer(result={"protocolVersion": "2025-03-26"}))
    client = ClientIdentity("test", "1")
    session = await connect(server.transport(), peer="fake", client=client, request_timeout=5)
    assert bytes(await session.connection.request("x")) == b'{"ok":1}'
    await session.close()
