"""When an address counts as one at which nobody is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from lockgate.errors import Fate, Fault, Phase
from lockgate.mcp.endpoint import SseEndpoint
from lockgate.mcp.protocol.jsonrpc import Outgoing
from lockgate.mcp.transport.base import Link
from lockgate.mcp.transport.http_pool import connecting
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.http_faults import page, reset, stall, status
from lockgate.testing.http_heard import Action, HttpExchange
from lockgate.testing.http_server import HttpServer
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import ScriptedServer
from lockgate.testing.sse_server import SseServer
from lockgate.testing.turns import turns

SIGNS: dict[str, Callable[[], Action]] = {
    "reset": reset,
    "502": lambda: page("Bad Gateway", 502),
    "503": lambda: status(503, headers={"retry-after": "7"}),
    "504": lambda: status(504),
}


def ping(id: int) -> Outgoing:
    payload = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % id
    return Outgoing(payload, id=id, method="ping")


@asynccontextmanager
async def linked(server: HttpServer) -> AsyncGenerator[tuple[Link, RecordingReceiver], None]:
    receiver = RecordingReceiver()
    if isinstance(server, SseServer):
        endpoint = SseEndpoint(f"{server.origin}/sse")
        transport = LegacySseTransport(endpoint, peer="there", environ={})
    else:
        transport = StreamableHttpTransport(server.endpoint(), peer="there", environ={})
    async with transport.open(receiver) as link:
        yield link, receiver


def serving(how: str) -> HttpServer:
    script = ScriptedServer()
    return SseServer(script) if how == "sse" else HttpServer(script)


@pytest.mark.req("S3-17")
async def test_one_connection_that_is_refused_proves_it() -> None:
    """It is told once, with what happened; what was to be sent was not."""
    async with HttpServer(ScriptedServer()) as server, linked(server) as (link, receiver):
        await link.send(ping(1))
        await receiver.answer(1)
        await server.vanish()
        await turns(20)
        for id in (2, 3):
            with pytest.raises(Exception, match="connection refused") as caught:
                await link.send(ping(id))
            error = caught.value
            assert getattr(error, "fate", None) is Fate.NOT_SENT
        assert len(receiver.notices) == 1
        told = receiver.notices[0]
        assert (told.fault, told.fate, told.phase) == (
            Fault.NOT_CONNECTED,
            Fate.NOT_SENT,
            Phase.CONNECT,
        )
        assert "can not be reached: connection refused" in str(told)
        assert receiver.errors == []


@pytest.mark.req("S3-17")
async def test_one_that_was_heard_again_can_be_lost_again() -> None:
    """Nothing is told twice of one absence, and each absence is told."""
    async with HttpServer(ScriptedServer()) as server, linked(server) as (link, receiver):
        for id in (1, 11):
            await server.vanish()
            await turns(20)
            for n in range(2):
                with pytest.raises(Exception, match="connection refused"):
                    await link.send(ping(id + n))
            await server.reappear()
            await link.send(ping(id + 2))
            await receiver.answer(id + 2)
        assert len(receiver.notices) == 2


@pytest.mark.parametrize("how", ["http", "sse"])
@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.req("S3-17")
async def test_three_failures_in_a_row_tell_it_too(how: str, sign: str) -> None:
    """One that hangs up, or a gateway's word; two with an answer between them and two more do not.
    What the server wants to be left alone for is told along."""
    async with serving(how) as server, linked(server) as (link, receiver):
        id = 0
        for failing in (2, 2, 3):
            for _ in range(failing):
                id += 1
                server.on(SIGNS[sign](), message="ping", nth=1)
                await link.send(ping(id))
                await receiver.lost(id)
                assert len(receiver.notices) == (failing == 3 and id == 9)
            if failing == 2:
                id += 1
                await link.send(ping(id))
                await receiver.answer(id)
        told = receiver.notices[0]
        assert str(told).endswith(", 3 times in a row")
        assert told.fault is Fault.NOT_CONNECTED
        assert told.retry_after == (7.0 if sign == "503" else None)


async def test_what_ends_together_is_one_sign() -> None:
    """Five exchanges that are reset at once were lost by one event; two more after it, one after
    the other, tell."""
    async with HttpServer(ScriptedServer()) as server, linked(server) as (link, receiver):
        go_on, waiting = asyncio.Event(), asyncio.Semaphore(0)

        async def all_at_once(exchange: HttpExchange) -> None:
            waiting.release()
            await go_on.wait()
            await reset()(exchange)

        server.on(all_at_once, message="ping")
        for id in range(1, 6):
            await link.send(ping(id))
            await waiting.acquire()
        go_on.set()
        for id in range(1, 6):
            await receiver.lost(id)
        assert receiver.notices == []
        for id in (6, 7):
            assert receiver.notices == []
            await link.send(ping(id))
            await receiver.lost(id)
        assert len(receiver.notices) == 1


@pytest.mark.parametrize(
    "action",
    [status(500), status(401), status(404), status(429), page()],
    ids=["500", "401", "404", "429", "page"],
)
async def test_a_server_that_fails_is_there(action: Action) -> None:
    """However often: 500, a refusal, a page are all said by somebody."""
    async with HttpServer(ScriptedServer()) as server, linked(server) as (link, receiver):
        server.on(action, message="ping")
        for id in range(1, 6):
            await link.send(ping(id))
            await receiver.lost(id)
        assert receiver.notices == []


async def test_one_that_takes_its_time_is_there() -> None:
    """A time that ran out says nothing; nor does what is given up because we leave."""
    async with HttpServer(ScriptedServer()) as server:
        async with linked(server) as (link, receiver):
            server.on(stall(), message="ping")
            for id in range(1, 6):
                await link.send(ping(id))
            await server.wait_for(lambda: len(server.told("ping")) == 5)
            for id in range(1, 4):
                link.abandon(id)
            await server.wait_for(lambda: len(server.hung_up) == 3)
        assert receiver.notices == []
        assert len(receiver.errors) == 1


@pytest.mark.parametrize(("request_timeout", "seconds"), [(0.5, 0.4), (10.0, 8.0), (60.0, 10.0)])
def test_a_connection_may_take_less_than_a_request(request_timeout: float, seconds: float) -> None:
    """So that it is the connection which failed, and not the request which ran out of time."""
    assert connecting(request_timeout) == pytest.approx(seconds)
