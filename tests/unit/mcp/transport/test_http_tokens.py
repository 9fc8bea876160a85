"""Credentials of a source on a link over HTTP: what carries them, and what a refusal does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.protocol.jsonrpc import Handling, Outgoing, notification, request
from lockgate.mcp.transport.base import Link
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.mcp.transport.tokens import Challenge
from lockgate.testing.http_faults import redirect, status
from lockgate.testing.http_heard import Action, HttpExchange
from lockgate.testing.http_server import HttpServer
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import LEGACY, ScriptedServer
from lockgate.testing.sse_server import SseServer
from lockgate.testing.tokens import ScriptedTokens

FIRST, SECOND, THIRD = "Bearer first-0123456", "Bearer second-012345", "Bearer third-0123456"
CHALLENGE = {"www-authenticate": 'Bearer error="invalid_token", scope="files:read"'}
SCOPE = {"www-authenticate": 'Bearer error="insufficient_scope", scope="files:write"'}


def call(number: int, handling: Handling = Handling.ALONE) -> Outgoing:
    """A call of `echo`."""
    params = {"name": "echo", "arguments": {"number": number}}
    return request(number, "tools/call", params, handling=handling)


def knows(*values: str, code: int = 401, fields: Mapping[str, str] = CHALLENGE) -> Action:
    """Refuse whoever comes without one of these."""

    async def act(exchange: HttpExchange) -> None:
        if exchange.heard.headers.get("authorization") in values:
            await exchange.as_scripted()
        else:
            await exchange.answer(code, b"no", fields)

    return act


@asynccontextmanager
async def linked(
    server: HttpServer, tokens: ScriptedTokens
) -> AsyncGenerator[tuple[Link, RecordingReceiver], None]:
    """A link whose credentials are these."""
    receiver = RecordingReceiver()
    transport = StreamableHttpTransport(
        server.endpoint(), peer="there", environ={}, pause=0.01, tokens=tokens
    )
    async with transport.open(receiver) as link:
        yield link, receiver


async def test_every_request_carries_what_there_is() -> None:
    """POST, GET and DELETE alike, and the second message as the first."""
    server = HttpServer(ScriptedServer(revisions=LEGACY), sessions=True, listening=True)
    async with server, linked(server, ScriptedTokens(FIRST)) as (link, receiver):
        await link.send(request(1, "initialize", {}, handling=Handling.OPENS_SESSION))
        await receiver.answer(1)
        await link.send(notification("notifications/initialized", handling=Handling.BEGINS_SESSION))
        await server.wait_for(lambda: server.listeners == 1)
        await link.send(call(2, Handling.IN_SESSION))
        await receiver.answer(2)
    assert {heard.method for heard in server.heard} == {"POST", "GET", "DELETE"}
    assert {heard.headers.get("authorization") for heard in server.heard} == {FIRST}


async def test_what_was_refused_is_sent_again_with_what_there_is_then() -> None:
    """The same message, once more, and its answer is the answer; the source is told everything."""
    tokens = ScriptedTokens(FIRST, SECOND)
    server = HttpServer(ScriptedServer()).on(knows(SECOND))
    message = request(
        7, "tools/call", {"name": "echo", "arguments": {}}, headers=(("MCP-Protocol-Version", "x"),)
    )
    async with server, linked(server, tokens) as (link, receiver):
        await link.send(message)
        await receiver.answer(7)
    assert [heard.body for heard in server.heard] == [message.payload] * 2
    assert [heard.headers["authorization"] for heard in server.heard] == [FIRST, SECOND]
    (challenge,) = tokens.challenges
    assert (challenge.status, challenge.used, challenge.revision) == (401, FIRST, "x")
    assert challenge.header == CHALLENGE["www-authenticate"]
    assert tokens.settled == 1


async def test_credentials_can_come_when_they_are_asked_for() -> None:
    """Nothing is sent until the server wants it."""
    tokens = ScriptedTokens(FIRST, first=False)
    server = HttpServer(ScriptedServer()).on(knows(FIRST))
    async with server, linked(server, tokens) as (link, receiver):
        await link.send(call(1))
        await receiver.answer(1)
    assert [heard.headers.get("authorization") for heard in server.heard] == [None, FIRST]


async def test_a_missing_scope_is_a_refusal_too() -> None:
    """403 with insufficient_scope; a 403 that says anything else is the server's last word."""
    tokens = ScriptedTokens(FIRST, SECOND)
    server = HttpServer(ScriptedServer()).on(knows(SECOND, code=403, fields=SCOPE))
    async with server, linked(server, tokens) as (link, receiver):
        await link.send(call(1))
        await receiver.answer(1)
    assert [challenge.status for challenge in tokens.challenges] == [403]
    tokens = ScriptedTokens(FIRST, SECOND)
    server = HttpServer(ScriptedServer()).on(status(403, headers=CHALLENGE))
    async with server, linked(server, tokens) as (link, receiver):
        await link.send(call(1))
        error = await receiver.lost(1)
    assert (error.fault, error.fate) == (Fault.UNAUTHORIZED, Fate.NOT_SENT)
    assert tokens.challenges == []
    assert len(server.heard) == 1


async def test_a_server_that_refuses_everything_is_asked_three_times() -> None:
    """Twice again, then the refusal is the answer: in a line, with what it wants, and no token."""
    tokens = ScriptedTokens(FIRST, SECOND, THIRD, "Bearer fourth-01234")
    wants = {"www-authenticate": f'Bearer scope="a b", error_description="not {THIRD[7:]}\x1b[1m"'}
    server = HttpServer(ScriptedServer()).on(status(401, headers=wants))
    async with server, linked(server, tokens) as (link, receiver):
        await link.send(call(1))
        error = await receiver.lost(1)
    assert len(server.heard) == 3
    assert (error.fault, error.fate) == (Fault.UNAUTHORIZED, Fate.NOT_SENT)
    assert "it wants the scope a b" in str(error)
    assert "it says: not [***]" in str(error)
    assert "\x1b" not in str(error)


async def test_what_the_source_raises_is_what_is_said() -> None:
    """Where there is nothing else to try, the error is the source's: it knows what to do."""

    def failing() -> PeerError:
        return PeerError(
            "log in",
            peer="there",
            phase=Phase.REQUEST,
            fault=Fault.UNAUTHORIZED,
            fate=Fate.NOT_SENT,
        )

    server = HttpServer(ScriptedServer()).on(status(401, headers=CHALLENGE))
    async with server, linked(server, ScriptedTokens(FIRST, failing=failing)) as (link, receiver):
        await link.send(call(1))
        error = await receiver.lost(1)
        assert str(error) == "log in"
        assert error.fate is Fate.NOT_SENT
        server.on(knows(FIRST))
        await link.send(call(2))  # the link goes on
        await receiver.answer(2)


async def test_a_stream_that_is_asked_for_is_authorized_like_a_message() -> None:
    """The GET is asked again with what there is then, once; the DELETE takes what there is."""
    tokens = ScriptedTokens(FIRST, SECOND)
    server = HttpServer(ScriptedServer(revisions=LEGACY), sessions=True, listening=True)
    server.on(knows(SECOND), method="GET")
    async with server, linked(server, tokens) as (link, receiver):
        await link.send(request(1, "initialize", {}, handling=Handling.OPENS_SESSION))
        await receiver.answer(1)
        await link.send(notification("notifications/initialized", handling=Handling.BEGINS_SESSION))
        await server.wait_for(lambda: server.listeners == 1)
    assert [heard.headers["authorization"] for heard in server.asked("GET")] == [FIRST, SECOND]
    assert [heard.headers["authorization"] for heard in server.asked("DELETE")] == [SECOND]


async def test_credentials_go_to_no_other_origin() -> None:
    """A redirect that leaves is not followed with them, nor without."""
    async with HttpServer(ScriptedServer()) as other:
        server = HttpServer(ScriptedServer())
        async with server, linked(server, ScriptedTokens(FIRST)) as (link, receiver):
            server.on(redirect(307, other.url))
            await link.send(call(1))
            await receiver.lost(1)
        assert other.heard == []


async def test_a_redirect_within_the_origin_keeps_them() -> None:
    """The path changed; who asks did not."""
    server = HttpServer(ScriptedServer(), path="/new")
    async with server:
        server.on(redirect(307, "/new?again"), nth=1)
        async with linked(server, ScriptedTokens(FIRST)) as (link, receiver):
            await link.send(call(1))
            await receiver.answer(1)
    assert [heard.headers["authorization"] for heard in server.heard] == [FIRST, FIRST]


async def test_without_a_source_the_error_says_what_the_server_wants() -> None:
    """Scope, description, and that it can be logged in to; one line, nothing that deceives."""
    wants = (
        'Basic realm="x", Bearer resource_metadata="https://x.example/m", scope="a b", '
        'error_description="say\u009b please"'
    )
    server = HttpServer(ScriptedServer()).on(status(401, headers={"www-authenticate": wants}))
    async with server:
        receiver = RecordingReceiver()
        transport = StreamableHttpTransport(server.endpoint(), peer="there", environ={})
        async with transport.open(receiver) as link:
            await link.send(call(1))
            error = str(await receiver.lost(1))
    assert "it wants the scope a b" in error
    assert "please" in error
    assert "set auth of this server" in error
    assert "\u009b" not in error
    assert "\n" not in error


async def test_the_older_transport_asks_the_same_source() -> None:
    """Its stream and its messages: refused, they are sent again with what there is then."""
    tokens = ScriptedTokens(FIRST, SECOND, THIRD)
    receiver = RecordingReceiver()
    async with SseServer(ScriptedServer(revisions=LEGACY)) as server:
        server.on(knows(SECOND, THIRD), method="GET")
        server.on(knows(THIRD), method="POST")
        transport = LegacySseTransport(server.stream(), peer="there", environ={}, tokens=tokens)
        async with transport.open(receiver) as link:
            await link.send(call(1))
            await receiver.answer(1)
        seen = [(heard.method, heard.headers["authorization"]) for heard in server.heard]
    assert seen == [("GET", FIRST), ("GET", SECOND), ("POST", SECOND), ("POST", THIRD)]
    assert tokens.settled == 1


@pytest.mark.parametrize("value", ["Bearer a\r\nX: 1", "", "  ", "Bearer \u043a", "Bearer a\n"])
async def test_a_source_that_gives_no_header_is_told(value: str) -> None:
    """By its name; what it gave is neither sent nor shown, and the link goes on."""
    async with HttpServer(ScriptedServer()) as server:
        async with linked(server, ScriptedTokens(value)) as (link, _):
            with pytest.raises(PeerError) as raised:
                await link.send(call(1))
        error = raised.value
        assert error.fault is Fault.UNAUTHORIZED
        assert error.fate is Fate.NOT_SENT
        assert "its token source (ScriptedTokens) gave what no header can hold" in str(error)
        assert "Bearer" not in str(error)
        assert server.heard == []


async def test_a_refusal_of_a_token_that_was_got_says_nothing_of_headers() -> None:
    """There are none that the operator could look at."""
    server = HttpServer(ScriptedServer()).on(status(401, headers=CHALLENGE))
    async with server, linked(server, ScriptedTokens(FIRST)) as (link, receiver):
        await link.send(call(1))
        error = await receiver.lost(1)
    assert "does not accept the token that was got for it" in str(error)
    assert "headers" not in str(error)


def test_a_refusal_shows_no_credentials() -> None:
    """Programs print what they are handed."""
    challenge = Challenge(401, f'Bearer error_description="{FIRST}"', FIRST)
    assert FIRST not in f"{challenge!r}{challenge}"
    assert "401" in repr(challenge)
