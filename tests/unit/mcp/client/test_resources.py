"""Reading one resource, getting one prompt, suggestions: over one session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lockgate.content import EmbeddedResource, Text
from lockgate.errors import Fate, Fault, PeerError
from lockgate.mcp.client.completion import Completion
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.prompts import PromptClient
from lockgate.mcp.client.resources import ResourceClient, is_not_found
from lockgate.mcp.client.services import Occasion, Services
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.http_client import connected
from lockgate.testing.http_server import HttpServer
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import BOTH_ERAS, LEGACY, MODERN, ScriptedServer
from lockgate.testing.steps import Answer

ABLE: dict[str, Any] = {"resources": {}, "prompts": {}, "completions": {}}
CONTENTS = {"resultType": "complete", "contents": [{"uri": "x:1", "text": "t"}]}
MESSAGES = {
    "resultType": "complete",
    "messages": [{"role": "user", "content": {"type": "text", "text": "t"}}],
}


class Held:
    """A bound that says when it stands still."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def hold(self) -> None:
        self.said.append("hold")

    def release(self) -> None:
        self.said.append("release")


Ask = Callable[[ServerSession], Awaitable[object]]


async def _list(session: ServerSession) -> object:
    return await ResourceClient(session).list()


async def _read(session: ServerSession) -> object:
    return await ResourceClient(session).read("x:1")


async def _get(session: ServerSession) -> object:
    return await PromptClient(session).get("p")


async def _complete(session: ServerSession) -> object:
    return await Completion(session).for_prompt("p", "a", "")


@asynccontextmanager
async def opened(
    revisions: tuple[str, ...] = MODERN,
    *,
    services: Services | None = None,
    capabilities: Any = None,
    request_timeout: float = 5.0,
) -> AsyncGenerator[tuple[LoopServer, ServerSession]]:
    """A server that can all of it, and a session with it."""
    able = ABLE if capabilities is None else capabilities
    server = LoopServer(ScriptedServer((), revisions=revisions, name="fake", capabilities=able))
    session = await connect(
        server.transport(),
        peer="fake",
        client=ClientIdentity("test", "1"),
        request_timeout=request_timeout,
        services=services or Services(),
    )
    try:
        yield server, session
    finally:
        await session.close()


@pytest.mark.req("S3-19")
@pytest.mark.req("B-08")
@pytest.mark.parametrize("revision", BOTH_ERAS)
async def test_a_resource_is_read_in_every_revision(revision: str) -> None:
    """The URI goes out as it is; how long it is good says a modern server alone."""
    async with opened((revision,)) as (server, session):
        server.on("resources/read", Answer(result={**CONTENTS, "ttlMs": 9000}))
        uri = "x:\u202ea b/../%zz"
        reading = await ResourceClient(session).read(uri)
        assert reading.result.contents == (EmbeddedResource("x:1", "t"),)
        assert reading.ttl == (9.0 if session.revision.modern else 0.0)
        (asked,) = server.heard("resources/read")
        assert asked["params"]["uri"] == uri


@pytest.mark.req("S3-19")
@pytest.mark.req("B-08")
@pytest.mark.parametrize("revision", BOTH_ERAS)
async def test_a_prompt_is_got_in_every_revision(revision: str) -> None:
    """With its arguments as they are; without any, none are sent."""
    async with opened((revision,)) as (server, session):
        server.on("prompts/get", Answer(result=MESSAGES))
        client = PromptClient(session)
        result = await client.get("p", {"a": "1", "b": ""})
        assert [message.content for message in result.messages] == [Text("t")]
        await client.get("p")
        first, second = server.heard("prompts/get")
        assert (first["params"]["name"], first["params"]["arguments"]) == ("p", {"a": "1", "b": ""})
        assert "arguments" not in second["params"]


@pytest.mark.req("S3-19")
@pytest.mark.parametrize("revision", BOTH_ERAS)
async def test_suggestions_are_asked_for_as_each_revision_has_it(revision: str) -> None:
    """The other values go along where the revision knows them; 2024-11-05 declares nothing, and is
    asked all the same."""
    able: dict[str, Any] = {
        name: {} for name in ABLE if name != "completions" or revision != "2024-11-05"
    }
    async with opened((revision,), capabilities=able) as (server, session):
        answer = {"resultType": "complete", "completion": {"values": ["python"], "hasMore": False}}
        server.on("completion/complete", Answer(result=answer))
        completion = Completion(session)
        assert (await completion.for_prompt("p", "a", "py", {"b": "1"})).values == ("python",)
        assert (await completion.for_template("x:{v}", "v", "")).values == ("python",)
        first, second = (message["params"] for message in server.heard("completion/complete"))
        assert first["ref"] == {"type": "ref/prompt", "name": "p"}
        assert first["argument"] == {"name": "a", "value": "py"}
        assert ("context" in first) is (revision >= "2025-06-18")
        assert second["ref"] == {"type": "ref/resource", "uri": "x:{v}"}
        assert "context" not in second


@pytest.mark.req("S3-19")
@pytest.mark.parametrize("ask", [_read, _get, _complete])
async def test_a_server_without_the_capability_is_not_asked(
    ask: Ask,
) -> None:
    """The error says so, and that nothing was sent."""
    async with opened(capabilities={"tools": {}}) as (server, session):
        with pytest.raises(PeerError, match="nothing was asked of it") as caught:
            await ask(session)
        assert (caught.value.fault, caught.value.fate) == (Fault.UNSUPPORTED, Fate.NOT_SENT)
        assert not ResourceClient(session).offered
        assert not PromptClient(session).offered
        assert not Completion(session).offered
        methods = {message.get("method") for message in server.received}
        assert methods <= {"server/discover", "initialize", "notifications/initialized"}


@pytest.mark.parametrize(("code", "missing"), [(-32602, True), (-32002, True), (-32603, False)])
async def test_a_resource_that_is_not_there_is_told_apart(code: int, missing: bool) -> None:
    """By the code of its revision; any other error is the server's own."""
    async with opened() as (server, session):
        server.on("resources/read", Answer(error={"code": code, "message": "no such"}))
        with pytest.raises(PeerError, match="no such") as caught:
            await ResourceClient(session).read("x:1")
        assert is_not_found(caught.value) is missing


@pytest.mark.parametrize("result", [{}, {"contents": None}, {"messages": 5}])
async def test_an_answer_that_is_none_is_an_error(result: Any) -> None:
    """Malformed, and answered."""
    async with opened() as (server, session):
        server.on("resources/read", Answer(result=result))
        server.on("prompts/get", Answer(result=result))
        with pytest.raises(PeerError, match="fake answered with") as caught:
            await ResourceClient(session).read("x:1")
        assert caught.value.fault is Fault.MALFORMED
        with pytest.raises(PeerError, match="fake answered with"):
            await PromptClient(session).get("p")


@pytest.mark.parametrize("ask", [_list, _read, _get, _complete])
async def test_a_result_of_a_type_that_is_not_known_is_invalid(ask: Ask) -> None:
    """2026-07-28, basic: nobody knows what it says, whatever else is in it."""
    async with opened() as (server, session):
        answer: dict[str, Any] = {
            **CONTENTS,
            **MESSAGES,
            "resources": [],
            "completion": {"values": []},
        }
        for method in ("resources/list", "resources/read", "prompts/get", "completion/complete"):
            server.on(method, Answer(result={**answer, "resultType": "partial"}))
        with pytest.raises(PeerError, match="not known here: 'partial'") as caught:
            await ask(session)
        assert (caught.value.fault, caught.value.fate) == (Fault.MALFORMED, Fate.ANSWERED)


@pytest.mark.req("S3-21")
async def test_each_is_bounded_by_the_request_timeout_whatever_is_asked_for() -> None:
    """A longer time is cut to it, and the server is told that nobody waits."""
    async with opened(LEGACY, request_timeout=0.05) as (server, session):
        for method in ("resources/read", "prompts/get"):
            server.on(method)
        with pytest.raises(PeerError) as caught:
            await ResourceClient(session).read("x:1", timeout=60)
        assert (caught.value.fault, caught.value.fate) == (Fault.TIMEOUT, Fate.UNKNOWN)
        with pytest.raises(PeerError):
            await PromptClient(session).get("p")
        await server.hears("notifications/cancelled", 2)


@pytest.mark.req("S3-19")
@pytest.mark.parametrize("method", ["resources/read", "prompts/get"])
async def test_input_is_gathered_and_the_request_made_again(method: str) -> None:
    """A server that asks first is answered, told for what; the result is not to be kept."""
    told: list[Occasion] = []

    async def elicit(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        told.append(occasion)
        return ElicitAnswer(Action.ACCEPT, {"who": "me"})

    schema = {"type": "object", "properties": {"who": {"type": "string"}}}
    asks = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": schema}}
    wants = {"resultType": "input_required", "inputRequests": {"k": asks}, "requestState": "s"}
    final = {**(CONTENTS if method == "resources/read" else MESSAGES), "ttlMs": 9000}
    async with opened(services=Services(elicit=elicit)) as (server, session):
        server.on(method, Answer(result=final)).on(method, Answer(result=wants), nth=1)
        if method == "resources/read":
            bound = Held()
            reading = await ResourceClient(session).read("x:1", bound=bound)
            assert (reading.result.contents, reading.ttl) == ((EmbeddedResource("x:1", "t"),), 0.0)
            assert bound.said == ["hold", "release"]
            assert told[0].resource == "x:1"
        else:
            assert (await PromptClient(session).get("p", {"a": "1"})).messages
            assert told[0].prompt == "p"
        again = server.heard(method)[1]["params"]
        assert again["requestState"] == "s"
        assert again["inputResponses"]["k"]["content"] == {"who": "me"}
        first = server.heard(method)[0]["params"]
        assert {key: again[key] for key in first if key != "_meta"} == {
            key: value for key, value in first.items() if key != "_meta"
        }


@pytest.mark.req("S3-19")
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_names_go_into_headers_where_the_revision_has_them(revision: str) -> None:
    """`Mcp-Name` is the prompt's name and the resource's URI; lists and suggestions have none."""
    script = ScriptedServer((), revisions=(revision,), capabilities=ABLE)
    async with HttpServer(script) as server, connected(server, None) as session:
        await ResourceClient(session).list()
        with pytest.raises(PeerError):
            await ResourceClient(session).read("x:1/\u00e9")
        with pytest.raises(PeerError):
            await PromptClient(session).get("p q")
        with pytest.raises(PeerError):
            await Completion(session).for_prompt("p", "a", "")
        names = {
            method: server.told(method)[0].headers.get("mcp-name")
            for method in ("resources/list", "resources/read", "prompts/get", "completion/complete")
        }
    modern = revision == "2026-07-28"
    assert names == {
        "resources/list": None,
        "resources/read": "=?base64?eDoxL8Op?=" if modern else None,
        "prompts/get": "p q" if modern else None,
        "completion/complete": None,
    }


@pytest.mark.req("S3-19")
@pytest.mark.req("S3-24")
async def test_all_clients_work_over_one_session_at_once() -> None:
    """Nothing of one is in another, and answers are not swapped."""
    async with opened() as (server, session):
        server.on("resources/read", Answer(result=CONTENTS))
        server.on("prompts/get", Answer(result=MESSAGES))
        resources, prompts, tools = (
            ResourceClient(session),
            PromptClient(session),
            ToolClient(session),
        )
        reading, prompt, listed = await asyncio.gather(
            resources.read("x:1"), prompts.get("p"), tools.list()
        )
        assert reading.result.contents == (EmbeddedResource("x:1", "t"),)
        assert prompt.messages[0].content == Text("t")
        assert listed.tools == ()
    public = {name for name in dir(ToolClient) if not name.startswith("_")}
    assert public == {"list", "call"}
