"""One link over Streamable HTTP: what goes out, what comes back, and what every failure is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.protocol.jsonrpc import Handling, Outgoing, notification, request, response
from lockgate.mcp.transport.base import Link, SessionEnded
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.http_faults import (
    events,
    page,
    raw,
    reset,
    slowly,
    stall,
    status,
    truncated,
)
from lockgate.testing.http_heard import Action, HttpExchange
from lockgate.testing.http_heard import head as head_of
from lockgate.testing.http_server import HttpServer
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import LEGACY, ScriptedServer

ANSWER = 'data: {"jsonrpc":"2.0","id":@id@,"result":{}}\n\n'


def call(number: int, handling: Handling = Handling.ALONE, **arguments: Any) -> Outgoing:
    """A call of `echo`."""
    params = {"name": "echo", "arguments": arguments}
    return request(number, "tools/call", params, handling=handling)


def opening(number: int = 1) -> Outgoing:
    """What may open a session."""
    return request(number, "initialize", {}, handling=Handling.OPENS_SESSION)


def begun() -> Outgoing:
    """What begins one."""
    headers = (("MCP-Protocol-Version", "some"),)
    return notification(
        "notifications/initialized", headers=headers, handling=Handling.BEGINS_SESSION
    )


@asynccontextmanager
async def linked(
    server: HttpServer, **more: Any
) -> AsyncGenerator[tuple[Link, RecordingReceiver], None]:
    """A link to it; `more` are fields of the endpoint."""
    receiver = RecordingReceiver()
    transport = StreamableHttpTransport(
        server.endpoint(**more), peer="there", environ={}, pause=0.01
    )
    async with transport.open(receiver) as link:
        yield link, receiver


async def test_a_message_is_a_post_with_what_belongs_to_it() -> None:
    """Method, types, the headers of message and endpoint; no cookie, no compression asked for."""
    async with HttpServer(ScriptedServer()) as server:
        message = request(7, "ping", headers=(("Mcp-Method", "ping"),))
        async with linked(server, headers={"X-Team": "a b"}) as (link, receiver):
            await link.send(message)
            await receiver.answer(7)
            await link.send(message)
            await receiver.answer(7)
        heard = server.heard[0]
        assert heard.method == "POST"
        assert heard.body == message.payload
        assert heard.headers["accept"] == "application/json, text/event-stream"
        assert heard.headers["content-type"] == "application/json"
        assert heard.headers["accept-encoding"] == "identity"
        assert heard.headers["mcp-method"] == "ping"
        assert heard.headers["x-team"] == "a b"
        assert "cookie" not in heard.headers
        assert link.mirrors


async def at_once(exchange: HttpExchange) -> None:
    """A stream of one event, its end in the same piece."""
    identity = str(exchange.heard.message["id"])
    data = ANSWER.replace("@id@", identity).encode()
    fields = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
    await exchange.write(head_of(200, fields) + b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data))


@pytest.mark.parametrize("stream", [False, True])
async def test_a_connection_is_used_again(stream: bool) -> None:
    """One after the other all calls go over one connection, after streams too."""
    server = HttpServer(ScriptedServer())
    if stream:
        server.on(at_once)
    async with server, linked(server) as (link, receiver):
        for number in range(1, 8):
            await link.send(call(number))
            await receiver.answer(number)
        assert server.connections == 1


async def test_a_stream_that_goes_on_after_the_answer_costs_its_connection_alone() -> None:
    """The answer is there at once; the connection is let go a second later, the link goes on."""
    server = HttpServer(ScriptedServer())
    server.on(events(ANSWER, ": more\n\n", then="stay"), message="tools/call", nth=1)
    async with server, linked(server) as (link, receiver):
        async with asyncio.timeout(0.9):
            await link.send(call(1))
            await receiver.answer(1)
            await link.send(call(2))
            await receiver.answer(2)
        await server.wait_for(lambda: len(server.hung_up) == 1)


FAULTS: Mapping[str, tuple[Action, Fault, Fate]] = {
    "reset": (reset(), Fault.CLOSED, Fate.UNKNOWN),
    "hang up": (raw(b""), Fault.CLOSED, Fate.UNKNOWN),
    "half a head": (raw(b"HTTP/1.1 200 OK\r\ncontent-"), Fault.CLOSED, Fate.UNKNOWN),
    "garbage": (raw(b"SSH-2.0-OpenSSH_9.6\r\n"), Fault.MALFORMED, Fate.UNKNOWN),
    "large head": (
        raw(b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100_000 + b"\r\n\r\n"),
        Fault.MALFORMED,
        Fate.UNKNOWN,
    ),
    "truncated": (truncated(b'{"jsonrpc":', of=100), Fault.CLOSED, Fate.UNKNOWN),
    "stream hangs up": (events("data: {", then="hang up"), Fault.CLOSED, Fate.UNKNOWN),
    "stream is reset": (events(": hm\n\n", then="reset"), Fault.CLOSED, Fate.UNKNOWN),
    "stream without": (events(": nothing\n\n"), Fault.MALFORMED, Fate.UNKNOWN),
    "empty": (status(200), Fault.MALFORMED, Fate.UNKNOWN),
    "html": (page(), Fault.MALFORMED, Fate.UNKNOWN),
    "another answer": (
        status(200, {"jsonrpc": "2.0", "id": 99, "result": {}}),
        Fault.MALFORMED,
        Fate.UNKNOWN,
    ),
    "no answer in a list": (
        status(
            200, b'[{"jsonrpc":"2.0","id":99,"result":{}}]', {"content-type": "application/json"}
        ),
        Fault.MALFORMED,
        Fate.UNKNOWN,
    ),
    "garbage for json": (
        status(200, b"\x16\x03\x01", {"content-type": "application/json"}),
        Fault.MALFORMED,
        Fate.UNKNOWN,
    ),
    "compressed": (
        status(200, b"x", {"content-type": "application/json", "content-encoding": "br"}),
        Fault.MALFORMED,
        Fate.UNKNOWN,
    ),
    "400": (status(400, "no"), Fault.REFUSED, Fate.ANSWERED),
    "401": (status(401), Fault.UNAUTHORIZED, Fate.NOT_SENT),
    "403": (status(403), Fault.UNAUTHORIZED, Fate.NOT_SENT),
    "404": (status(404), Fault.REFUSED, Fate.ANSWERED),
    "429": (status(429), Fault.RATE_LIMITED, Fate.NOT_SENT),
    "500": (status(500), Fault.REFUSED, Fate.UNKNOWN),
    "502": (page("Bad Gateway", 502), Fault.REFUSED, Fate.UNKNOWN),
    "502 json-rpc": (
        status(502, {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "gateway"}}),
        Fault.REFUSED,
        Fate.UNKNOWN,
    ),
    "503": (status(503, headers={"retry-after": "7"}), Fault.REFUSED, Fate.UNKNOWN),
}


@pytest.mark.parametrize("how", FAULTS)
@pytest.mark.req("B-03")
async def test_a_failed_exchange_fails_alone(how: str) -> None:
    """With its fault and fate and one line of words; the next call over the link is fine."""
    action, fault, fate = FAULTS[how]
    server = HttpServer(ScriptedServer()).on(action, message="tools/call", nth=1)
    async with server, linked(server) as (link, receiver):
        await link.send(call(1))
        error = await receiver.lost(1, timeout=5)
        assert (error.fault, error.fate) == (fault, fate)
        assert str(error).startswith(f"there: {server.url} ")
        assert "\n" not in str(error)
        await link.send(call(2))
        await receiver.answer(2)
        assert not receiver.errors
        assert len(server.told("tools/call")) == 2


async def test_a_server_that_is_not_there_was_sent_nothing() -> None:
    """Refused: the sender itself is told, NOT_SENT, phase CONNECT."""
    async with HttpServer(ScriptedServer()) as server:
        pass
    async with linked(server) as (link, receiver):
        with pytest.raises(PeerError, match="can not be reached: connection refused") as caught:
            await link.send(call(1))
    assert (caught.value.fault, caught.value.fate) == (Fault.NOT_CONNECTED, Fate.NOT_SENT)
    assert caught.value.phase is Phase.CONNECT
    assert receiver.failures == {}


async def test_a_pause_that_is_asked_for_is_in_the_error() -> None:
    """Retry-After of 429 and 503."""
    server = HttpServer(ScriptedServer()).on(status(429, headers={"retry-after": "12"}))
    async with server, linked(server) as (link, receiver):
        await link.send(call(1))
        assert (await receiver.lost(1)).retry_after == 12


@pytest.mark.parametrize("identity", [None, "server-error", 1])
async def test_an_error_in_the_body_of_a_refusal_is_the_answer(identity: object) -> None:
    """Whatever id it names: there is one request that it can be about."""
    error = {"code": -32022, "message": "no", "data": {"supported": ["x"]}}
    body = {"jsonrpc": "2.0", "id": identity, "error": error}
    server = HttpServer(ScriptedServer()).on(status(400, body))
    async with server, linked(server) as (link, receiver):
        await link.send(call(1))
        refusal = await receiver.refusal(1)
    assert (refusal.code, refusal.data) == (-32022, {"supported": ["x"]})


async def test_giving_up_closes_the_stream_of_the_request() -> None:
    """Without sessions that tells the server; the others go on."""
    server = HttpServer(ScriptedServer()).on(stall(), message="tools/call", nth=1)
    async with server, linked(server) as (link, receiver):
        await link.send(call(1))
        await link.send(call(2))
        assert link.abandon(1)
        await server.wait_for(lambda: len(server.hung_up) == 1)
        assert server.hung_up[0].message["id"] == 1
        await receiver.answer(2)
        assert receiver.failures == {}


async def test_in_a_session_giving_up_takes_a_message() -> None:
    """`abandon` says so, and reads no more."""
    server = HttpServer(ScriptedServer(revisions=LEGACY), sessions=True)
    server.on(stall(), message="tools/call")
    async with server, linked(server) as (link, receiver):
        await link.send(opening())
        await receiver.answer(1)
        await link.send(call(2, Handling.IN_SESSION))
        assert not link.abandon(2)
        await server.wait_for(lambda: len(server.hung_up) == 1)


async def test_a_session_is_named_in_all_that_follows_and_ended() -> None:
    """Requests, notifications, answers, GET, and DELETE at the end; the version beside them."""
    server = HttpServer(ScriptedServer(revisions=LEGACY), sessions=True, listening=True)
    async with server:
        async with linked(server) as (link, receiver):
            await link.send(opening())
            await receiver.answer(1)
            await link.send(begun())
            await server.wait_for(lambda: server.listeners == 1)
            await link.send(call(2, Handling.IN_SESSION))
            await receiver.answer(2)
            await link.send(response(5, {}))
            await server.wait_for(lambda: len(server.asked("POST")) == 4)
            await server.say({"jsonrpc": "2.0", "method": "notifications/message"})
            await receiver.next()
            await receiver.next()
            await receiver.next()
        first, *others = server.heard
        assert "mcp-session-id" not in first.headers
        assert {heard.headers.get("mcp-session-id") for heard in others} == {"session-1"}
        for heard in others:
            assert heard.headers.get("mcp-protocol-version", "some") == "some"
        assert others[-1].method == "DELETE"
        assert server.sessions == []


@pytest.mark.parametrize("offered", ["in two", "\x7f", "é"])
async def test_a_session_that_can_not_be_named_is_refused(offered: str) -> None:
    """Only visible ASCII goes into a header as it is."""
    body = '{"jsonrpc":"2.0","id":1,"result":{}}'
    fields = {"mcp-session-id": offered, "content-type": "application/json"}
    server = HttpServer(ScriptedServer()).on(status(200, body, fields))
    async with server, linked(server) as (link, receiver):
        await link.send(opening())
        error = await receiver.lost(1)
        assert error.fault is Fault.MALFORMED
        assert not receiver.frames


async def test_a_session_is_taken_from_its_opening_alone() -> None:
    """Another answer with the header changes nothing."""

    async def act(exchange: HttpExchange) -> None:
        body = b'{"jsonrpc":"2.0","id":1,"result":{}}'
        fields = {"content-type": "application/json", "mcp-session-id": "stolen"}
        await exchange.answer(200, body, fields)

    server = HttpServer(ScriptedServer()).on(act, nth=1)
    async with server, linked(server) as (link, receiver):
        await link.send(call(1))
        await receiver.answer(1)
        await link.send(call(2))
        await receiver.answer(2)
        assert "mcp-session-id" not in server.heard[1].headers


async def test_an_ended_session_is_told_as_one() -> None:
    """404 to what was sent in a session; without one it is a refusal."""
    server = HttpServer(ScriptedServer(revisions=LEGACY), sessions=True)
    async with server, linked(server) as (link, receiver):
        await link.send(opening())
        await receiver.answer(1)
        server.sessions.clear()
        await link.send(call(2, Handling.IN_SESSION))
        assert isinstance(await receiver.lost(2), SessionEnded)


async def test_nothing_overtakes_what_begins_a_session() -> None:
    """It is waited for until the server has accepted it."""
    server = HttpServer(ScriptedServer(revisions=LEGACY), sessions=True)
    server.on(slowly(0.05), message="notifications/initialized")
    async with server, linked(server) as (link, receiver):
        await link.send(opening())
        await receiver.answer(1)
        loop = asyncio.get_running_loop()
        started = loop.time()
        await link.send(begun())
        assert loop.time() - started >= 0.05


async def test_a_body_without_a_length_and_over_the_limit_is_told_by_its_size() -> None:
    """In pieces, counted to its end, its two ends kept."""
    text = '{"jsonrpc":"2.0","id":1,"result":"' + "x" * 300_000 + '"}'
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in _pieces(text.encode()))
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    server = HttpServer(ScriptedServer()).on(raw(head + chunks + b"0\r\n\r\n", stay=True))
    receiver = RecordingReceiver()
    async with server:
        transport = StreamableHttpTransport(
            server.endpoint(), peer="there", environ={}, frame_limit=100_000
        )
        async with transport.open(receiver) as link:
            await link.send(call(1))
            begun_with, size = await receiver.too_large()
            assert size == len(text)
            assert begun_with.startswith(b'{"jsonrpc"')
            assert (await receiver.lost(1)).fault is Fault.TOO_LARGE


def _pieces(data: bytes) -> list[bytes]:
    return [data[at : at + 7919] for at in range(0, len(data), 7919)]
