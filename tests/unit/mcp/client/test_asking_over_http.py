"""Servers that ask over HTTP: on the stream of the call's POST, and on the one stream of 2024."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

from lockgate.content import Text
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.services import Occasion, Services
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.base import Transport
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.clock import passing
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When, tool
from lockgate.testing.sse_server import SseServer
from lockgate.testing.steps import Answer, Ask

FORM = {"message": "m", "requestedSchema": {"properties": {"n": {"type": "integer"}}}}
ASKING = (
    When("tools/call", Ask("elicitation/create", FORM), Answer(text="done"), tool="ask"),
)  # fmt: skip


async def _slowly(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
    """A person who takes longer than the call may."""
    await passing(0.5)
    return ElicitAnswer(Action.ACCEPT, {"n": 3})


@pytest.mark.parametrize("sessions", [False, True])
async def test_a_question_on_the_stream_of_the_call_is_answered(sessions: bool) -> None:
    """2025-11-25, Streamable HTTP: the request comes on the stream of the POST, its answer is a
    POST of its own in the same session; the stream waits for the person."""
    script = ScriptedServer((tool("ask"),), ASKING, revisions=LEGACY)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(HttpServer(script, stream=True, sessions=sessions))
        transport = StreamableHttpTransport(server.endpoint(), peer="x", environ={})
        await _call(transport)
    (answer,) = [heard for heard in server.heard if "result" in heard.message]
    assert answer.method == "POST"
    assert answer.message["result"] == {"action": "accept", "content": {"n": 3}}
    assert answer.headers.get("mcp-session-id") == ("session-1" if sessions else None)


async def test_a_question_over_http_with_sse_is_answered() -> None:
    """2025-06-18 over the transport of 2024-11-05."""
    script = ScriptedServer((tool("ask"),), ASKING, revisions=("2025-06-18",))
    async with SseServer(script) as server:
        await _call(LegacySseTransport(server.stream(), peer="x", environ={}))
    (answer,) = [heard for heard in server.heard if "result" in heard.message]
    assert answer.message["result"] == {"action": "accept", "content": {"n": 3}}


@pytest.mark.parametrize("stream", [False, True])
async def test_rounds_over_http(stream: bool) -> None:
    """2026-07-28: the call is a POST of its own each time, with its headers."""
    request = {"method": "elicitation/create", "params": FORM}
    wants = {"resultType": "input_required", "inputRequests": {"k": request}, "requestState": "s"}
    rules = (
        When("tools/call", Answer(wants), tool="ask", nth=1),
        When("tools/call", Answer(text="done"), tool="ask"),
    )
    script = ScriptedServer((tool("ask"),), rules, revisions=MODERN)
    async with HttpServer(script, stream=stream) as server:
        await _call(StreamableHttpTransport(server.endpoint(), peer="x", environ={}))
    first, second = server.told("tools/call")
    assert second.headers["mcp-name"] == first.headers["mcp-name"] == "ask"
    assert second.message["params"]["requestState"] == "s"
    given = second.message["params"]["inputResponses"]
    assert given == {"k": {"action": "accept", "content": {"n": 3}}}


async def _call(transport: Transport) -> None:
    session = await connect(
        transport, peer="x", client=ClientIdentity("t", "1"), services=Services(elicit=_slowly)
    )
    try:
        result = await ToolClient(session).call("ask", {}, timeout=0.4)
    finally:
        await session.close()
    assert result.content == (Text("done"),)
