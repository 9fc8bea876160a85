"""HTTP with SSE (2024-11-05): where messages go, what an end means, and what else may be there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import HttpEndpoint, SseEndpoint
from lockgate.mcp.protocol.jsonrpc import Handling, Outgoing
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.base import Link
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.testing.http_faults import events, page, raw, status
from lockgate.testing.http_heard import HttpExchange
from lockgate.testing.http_server import HttpServer
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import LEGACY, ScriptedServer
from lockgate.testing.sse_server import SseServer
from lockgate.testing.transport_bench import call

SCRIPT = ScriptedServer(revisions=LEGACY)


def transport(endpoint: SseEndpoint) -> LegacySseTransport:
    """With no patience to speak of."""
    return LegacySseTransport(endpoint, peer="old", environ={}, opening=1.0)


@asynccontextmanager
async def opened(server: SseServer) -> AsyncGenerator[tuple[Link, RecordingReceiver], None]:
    """A link to it."""
    receiver = RecordingReceiver()
    async with transport(server.stream()).open(receiver) as link:
        yield link, receiver


async def refused(endpoint: SseEndpoint) -> PeerError:
    """Opening has to fail, with nothing sent."""
    with pytest.raises(PeerError) as caught:
        async with transport(endpoint).open(RecordingReceiver()):
            pass
    assert (caught.value.phase, caught.value.fate) == (Phase.CONNECT, Fate.NOT_SENT)
    return caught.value


@pytest.mark.req("S3-16")
async def test_a_session_begins_with_the_handshake_and_calls_are_answered() -> None:
    """Nothing is probed: whoever speaks this transport wants `initialize` (2024-11-05)."""
    async with SseServer(SCRIPT) as server:
        session = await connect(
            transport(server.stream()), peer="old", client=ClientIdentity("test", "1")
        )
        try:
            answers = await asyncio.gather(
                *(ToolClient(session).call("echo", {"n": number}) for number in range(20))
            )
        finally:
            await session.close()
    texts = ["".join(getattr(block, "text", "") for block in each.content) for each in answers]
    assert texts == [f'{{"n": {number}}}' for number in range(20)]
    said = [heard.message.get("method") for heard in server.asked("POST")]
    assert said[:2] == ["initialize", "notifications/initialized"]
    assert len(server.asked("GET")) == 1


async def test_headers_go_with_the_stream_and_with_every_message() -> None:
    """Configured headers, and who a url says we are, to both addresses."""
    async with SseServer(SCRIPT) as server:
        url = server.url.replace("//", "//me:secret@")
        receiver = RecordingReceiver()
        async with transport(server.stream(url=url, headers={"X-Team": "one"})).open(
            receiver
        ) as link:
            await link.send(call(1))
            await receiver.answer(1)
    for heard in server.heard:
        assert heard.headers["x-team"] == "one"
        assert heard.headers["authorization"].startswith("Basic ")


async def test_the_end_of_the_stream_is_the_end_of_the_connection() -> None:
    """Whatever is open is UNKNOWN, and nothing is sent any more."""
    async with SseServer(SCRIPT) as server:
        server.on(events("event: endpoint\ndata: messages?session=1\n\n", then="end"), method="GET")
        async with opened(server) as (link, receiver):
            error = await receiver.end()
            assert (error.fault, error.fate, error.phase) == (
                Fault.CLOSED,
                Fate.UNKNOWN,
                Phase.REQUEST,
            )
            assert "ended its stream" in str(error)
            with pytest.raises(PeerError) as caught:
                await link.send(call(1))
            assert caught.value.fate is Fate.NOT_SENT
    assert server.asked("POST") == []


async def test_comments_keep_a_stream_alive_and_mean_nothing() -> None:
    """So do events of types that nobody knows; frames between them arrive."""
    async with SseServer(SCRIPT) as server, opened(server) as (link, receiver):
        await server.say_bytes(b": ping\n\nevent: ping\ndata: 12:00\n\n: ping\r\n\r\n")
        await link.send(call(1))
        await receiver.answer(1)
        assert len(receiver.frames) == 1


@pytest.mark.parametrize(
    ("code", "fault", "fate"),
    [
        (401, Fault.UNAUTHORIZED, Fate.NOT_SENT),
        (404, Fault.REFUSED, Fate.ANSWERED),
        (429, Fault.RATE_LIMITED, Fate.NOT_SENT),
        (503, Fault.REFUSED, Fate.UNKNOWN),
    ],
)
async def test_a_message_that_is_not_accepted_fails_alone(
    code: int, fault: Fault, fate: Fate
) -> None:
    """By its status (B-03), as over Streamable HTTP; the others are answered."""
    async with SseServer(SCRIPT) as server, opened(server) as (link, receiver):
        server.on(status(code, "no"), message="tools/call", nth=1)
        await link.send(call(1))
        error = await receiver.lost(1)
        assert (error.fault, error.fate) == (fault, fate)
        await link.send(call(2))
        await receiver.answer(2)
        assert receiver.errors == []


async def test_what_begins_a_session_is_waited_for_and_its_refusal_raised() -> None:
    """Nothing may overtake it."""
    async with SseServer(SCRIPT) as server, opened(server) as (link, _):
        server.on(status(400, "no"))
        message = Outgoing(
            b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
            method="notifications/initialized",
            handling=Handling.BEGINS_SESSION,
        )
        with pytest.raises(PeerError) as caught:
            await link.send(message)
        assert "400" in str(caught.value)


async def test_an_abandoned_message_lets_its_post_go() -> None:
    """It says that the server has to be told; the POST that is still open is closed."""
    async with SseServer(SCRIPT) as server, opened(server) as (link, _):

        async def never(exchange: HttpExchange) -> None:
            await exchange.silence()

        server.on(never, message="tools/call")
        await link.send(call(1))
        assert not link.abandon(1)
        await server.wait_for(lambda: len(server.hung_up) == 1)


async def test_a_stream_that_never_says_where_is_given_up() -> None:
    """Within a bound, and it is closed."""
    async with SseServer(SCRIPT) as server:
        server.on(events(": hello\n\n", then="stay"), method="GET")
        error = await refused(server.stream())
        assert error.fault is Fault.TIMEOUT
        assert "where messages go" in str(error)
        await server.wait_for(lambda: len(server.hung_up) == 1)


@pytest.mark.parametrize(
    "said",
    ["event: message\ndata: {}\n\n", "data: x\n\n", ": nothing\n\n"],
    ids=["a message", "no type", "a comment, and the end"],
)
async def test_a_stream_that_begins_otherwise_is_refused(said: str) -> None:
    """Its first event has to be `endpoint`."""
    async with SseServer(SCRIPT) as server:
        server.on(events(said), method="GET")
        assert (await refused(server.stream())).fault is Fault.MALFORMED


async def test_a_server_of_streamable_http_is_told_as_one() -> None:
    """What to write instead is in the error (PB-076)."""
    async with HttpServer(SCRIPT) as server:
        error = await refused(SseEndpoint(server.url))
    assert "Streamable HTTP" in str(error)
    assert "transport of this server to streamable-http" in str(error)


@pytest.mark.parametrize(
    ("code", "fault"),
    [(200, Fault.MALFORMED), (401, Fault.UNAUTHORIZED), (404, Fault.REFUSED), (500, Fault.REFUSED)],
)
async def test_a_page_is_told_in_one_line(code: int, fault: Fault) -> None:
    """With its title and nothing of its markup."""
    async with SseServer(SCRIPT) as server:
        server.on(page("Sign in", code), method="GET").on(page("Sign in", code))
        error = await refused(server.stream())
    assert error.fault is fault
    assert "a web page, 'Sign in'" in str(error)
    assert "\n" not in str(error)
    assert "<" not in str(error)


async def test_no_http_at_all_is_told() -> None:
    """Whatever listens there."""
    async with SseServer(SCRIPT) as server:
        server.on(raw(b"SSH-2.0-OpenSSH_9.9\r\n"), method="GET")
        error = await refused(server.stream())
    assert error.fault is Fault.MALFORMED


def test_an_endpoint_of_the_older_transport_is_another_server() -> None:
    """Trust in one address over one transport is not trust in it over another."""
    older, newer = SseEndpoint("https://x.example/sse"), HttpEndpoint("https://x.example/sse")
    assert older.identity() != newer.identity()
    assert older != newer
