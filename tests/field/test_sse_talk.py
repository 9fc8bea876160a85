"""Field cases that were met over Streamable HTTP, with servers of the older transport."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lockgate.content import Text
from lockgate.errors import PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.testing.http_faults import redirect, status
from lockgate.testing.http_heard import Action, HttpExchange
from lockgate.testing.script import LEGACY, ScriptedServer
from lockgate.testing.sse_server import SseServer

SCRIPT = ScriptedServer(revisions=LEGACY)
BEARER = {"Authorization": "Bearer of-the-person"}


@asynccontextmanager
async def connected(server: SseServer, **more: Any) -> AsyncGenerator[ServerSession, None]:
    """A session; `more` are fields of its endpoint."""
    transport = LegacySseTransport(server.stream(**more), peer="old", environ={}, opening=5.0)
    me = ClientIdentity("test", "1")
    session = await connect(transport, peer="old", client=me, request_timeout=5)
    try:
        yield session
    finally:
        await session.close()


async def echo(session: ServerSession, **arguments: Any) -> str:
    """The text of a call."""
    result = await ToolClient(session).call("echo", arguments)
    return "".join(block.text for block in result.content if isinstance(block, Text))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
async def test_pb_063_whatever_is_no_message_in_the_stream_is_passed_over(line_end: str) -> None:
    """Ids alone, comments, other types, empty data; data in two lines; every line end; 200 KB."""
    async with SseServer(SCRIPT) as server, connected(server) as session:
        for number in range(3):
            noise = "id: 1\ndata:\n\n: keepalive\n\nretry: 500\n\nevent: ping\ndata: {}\n\n"
            long = '{"jsonrpc":"2.0","method":"notifications/x","params":{"p":"%s"}}' % (
                "x" * 200_000
            )
            split = 'data: {"jsonrpc":"2.0",\ndata: "method":"notifications/y"}\n\n'
            said = f"{noise}data: {long}\n\n{split}{noise}"
            await server.say_bytes(said.replace("\n", line_end).encode())
            assert await echo(session, n=number) == f'{{"n": {number}}}'


ACCEPTED: Mapping[str, tuple[int, bytes, Mapping[str, str]]] = {
    "200 plain": (200, b"ok", {"content-type": "text/plain"}),
    "200 empty": (200, b"", {}),
    "202 null": (202, b"null", {"content-type": "application/json"}),
    "202 html": (202, b"<html>Accepted</html>", {"content-type": "text/html"}),
}


@pytest.mark.parametrize("how", ACCEPTED)
async def test_pb_067_any_success_accepts_a_message(how: str) -> None:
    """Whatever the body of a 2xx is, it is not read as anything: answers come on the stream."""
    async with SseServer(SCRIPT, accepts=ACCEPTED[how]) as server, connected(server) as session:
        assert await echo(session, a=1) == '{"a": 1}'


async def test_pb_067_a_refused_notification_is_named() -> None:
    """500 is an error, and says to what."""
    async with SseServer(SCRIPT) as server:
        server.on(status(500, "oops"), message="notifications/initialized")
        with pytest.raises(PeerError, match=r"500(.|\n)*notifications/initialized"):
            async with connected(server):
                pass


@pytest.mark.parametrize("place", ["/sse/messages?session=1", "messages?session=1"])
@pytest.mark.parametrize("code", [307, 308])
async def test_pb_071_a_redirect_of_the_same_place_is_followed(code: int, place: str) -> None:
    """The stream at /sse is at /sse/: where it says that messages go is seen from there."""
    async with SseServer(SCRIPT, path="/sse/", place=place) as server:

        async def act(exchange: HttpExchange) -> None:
            target = exchange.heard.target
            if target == "/sse":
                await redirect(code, "/sse/")(exchange)
            else:
                await exchange.as_scripted()

        server.on(act, method="GET")
        async with connected(server, url=f"{server.origin}/sse") as session:
            assert await echo(session, a=1) == '{"a": 1}'


@pytest.mark.parametrize("code", [301, 302, 303])
async def test_pb_072_another_redirect_of_a_message_is_named_and_not_followed(code: int) -> None:
    """Never sent again as GET: the error says where it pointed, without its query."""
    async with SseServer(SCRIPT) as server:
        server.on(redirect(code, "/other?token=t0psecret"))
        with pytest.raises(PeerError) as refused:
            async with connected(server):
                pass
        assert f"{server.origin}/other" in str(refused.value)
        assert "t0psecret" not in str(refused.value)
        assert {heard.target.partition("?")[0] for heard in server.asked("GET")} == {"/sse"}


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_pb_072_a_redirect_elsewhere_takes_nothing_along(method: str) -> None:
    """307 to another origin: nothing is sent there, least of all who we are."""
    async with SseServer(SCRIPT) as server, SseServer(SCRIPT) as other:
        server.on(redirect(307, other.url), method=method)
        with pytest.raises(PeerError) as refused:
            async with connected(server, headers=BEARER):
                pass
        assert other.origin in str(refused.value)
        assert other.connections == 0


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_pb_072_redirects_in_a_circle_end(method: str) -> None:
    """a to b to a."""
    async with SseServer(SCRIPT) as server:

        async def act(exchange: HttpExchange) -> None:
            here = exchange.heard.target
            await redirect(307, "/a" if here == "/b" else "/b")(exchange)

        server.on(act, method=method)
        with pytest.raises(PeerError, match="circle"):
            async with connected(server):
                pass
        assert len(server.heard) <= 9


@pytest.mark.parametrize("code", [401, 403])
async def test_pb_079_who_is_not_let_in_is_told_so_once(code: int) -> None:
    """One clear message with the server's name and the status; one request; no token in it."""
    async with SseServer(SCRIPT) as server:
        challenge = {"www-authenticate": 'Bearer error="invalid_token"'}
        refusal: Action = status(code, f"{BEARER['Authorization']} is bad", challenge)
        server.on(refusal, method="GET")
        with pytest.raises(PeerError) as refused:
            async with connected(server, headers=BEARER):
                pass
        assert str(refused.value).startswith("old: ")
        assert str(code) in str(refused.value)
        assert "of-the-person" not in str(refused.value)
        assert len(server.heard) == 1
