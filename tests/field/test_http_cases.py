"""Cases met in the field: servers over HTTP, where they are, and what they say there."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from lockgate.errors import Fate, Fault, PeerError
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol.eras import Era
from lockgate.testing.http_client import connected, echo
from lockgate.testing.http_faults import events, page, redirect, status
from lockgate.testing.http_heard import HttpExchange
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import ScriptedServer

RESULT = '{"jsonrpc":"2.0","id":@id@,"result":{"content":[{"type":"text","text":"here"}]}}'


async def refused(server: HttpServer, era: Era | None = None, **more: Any) -> PeerError:
    """Connecting has to fail."""
    with pytest.raises(PeerError) as caught:
        async with connected(server, era, **more):
            pass
    return caught.value


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("modern", [True, False])
async def test_pb_063_whatever_is_no_message_in_a_stream_is_passed_over(
    line_end: str, modern: bool
) -> None:
    """Priming events, comments, other types; data in two lines; every line end; a long line."""
    head, tail = RESULT.split('"content"')
    long = '{"jsonrpc":"2.0","method":"notifications/x","params":{"p":"%s"}}' % ("x" * 200_000)
    stream = (
        "id: 1\ndata:\n\n: keepalive\n\nretry: 500\n\nevent: ping\ndata: {}\n\n"
        f'data: {long}\n\ndata: {head}\ndata: "content"{tail}\n\n'
    ).replace("\n", line_end)
    era = None if modern else Era.LEGACY
    server = HttpServer(ScriptedServer(), sessions=True)
    async with server, connected(server, era) as session:
        server.on(events(stream), message="tools/call")
        assert await echo(session) == "here"


@pytest.mark.parametrize("code", [307, 308])
async def test_pb_071_a_redirect_of_the_same_place_is_followed(code: int) -> None:
    """/mcp answers 307 to /mcp/, which works: the message is sent there, body and all."""
    async with HttpServer(ScriptedServer(), path="/mcp/") as server:

        async def act(exchange: HttpExchange) -> None:
            if exchange.heard.target == "/mcp":
                await redirect(code, "/mcp/")(exchange)
            else:
                await exchange.as_scripted()

        server.on(act)
        async with connected(server, None, url=f"{server.origin}/mcp") as session:
            assert await echo(session, a=1) == '{"a": 1}'


async def test_pb_071_the_address_is_used_as_it_is_written(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Query, upper-case host, escapes and other letters: sent as given; the password never told."""
    caplog.set_level(logging.DEBUG)
    path = "/m%63p/%EA%B0%80"
    async with HttpServer(ScriptedServer(), path=path) as server:
        url = f"http://user:p%40ssword@LOCALHOST:{server.port}/m%63p/가?key=v&x=%2f+a"
        async with connected(server, None, url=url) as session:
            assert await echo(session, a=1) == '{"a": 1}'
        heard = server.heard[-1]
        assert heard.target == f"{path}?key=v&x=%2f+a"
        assert heard.headers["authorization"] == "Basic dXNlcjpwQHNzd29yZA=="
        server.on(status(500, "p@ssword is wrong, and so is p%40ssword"))
        error = await refused(server, url=url)
    for told in (str(error), caplog.text, repr(server.endpoint(url=url))):
        assert "p@ss" not in told
        assert "p%40ss" not in told
        assert "key=v" not in told


async def test_pb_071_an_ipv6_address_is_reached() -> None:
    """In brackets."""
    async with HttpServer(ScriptedServer(), host="::1") as server:
        async with connected(server, None) as session:
            assert await echo(session, a=1) == '{"a": 1}'
        assert server.heard[0].headers["host"] == f"[::1]:{server.port}"


def test_pb_071_white_space_around_an_address_is_refused() -> None:
    """And said to be what is wrong."""
    with pytest.raises(ValueError, match="white space"):
        HttpEndpoint("http://127.0.0.1/mcp ")


@pytest.mark.parametrize("code", [301, 302, 303])
async def test_pb_072_another_redirect_is_named_and_not_followed(code: int) -> None:
    """Never sent again as GET: the error says what to configure, without its query."""
    async with HttpServer(ScriptedServer()) as server:
        server.on(redirect(code, "/other?token=t0psecret"))
        error = await refused(server)
        assert f"{server.origin}/other" in str(error)
        assert "set the url" in str(error)
        assert "t0psecret" not in str(error)
        assert {heard.target for heard in server.heard} == {"/mcp"}


async def test_pb_072_a_redirect_elsewhere_takes_nothing_along() -> None:
    """307 to another origin: nothing is sent there, least of all who we are."""
    async with HttpServer(ScriptedServer()) as server, HttpServer(ScriptedServer()) as other:
        server.on(redirect(307, other.url))
        error = await refused(server, headers={"Authorization": "Bearer abcdef123456"})
        assert other.url in str(error)
        assert other.connections == 0


async def test_pb_072_redirects_in_a_circle_end() -> None:
    """a to b to a."""
    async with HttpServer(ScriptedServer()) as server:

        async def act(exchange: HttpExchange) -> None:
            here = exchange.heard.target
            await redirect(307, "/b" if here == "/mcp" else "/mcp")(exchange)

        server.on(act)
        error = await refused(server)
        assert "circle" in str(error)
        assert len(server.heard) <= 8


async def test_pb_076_the_older_transport_is_recognised() -> None:
    """POST is refused and GET opens a stream: the error says which transport that seems to be."""
    older = events("event: endpoint\ndata: /messages?x=1\n\n", then="stay")
    for code in (404, 405):
        async with HttpServer(ScriptedServer()) as server:
            server.on(status(code)).on(older, method="GET")
            error = await refused(server)
            assert "older transport" in str(error)
            assert "sse" in str(error)


async def test_pb_076_a_page_for_people_is_told_in_one_line() -> None:
    """200 text/html to everything: its title, no trace of a decoder."""
    async with HttpServer(ScriptedServer()) as server:
        server.on(page("Welcome to nginx!")).on(page("Welcome to nginx!"), method="GET")
        error = await refused(server)
        assert "a web page, 'Welcome to nginx!'" in str(error)
        assert "\n" not in str(error)
        assert error.fault is Fault.MALFORMED


@pytest.mark.parametrize("code", [401, 403])
async def test_pb_079_who_is_not_let_in_is_told_so_once(code: int) -> None:
    """One clear message with the server's name and the status; one request; no token in it."""
    async with HttpServer(ScriptedServer()) as server:
        challenge = {"www-authenticate": 'Bearer error="invalid_token"'}
        server.on(status(code, "token abcdef123456 is bad", challenge))
        error = await refused(server, headers={"Authorization": "Bearer abcdef123456"})
        assert error.fault is Fault.UNAUTHORIZED
        assert error.fate is Fate.NOT_SENT
        assert str(error).startswith("there: ")
        assert str(code) in str(error)
        assert "abcdef123456" not in str(error)
        assert len(server.heard) == 1
