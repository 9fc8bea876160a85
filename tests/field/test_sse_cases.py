"""Cases met in the field: servers of the older HTTP transport, HTTP with SSE."""

from __future__ import annotations

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.connect import connect
from lockgate.mcp.endpoint import HttpEndpoint, SseEndpoint
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.http_faults import events, page
from lockgate.testing.http_server import HttpServer
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import LEGACY, ScriptedServer
from lockgate.testing.sse_server import SseServer
from lockgate.testing.transport_bench import call

SCRIPT = ScriptedServer(revisions=LEGACY)
BEARER = {"Authorization": "Bearer of-the-person"}


def transport(endpoint: SseEndpoint) -> LegacySseTransport:
    """To an old server."""
    return LegacySseTransport(endpoint, peer="figma", environ={}, opening=5.0)


@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("/messages?x=1", "/messages?x=1"),
        ("messages?x=1", "/figma/messages?x=1"),
        ("@origin@/figma/messages?x=1", "/figma/messages?x=1"),
        ("//@host@/messages", "/messages"),
    ],
)
@pytest.mark.req("S3-16")
async def test_pb_077_where_messages_go_is_resolved_as_any_reference(
    place: str, target: str
) -> None:
    """RFC 3986, 5.2, from the address of the stream; the headers go there too."""
    async with SseServer(SCRIPT, path="/figma/sse") as server:
        place = place.replace("@origin@", server.origin)
        place = place.replace("@host@", server.origin.partition("//")[2])
        server.on(events(f"event: endpoint\ndata: {place}\n\n", then="stay"), method="GET")
        receiver = RecordingReceiver()
        async with transport(server.stream(headers=BEARER)).open(receiver) as link:
            await link.send(call(1))
            await server.wait_for(lambda: len(server.asked("POST")) == 1)
        (posted,) = server.asked("POST")
        assert posted.target == target
        assert posted.headers["authorization"] == BEARER["Authorization"]


@pytest.mark.parametrize(
    "place", ["http://127.0.0.1:@port@/messages", "//evil.example/", "//evil/"]
)
@pytest.mark.req("S3-16")
async def test_pb_077_a_place_of_another_origin_is_refused_and_gets_nothing(place: str) -> None:
    """No message goes there, no bearer, not even a connection."""
    async with SseServer(SCRIPT, path="/figma/sse") as server, HttpServer(SCRIPT) as other:
        place = place.replace("@port@", str(other.port))
        server.on(events(f"event: endpoint\ndata: {place}\n\n", then="stay"), method="GET")
        with pytest.raises(PeerError) as caught:
            async with transport(server.stream(headers=BEARER)).open(RecordingReceiver()):
                pass
        assert "another origin" in str(caught.value)
        assert (caught.value.phase, caught.value.fate) == (Phase.CONNECT, Fate.NOT_SENT)
        assert other.connections == 0
        assert server.asked("POST") == []


@pytest.mark.parametrize(
    "said",
    [
        "event: endpoint\ndata:\n\n",
        "event: endpoint\ndata:   \n\n",
        "event: endpoint\ndata: http://user@127.0.0.1/\n\n",
        "event: endpoint\ndata: ftp://127.0.0.1/\n\n",
        "event: endpoint\ndata: http://[::1/\n\n",
    ],
)
async def test_pb_077_a_place_that_is_none_fails_at_once(said: str) -> None:
    """The stream stays open, and is not waited for."""
    async with SseServer(SCRIPT, path="/figma/sse") as server:
        server.on(events(said, then="stay"), method="GET")
        with pytest.raises(PeerError) as caught:
            async with transport(server.stream()).open(RecordingReceiver()):
                pass
        assert caught.value.fault is Fault.MALFORMED


async def test_pb_077_a_second_place_ends_the_connection() -> None:
    """Which of the two is the right one, nobody can know; the same one again means nothing."""
    said = "event: endpoint\ndata: /messages\n\n"
    async with SseServer(SCRIPT, path="/figma/sse") as server:
        server.on(events(said, said, then="stay"), method="GET", nth=1)
        receiver = RecordingReceiver()
        async with transport(server.stream()).open(receiver) as link:
            await link.send(call(1))
            await server.wait_for(lambda: len(server.asked("POST")) == 1)
            assert receiver.errors == []
        other = said.replace("/messages", "/elsewhere")
        server.on(events(said, other, then="stay"), method="GET", nth=1)
        receiver = RecordingReceiver()
        async with transport(server.stream()).open(receiver) as link:
            assert (await receiver.end()).fault is Fault.MALFORMED
            with pytest.raises(PeerError):
                await link.send(call(2))
        assert "a second place" in str(receiver.errors[0])


async def test_pb_076_the_older_transport_behind_the_newer_name_is_told() -> None:
    """A server of HTTP with SSE, configured as Streamable HTTP: the error says what to write."""
    async with SseServer(SCRIPT) as server:
        newer = StreamableHttpTransport(HttpEndpoint(server.url), peer="old", environ={})
        with pytest.raises(PeerError) as caught:
            await connect(newer, peer="old", client=ClientIdentity("test", "1"))
    assert "set the transport of this server to sse" in str(caught.value)


async def test_pb_076_the_newer_transport_behind_the_older_name_is_told() -> None:
    """The other way round."""
    async with HttpServer(SCRIPT, sessions=True, listening=False) as server:
        older = transport(SseEndpoint(server.url))
        with pytest.raises(PeerError) as caught:
            await connect(older, peer="new", client=ClientIdentity("test", "1"))
    assert "set the transport of this server to streamable-http" in str(caught.value)


async def test_pb_076_a_site_is_summarised_in_one_line() -> None:
    """200 with a page for everything: no markup, no traceback."""
    async with SseServer(SCRIPT) as server:
        server.on(page("Welcome"), method="GET").on(page("Welcome"))
        with pytest.raises(PeerError) as caught:
            await connect(
                transport(server.stream()), peer="site", client=ClientIdentity("test", "1")
            )
    text = str(caught.value)
    assert "a web page, 'Welcome'" in text
    assert "\n" not in text
