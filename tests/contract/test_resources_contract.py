"""Resources, prompts and completion mean the same over every transport, a made-up one included."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contract_ways import (
    MakeReach,
    over_http,
    over_http_streams,
    over_memory,
    over_socket,
    over_sse,
    over_stdio,
)
from lockgate.content import EmbeddedResource, Text
from lockgate.errors import PeerError
from lockgate.mcp.client.completion import Completion
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.prompts import PromptClient
from lockgate.mcp.client.resources import ResourceClient, is_not_found
from lockgate.mcp.client.subscriptions import Subscriptions
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When
from lockgate.testing.steps import Answer, Send

UPDATED = {
    "jsonrpc": "2.0",
    "method": "notifications/resources/updated",
    "params": {"uri": "x:1"},
}


def answers(method: str, **result: Any) -> When:
    """Answer a method with this result."""
    return When(method, Answer(result={"resultType": "complete", **result}))


def server(revisions: tuple[str, ...]) -> ScriptedServer:
    """Two pages of resources, one that is read, a prompt, suggestions, and one update."""
    able = {"resources": {"subscribe": True}, "prompts": {}, "completions": {}}
    second = {"resultType": "complete", "resources": [{"uri": "x:2"}]}
    first = {"resultType": "complete", "resources": [{"uri": "x:1"}], "nextCursor": "2"}
    message = {"role": "user", "content": {"type": "text", "text": "\u2028\U0001f642"}}
    rules = (
        When("resources/list", Answer(result=first), nth=1),
        When("resources/list", Answer(result=second)),
        When("resources/read", Answer(error={"code": -32602, "message": "none"}), nth=2),
        answers("resources/read", contents=[{"uri": "x:1", "text": "\u2028\U0001f642"}]),
        answers("prompts/list", prompts=[{"name": "p"}]),
        answers("prompts/get", messages=[message]),
        answers("completion/complete", completion={"values": ["v"]}),
        When("resources/subscribe", Send(UPDATED), Answer(result={})),
    )
    return ScriptedServer((), rules, revisions, capabilities=able)


WAYS = [
    (over_memory, LEGACY),
    (over_memory, MODERN),
    (over_stdio, LEGACY),
    (over_stdio, MODERN),
    (over_socket, MODERN),
    (over_http, LEGACY),
    (over_http, MODERN),
    (over_http_streams, LEGACY),
    (over_http_streams, MODERN),
    (over_sse, LEGACY),
]


@pytest.mark.req("S3-19")
@pytest.mark.req("S3-16")
@pytest.mark.parametrize(
    ("make", "revisions"), WAYS, ids=[f"{make.__name__}-{names[0]}" for make, names in WAYS]
)
async def test_the_clients_mean_the_same(make: MakeReach, revisions: tuple[str, ...]) -> None:
    """Every page, every character, the error of what is not there, an update; nothing is left."""
    before = Belongings.now()
    heard: list[tuple[str, Any]] = []
    told = asyncio.Event()

    def hear(_: str, method: str, params: Any) -> None:
        heard.append((method, params))
        told.set()

    async with asyncio.timeout(30):
        session = await connect(
            make()(server(revisions)),
            peer="scripted",
            client=ClientIdentity("contract", "1"),
            request_timeout=10,
            listeners=(hear,),
        )
        try:
            assert session.revision.name == revisions[0] or make is over_sse
            resources, prompts = ResourceClient(session), PromptClient(session)
            assert [one.uri for one in (await resources.list()).entries] == ["x:1", "x:2"]
            reading = await resources.read("x:1")
            assert reading.result.contents == (EmbeddedResource("x:1", "\u2028\U0001f642"),)
            with pytest.raises(PeerError) as caught:
                await resources.read("x:9")
            assert is_not_found(caught.value)
            assert [one.name for one in (await prompts.list()).entries] == ["p"]
            (message,) = (await prompts.get("p")).messages
            assert message.content == Text("\u2028\U0001f642")
            assert (await Completion(session).for_prompt("p", "a", "")).values == ("v",)
            if revisions is LEGACY and make is not over_http:  # a body carries one message
                await Subscriptions(session).subscribe("x:1")
                await told.wait()
                assert heard == [("notifications/resources/updated", {"uri": "x:1"})]
        finally:
            await session.close()
    assert not await left_since(before)
