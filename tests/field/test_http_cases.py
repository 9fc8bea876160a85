"""Cases met in the field: servers over HTTP, their sessions, streams, redirects and oddities."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lockgate.errors import Fate, Fault, PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol.eras import Era
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.http_faults import events, page, redirect, status
from lockgate.testing.http_heard import Action, HttpExchange
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import LEGACY, ScriptedServer

RESULT = '{"jsonrpc":"2.0","id":@id@,"result":{"content":[{"type":"text","text":"here"}]}}'


def legacy(**more: Any) -> HttpServer:
    """A server with sessions."""
    return HttpServer(ScriptedServer(revisions=LEGACY), sessions=True, **more)


@asynccontextmanager
async def connected(
    server: HttpServer, era: Era | None = Era.LEGACY, *, timeout: float = 10, **more: Any
) -> AsyncGenerator[ServerSession, None]:
    """A session; `more` are fields of the endpoint."""
    transport = StreamableHttpTransport(
        server.endpoint(**more), peer="there", environ={}, pause=0.01
    )
    session = await connect(
        transport,
        peer="there",
        client=ClientIdentity("test", "1"),
        request_timeout=timeout,
        eras={} if era is None else {"there": era},
    )
    try:
        yield session
    finally:
        await session.close()


async def text(session: ServerSession, **arguments: Any) -> str:
    """What a call of `echo` brings, and which session it went in, if the server says so."""
    result = await ToolClient(session).call("echo", arguments)
    return "".join(getattr(block, "text", "") for block in result.content)


async def refused(server: HttpServer, era: Era | None = None, **more: Any) -> PeerError:
    """Connecting has to fail."""
    with pytest.raises(PeerError) as caught:
        async with connected(server, era, **more):
            pass
    return caught.value


ENDED: Mapping[str, Action] = {
    "empty": status(404),
    "html": page("Not Found", 404),
    "json-rpc": status(
        404,
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Session not found"}},
    ),
    "plain": status(404, "no such session", {"content-type": "text/plain"}),
}


@pytest.mark.parametrize("how", ENDED)
@pytest.mark.req("S3-17")
async def test_pb_055_a_session_that_ended_is_opened_again_once(how: str) -> None:
    """404 in whatever form: one new initialize, without the old session, and the call once more."""
    async with legacy() as server, connected(server) as session:
        assert await text(session, n=1) == '{"n": 1}'
        server.on(ENDED[how], message="tools/call", nth=1)
        assert await text(session, n=2) == '{"n": 2}'
        first, again = server.told("initialize")
        assert "mcp-session-id" not in first.headers
        assert "mcp-session-id" not in again.headers
        calls = [heard.headers["mcp-session-id"] for heard in server.told("tools/call")]
        assert calls == ["session-1", "session-1", "session-2"]


async def test_pb_055_calls_that_fail_together_share_one_new_session() -> None:
    """Ten calls find the session gone: one initialize, and each is made once more."""
    async with legacy() as server, connected(server) as session:
        server.sessions.clear()
        answers = await asyncio.gather(*(text(session, n=n) for n in range(10)))
        assert answers == [f'{{"n": {n}}}' for n in range(10)]
        assert len(server.told("initialize")) == 2
        assert server.sessions == ["session-2"]


async def test_pb_055_a_server_that_forgets_everything_is_one_clear_error() -> None:
    """404 to all that follows: one attempt at a new session, one error, no loop."""
    async with legacy() as server, connected(server) as session:
        server.on(status(404))
        with pytest.raises(PeerError) as caught:
            await text(session)
        assert "no new one can be opened" in str(caught.value)
        assert "404" in str(caught.value)
        assert caught.value.fate is Fate.NOT_SENT
        assert len(server.told("initialize")) == 2
        assert len(server.told("tools/call")) == 1


async def test_pb_055_a_new_session_that_ends_at_once_is_not_renewed_for_ever() -> None:
    """A second 404 to the same call is its error."""
    async with legacy() as server, connected(server) as session:
        server.on(status(404), message="tools/call")
        with pytest.raises(PeerError, match="does not know the session"):
            await text(session)
        assert len(server.told("tools/call")) == 2
        assert len(server.told("initialize")) == 2


async def test_pb_056_a_late_404_of_the_old_session_leaves_the_new_one() -> None:
    """Two calls on session A; the second learns of its end when B is there: it is made on B."""
    waiting, late = asyncio.Event(), asyncio.Event()

    async def when_told(exchange: HttpExchange) -> None:
        waiting.set()
        await late.wait()
        await exchange.answer(404)

    async with legacy() as server, connected(server) as session:
        server.on(when_told, message="tools/call", nth=1)
        second = asyncio.create_task(text(session, n=2))
        await waiting.wait()
        server.on(status(404), message="tools/call", nth=1)
        assert await text(session, n=1) == '{"n": 1}'
        late.set()
        assert await second == '{"n": 2}'
        assert server.told("tools/call")[-1].headers["mcp-session-id"] == "session-2"
        assert len(server.told("initialize")) == 2


@pytest.mark.parametrize("era", [None, Era.LEGACY])
async def test_pb_056_a_wrong_path_is_said_to_be_one(era: Era | None) -> None:
    """404 to the very first message: the address and what to do, and no second try of any kind."""
    async with HttpServer(ScriptedServer()) as server:
        error = await refused(server, era, url=f"{server.origin}/wrong")
        assert f"{server.origin}/wrong answered 404" in str(error)
        assert "check the path" in str(error)
        assert len(server.told("initialize")) == (1 if era is None else 2)


async def test_pb_062_a_broken_stream_is_taken_up_where_it_ended() -> None:
    """POST answered by an id and the end; two empty streams; the third brings the result."""
    tries: list[str | None] = []

    async def resumed(exchange: HttpExchange) -> None:
        last = exchange.heard.headers.get("last-event-id")
        if last is None:
            await exchange.answer(405)
            return
        tries.append(last)
        if len(tries) < 3:
            await events(": nothing yet\n\n")(exchange)
            return
        identity = server.told("tools/call")[0].message["id"]
        await events(f"id: e2\ndata: {RESULT}\n\n".replace("@id@", str(identity)))(exchange)

    async with legacy() as server, connected(server) as session:
        server.on(events("retry: 20\nid: e1\ndata:\n\n"), message="tools/call")
        server.on(resumed, method="GET")
        started = asyncio.get_running_loop().time()
        assert await text(session) == "here"
        assert tries == ["e1", "e1", "e1"]
        assert asyncio.get_running_loop().time() - started >= 0.04
        assert len(server.told("tools/call")) == 1


async def test_pb_062_a_stream_that_never_goes_on_is_given_up() -> None:
    """A bounded number of tries, and a fate that does not pretend to know."""
    async with legacy() as server, connected(server) as session:
        server.on(events("retry: 1\nid: e1\ndata:\n\n", then="reset"), message="tools/call")
        server.on(events(": nothing\n\n"), method="GET")
        with pytest.raises(PeerError) as caught:
            await text(session)
        assert caught.value.fate is Fate.UNKNOWN
        assert "take it up again" in str(caught.value)
        tries = [h for h in server.asked("GET") if "last-event-id" in h.headers]
        assert 2 <= len(tries) <= 6


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
        assert await text(session) == "here"


async def no_content(exchange: HttpExchange) -> None:
    """204, which has no body, and the connection stays."""
    await exchange.write(b"HTTP/1.1 204 No Content\r\n\r\n")


ACCEPTED: Mapping[str, Action] = {
    "200 plain": status(200, "ok", {"content-type": "text/plain"}),
    "200 empty": status(200),
    "204": no_content,
    "202 null": status(202, "null", {"content-type": "application/json"}),
    "202 html": page("Accepted", 202),
}


@pytest.mark.parametrize("how", ACCEPTED)
async def test_pb_067_any_success_accepts_a_notification(how: str) -> None:
    """Whatever the body of a 2xx is, it is not read as anything."""
    async with legacy() as server:
        server.on(ACCEPTED[how], message="notifications/initialized")
        async with connected(server) as session:
            assert await text(session, a=1) == '{"a": 1}'


async def test_pb_067_a_refused_notification_is_named() -> None:
    """500 is an error, and says to what."""
    async with legacy() as server:
        server.on(status(500, "oops"), message="notifications/initialized")
        error = await refused(server)
        assert "500" in str(error)
        assert "notifications/initialized" in str(error)


async def test_pb_068_an_answer_may_come_where_we_listen() -> None:
    """202 to a call, and its result on the stream of GET."""
    async with legacy(listening=True) as server, connected(server) as session:
        await server.wait_for(lambda: server.listeners == 1)
        server.on(status(202), message="tools/call")
        calling = asyncio.create_task(text(session))
        await server.wait_for(lambda: len(server.told("tools/call")) == 1)
        identity = server.told("tools/call")[0].message["id"]
        result = {"content": [{"type": "text", "text": "late"}]}
        await server.say({"jsonrpc": "2.0", "id": identity, "result": result})
        assert await calling == "late"


async def test_pb_068_without_a_stream_a_202_is_an_error_at_once() -> None:
    """GET answered with 405 is no failure, but then 202 can not be answered any more."""
    async with legacy() as server, connected(server, timeout=30) as session:
        await server.wait_for(lambda: len(server.asked("GET")) == 1)
        assert await text(session, fine=True) == '{"fine": true}'
        server.on(status(202), message="tools/call")
        async with asyncio.timeout(5):
            with pytest.raises(PeerError, match="202") as caught:
                await text(session)
        assert caught.value.fate is Fate.UNKNOWN


async def test_pb_068_a_stream_that_closes_each_time_is_no_storm() -> None:
    """A few tries, with pauses, and then the request fails."""
    async with legacy() as server:
        server.on(events(": hello\n\n"), method="GET").on(status(202), message="tools/call")
        async with connected(server, timeout=30) as session:
            with pytest.raises(PeerError, match="202"):
                await text(session)
            assert len(server.asked("GET")) <= 6


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
            assert await text(session, a=1) == '{"a": 1}'


async def test_pb_071_the_address_is_used_as_it_is_written(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Query, upper-case host, escapes and other letters: sent as given; the password never told."""
    caplog.set_level(logging.DEBUG)
    path = "/m%63p/%EA%B0%80"
    async with HttpServer(ScriptedServer(), path=path) as server:
        url = f"http://user:p%40ssword@LOCALHOST:{server.port}/m%63p/가?key=v&x=%2f+a"
        async with connected(server, None, url=url) as session:
            assert await text(session, a=1) == '{"a": 1}'
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
            assert await text(session, a=1) == '{"a": 1}'
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
