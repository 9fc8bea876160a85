"""A session that is found to be over by who listens, and not by a request."""

from __future__ import annotations

import asyncio

import pytest

from lockgate.mcp.client.session import ServerSession
from lockgate.testing.http_client import connected, echo, with_sessions
from lockgate.testing.http_faults import events, status
from lockgate.testing.http_heard import HttpExchange
from lockgate.testing.http_server import HttpServer

ENDS = events(": hello\n\n")
"""A stream that was had, and ends."""


async def works(server: HttpServer, session: ServerSession, initialized: int) -> None:
    """A call is answered, and there were so many sessions."""
    assert await echo(session, n=1) == '{"n": 1}'
    assert len(server.told("initialize")) == initialized


async def test_it_is_opened_anew_at_once() -> None:
    """One initialize, in the revision that was agreed upon, with no call that has to find out; and
    somebody listens in the new one."""
    async with with_sessions(listening=True) as server:
        server.on(ENDS, method="GET", nth=1).on(status(404), method="GET", nth=2)
        async with connected(server) as session:
            await server.wait_for(lambda: server.listeners == 1)
            first, second = server.told("initialize")
            assert first.message["params"] == second.message["params"]
            assert "mcp-session-id" not in second.headers
            assert len(server.told("notifications/initialized")) == 2
            assert server.asked("GET")[-1].headers["mcp-session-id"] == "session-2"
            await works(server, session, 2)


async def test_a_server_without_such_streams_has_not_forgotten_anything() -> None:
    """404 to the first GET of a session is what 405 is meant for."""
    async with with_sessions() as server:
        server.on(status(404), method="GET")
        async with connected(server) as session:
            await server.wait_for(lambda: len(server.asked("GET")) == 1)
            await works(server, session, 1)
            await works(server, session, 1)
        assert len(server.asked("GET")) == 1


async def test_one_that_ends_every_session_is_not_asked_without_end() -> None:
    """After one that was renewed so, the next one is left to the next request to find out."""
    count = 0

    async def comes_and_goes(exchange: HttpExchange) -> None:
        nonlocal count
        count += 1
        await (ENDS if count % 2 else status(404))(exchange)

    async with with_sessions(listening=True) as server:
        server.on(comes_and_goes, method="GET")
        async with connected(server) as session:
            await server.wait_for(lambda: len(server.asked("GET")) == 4)
            await works(server, session, 2)
            server.sessions.clear()
            await works(server, session, 3)


@pytest.mark.req("S3-17")
async def test_who_listens_finds_out_that_nobody_is_there() -> None:
    """The stream ends with its server, and nobody takes the next request for one: no call is needed
    to tell."""
    async with with_sessions(listening=True) as server, connected(server) as session:
        await server.wait_for(lambda: server.listeners == 1)
        await server.vanish()
        async with asyncio.timeout(5):
            error = await session.connection.wait_gone()
        assert "can not be reached: connection refused" in str(error)
        assert not session.connection.usable


async def test_a_call_and_who_listens_find_out_together() -> None:
    """One initialize for both."""

    async def over(exchange: HttpExchange) -> None:
        if exchange.heard.headers["mcp-session-id"] != "session-1":
            await exchange.as_scripted()
        else:
            await (ENDS if len(server.asked("GET")) == 1 else status(404))(exchange)

    async with with_sessions(listening=True) as server:
        server.on(over, method="GET")
        async with connected(server) as session:
            server.sessions.clear()
            await works(server, session, 2)
            await server.wait_for(lambda: server.listeners == 1)
            await works(server, session, 2)
