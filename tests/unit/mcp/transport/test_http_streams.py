"""How soon a stream that ended is asked for again, whatever its server wants."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.eras import Era
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.http_streams import SHORTEST
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.http_client import PEER, echo, with_sessions
from lockgate.testing.http_heard import HttpExchange
from lockgate.testing.http_server import HttpServer

PAUSE = 0.08
ONLY_AN_ID = b"retry: 0\nid: 1\ndata: \n\n"
NEWS = b'retry: 0\nid: 1\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n'


@asynccontextmanager
async def _talking(server: HttpServer) -> AsyncGenerator[ServerSession]:
    transport = StreamableHttpTransport(server.endpoint(), peer=PEER, environ={}, pause=PAUSE)
    who = ClientIdentity("test", "1")
    session = await connect(transport, peer=PEER, client=who, eras={PEER: Era.LEGACY})
    try:
        yield session
    finally:
        await session.close()


def _asked(server: HttpServer, *says: bytes) -> list[float]:
    """When each GET of it comes, from now on; they are answered so, the last answer again and
    again."""
    times: list[float] = []

    async def act(exchange: HttpExchange) -> None:
        times.append(asyncio.get_running_loop().time())
        await exchange.event(says[min(len(times), len(says)) - 1])
        await exchange.end()

    server.on(act, method="GET")
    return times


@pytest.mark.parametrize(
    ("says", "shares"), [(ONLY_AN_ID, (2, 4, 4, 4)), (NEWS, (1, 1, 1, 1))], ids=["id", "message"]
)
async def test_a_server_that_wants_no_pause_is_not_asked_without_one(
    says: bytes, shares: tuple[int, ...]
) -> None:
    """`retry: 0` and the end, again and again: there is a floor, which grows while nothing but ids
    comes; the server is not given up for it."""
    async with with_sessions(listening=True) as server:
        times = _asked(server, says)
        async with _talking(server) as session:
            await server.wait_for(lambda: len(times) > len(shares) + 2)
            assert await echo(session, n=1) == '{"n": 1}'
    waits = [after - before for before, after in itertools.pairwise(times)]
    least = [share * SHORTEST * PAUSE for share in shares]
    assert all(wait > 0.95 * floor for wait, floor in zip(waits, least, strict=False))


async def test_the_rest_of_an_answer_is_not_asked_for_without_a_pause() -> None:
    """A call whose stream ends after `retry: 0` and an id: the same, until the answer is there."""
    async with with_sessions() as server, _talking(server) as session:
        number: list[int] = []

        async def ends(exchange: HttpExchange) -> None:
            number.append(exchange.heard.message["id"])
            await exchange.event(ONLY_AN_ID)
            await exchange.end()

        times: list[float] = []

        async def rest(exchange: HttpExchange) -> None:
            times.append(asyncio.get_running_loop().time())
            result = b'{"content":[{"type":"text","text":"there"}]}'
            whole = b'data: {"jsonrpc":"2.0","id":%d,"result":%b}\n\n' % (number[0], result)
            await exchange.event(whole if len(times) == 5 else ONLY_AN_ID)
            await exchange.end()

        server.on(ends, message="tools/call").on(rest, method="GET")
        assert await echo(session) == "there"
    assert times[-1] - times[0] > 0.95 * (2 + 4 + 4 + 4) * SHORTEST * PAUSE
