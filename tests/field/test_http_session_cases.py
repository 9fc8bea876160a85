"""Cases met in the field: sessions over HTTP that end, broken streams, answers that are none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from lockgate.errors import Fate, PeerError
from lockgate.mcp.protocol.eras import Era
from lockgate.testing.http_client import connected, echo, with_sessions
from lockgate.testing.http_faults import events, page, status
from lockgate.testing.http_heard import Action, HttpExchange
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import ScriptedServer

RESULT = '{"jsonrpc":"2.0","id":@id@,"result":{"content":[{"type":"text","text":"here"}]}}'


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
    async with with_sessions() as server, connected(server) as session:
        assert await echo(session, n=1) == '{"n": 1}'
        server.on(ENDED[how], message="tools/call", nth=1)
        assert await echo(session, n=2) == '{"n": 2}'
        first, again = server.told("initialize")
        assert "mcp-session-id" not in first.headers
        assert "mcp-session-id" not in again.headers
        calls = [heard.headers["mcp-session-id"] for heard in server.told("tools/call")]
        assert calls == ["session-1", "session-1", "session-2"]


async def test_pb_055_calls_that_fail_together_share_one_new_session() -> None:
    """Ten calls find the session gone: one initialize, and each is made once more."""
    async with with_sessions() as server, connected(server) as session:
        server.sessions.clear()
        answers = await asyncio.gather(*(echo(session, n=n) for n in range(10)))
        assert answers == [f'{{"n": {n}}}' for n in range(10)]
        assert len(server.told("initialize")) == 2
        assert server.sessions == ["session-2"]


async def test_pb_055_a_server_that_forgets_everything_is_one_clear_error() -> None:
    """404 to all that follows: one attempt at a new session, one error, no loop."""
    async with with_sessions() as server, connected(server) as session:
        server.on(status(404))
        with pytest.raises(PeerError) as caught:
            await echo(session)
        assert "no new one can be opened" in str(caught.value)
        assert "404" in str(caught.value)
        assert caught.value.fate is Fate.NOT_SENT
        assert len(server.told("initialize")) == 2
        assert len(server.told("tools/call")) == 1


async def test_pb_055_a_new_session_that_ends_at_once_is_not_renewed_for_ever() -> None:
    """A second 404 to the same call is its error."""
    async with with_sessions() as server, connected(server) as session:
        server.on(status(404), message="tools/call")
        with pytest.raises(PeerError, match="does not know the session"):
            await echo(session)
        assert len(server.told("tools/call")) == 2
        assert len(server.told("initialize")) == 2


async def test_pb_056_a_late_404_of_the_old_session_leaves_the_new_one() -> None:
    """Two calls on session A; the second learns of its end when B is there: it is made on B."""
    waiting, late = asyncio.Event(), asyncio.Event()

    async def when_told(exchange: HttpExchange) -> None:
        waiting.set()
        await late.wait()
        await exchange.answer(404)

    async with with_sessions() as server, connected(server) as session:
        server.on(when_told, message="tools/call", nth=1)
        second = asyncio.create_task(echo(session, n=2))
        await waiting.wait()
        server.on(status(404), message="tools/call", nth=1)
        assert await echo(session, n=1) == '{"n": 1}'
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

    async with with_sessions() as server, connected(server) as session:
        server.on(events("retry: 20\nid: e1\ndata:\n\n"), message="tools/call")
        server.on(resumed, method="GET")
        started = asyncio.get_running_loop().time()
        assert await echo(session) == "here"
        assert tries == ["e1", "e1", "e1"]
        assert asyncio.get_running_loop().time() - started >= 0.04
        assert len(server.told("tools/call")) == 1


async def test_pb_062_a_stream_that_never_goes_on_is_given_up() -> None:
    """A bounded number of tries, and a fate that does not pretend to know."""
    async with with_sessions() as server, connected(server) as session:
        server.on(events("retry: 1\nid: e1\ndata:\n\n", then="reset"), message="tools/call")
        server.on(events(": nothing\n\n"), method="GET")
        with pytest.raises(PeerError) as caught:
            await echo(session)
        assert caught.value.fate is Fate.UNKNOWN
        assert "take it up again" in str(caught.value)
        tries = [h for h in server.asked("GET") if "last-event-id" in h.headers]
        assert 2 <= len(tries) <= 6


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
    async with with_sessions() as server:
        server.on(ACCEPTED[how], message="notifications/initialized")
        async with connected(server) as session:
            assert await echo(session, a=1) == '{"a": 1}'


async def test_pb_067_a_refused_notification_is_named() -> None:
    """500 is an error, and says to what."""
    async with with_sessions() as server:
        server.on(status(500, "oops"), message="notifications/initialized")
        error = await refused(server)
        assert "500" in str(error)
        assert "notifications/initialized" in str(error)


async def test_pb_068_an_answer_may_come_where_we_listen() -> None:
    """202 to a call, and its result on the stream of GET."""
    async with with_sessions(listening=True) as server, connected(server) as session:
        await server.wait_for(lambda: server.listeners == 1)
        server.on(status(202), message="tools/call")
        calling = asyncio.create_task(echo(session))
        await server.wait_for(lambda: len(server.told("tools/call")) == 1)
        identity = server.told("tools/call")[0].message["id"]
        result = {"content": [{"type": "text", "text": "late"}]}
        await server.say({"jsonrpc": "2.0", "id": identity, "result": result})
        assert await calling == "late"


async def test_pb_068_without_a_stream_a_202_is_an_error_at_once() -> None:
    """GET answered with 405 is no failure, but then 202 can not be answered any more."""
    async with with_sessions() as server, connected(server, timeout=30) as session:
        await server.wait_for(lambda: len(server.asked("GET")) == 1)
        assert await echo(session, fine=True) == '{"fine": true}'
        server.on(status(202), message="tools/call")
        async with asyncio.timeout(5):
            with pytest.raises(PeerError, match="202") as caught:
                await echo(session)
        assert caught.value.fate is Fate.UNKNOWN


async def test_pb_068_a_stream_that_closes_each_time_is_no_storm() -> None:
    """A few tries, with pauses, and then the request fails."""
    async with with_sessions() as server:
        server.on(events(": hello\n\n"), method="GET").on(status(202), message="tools/call")
        async with connected(server, timeout=30) as session:
            with pytest.raises(PeerError, match="202"):
                await echo(session)
            assert len(server.asked("GET")) <= 6
