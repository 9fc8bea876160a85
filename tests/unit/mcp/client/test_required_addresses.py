"""Addresses that a server of 2025-11-25 wants opened before it does what is asked (-32042)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lockgate.content import Text
from lockgate.errors import Fate, PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.services import Occasion, Services
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, tool
from lockgate.testing.steps import Answer


def _server(*answers: Any, revisions: tuple[str, ...] = LEGACY) -> LoopServer:
    """A server that gives these answers to its tool, one after the other."""
    server = LoopServer(ScriptedServer((tool("ask"),), revisions=revisions, name="fake"))
    for answer in reversed(answers):
        server.on("tools/call", answer, tool="ask", nth=1)  # of those that came so far
    return server


@asynccontextmanager
async def _session(server: LoopServer, services: Services) -> AsyncGenerator[ServerSession]:
    client = ClientIdentity("test", "1")
    session = await connect(server.transport(), peer="fake", client=client, services=services)
    try:
        yield session
    finally:
        await session.close()


def _calls(server: LoopServer) -> list[dict[str, Any]]:
    return [message["params"] for message in server.heard("tools/call")]


ADDRESS = {
    "mode": "url",
    "message": "Log in",
    "url": "https://example.com/c",
    "elicitationId": "e1",
}
OVER = {"jsonrpc": "2.0", "method": "notifications/elicitation/complete"}


def _required(*params: Any) -> Answer:
    data = {"elicitations": list(params)}
    return Answer(error={"code": -32042, "message": "log in first", "data": data})


class Opens:
    """Says yes to every address, or something else."""

    def __init__(self, answer: ElicitAnswer | None = None) -> None:
        self.answer = answer or ElicitAnswer(Action.ACCEPT)
        self.opened: list[str | None] = []
        self.asked = asyncio.Event()

    async def __call__(self, asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        self.opened.append(asked.url)
        self.asked.set()
        return self.answer


async def test_a_call_is_made_again_once_the_address_is_over() -> None:
    """2025-11-25, URL Elicitation Required: the person opens it, the server says that it is over,
    and the same call is made again; what is said of other ids is ignored."""
    person = Opens()
    server = _server(_required(ADDRESS), Answer(text="done"))
    async with _session(server, Services(elicit=person)) as session:
        call = asyncio.create_task(ToolClient(session).call("ask", {"x": 1}))
        await person.asked.wait()
        odd: list[Any] = [{"elicitationId": "other"}, {"elicitationId": 3}, {}, None, [1]]
        for params in odd:
            await server.say({**OVER, "params": params})
        await ToolClient(session).list()
        assert len(_calls(server)) == 1
        await server.say({**OVER, "params": {"elicitationId": "e1"}})
        async with asyncio.timeout(5):
            result = await call
        await server.say({**OVER, "params": {"elicitationId": "e1"}})
    assert result.content == (Text("done"),)
    assert person.opened == ["https://example.com/c"]
    first, second = _calls(server)
    assert first == second


async def test_a_person_who_says_that_it_is_done_is_enough() -> None:
    """Nothing has to come for the call to be made again: "manual controls"."""
    person = Opens(ElicitAnswer(Action.ACCEPT, finished=True))
    other = {**ADDRESS, "elicitationId": "e2", "url": "https://example.com/d"}
    server = _server(_required(ADDRESS, other), Answer(text="done"))
    async with _session(server, Services(elicit=person)) as session:
        await ToolClient(session).call("ask", {})
    assert person.opened == ["https://example.com/c", "https://example.com/d"]


async def test_what_is_over_before_the_answer_counts_too() -> None:
    """The server may be quicker than the one who asks."""
    server = _server(_required(ADDRESS), Answer(text="done"))

    async def person(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        await server.say({**OVER, "params": {"elicitationId": "e1"}})
        await ToolClient(session).list()
        return ElicitAnswer(Action.ACCEPT)

    async with _session(server, Services(elicit=person)) as session:
        async with asyncio.timeout(5):
            await ToolClient(session).call("ask", {})
    assert len(_calls(server)) == 2


@pytest.mark.parametrize("action", [Action.DECLINE, Action.CANCEL])
async def test_an_address_that_nobody_opens_ends_the_call(action: Action) -> None:
    """Told as what it was, and the call is not made again."""
    server = _server(_required(ADDRESS))
    async with _session(server, Services(elicit=Opens(ElicitAnswer(action)))) as session:
        with pytest.raises(PeerError, match="wants an address opened first") as failed:
            await ToolClient(session).call("ask", {})
    assert failed.value.fate is Fate.ANSWERED
    assert len(_calls(server)) == 1


async def test_a_server_that_refuses_for_ever_is_given_up() -> None:
    """After three times its refusal is the answer."""
    server = LoopServer(ScriptedServer((tool("ask"),), revisions=LEGACY, name="fake"))
    server.on("tools/call", _required(ADDRESS), tool="ask")
    done = Opens(ElicitAnswer(Action.ACCEPT, finished=True))
    async with _session(server, Services(elicit=done)) as session:
        with pytest.raises(PeerError, match="log in first") as failed:
            await ToolClient(session).call("ask", {})
    assert failed.value.code == -32042
    assert len(_calls(server)) == 4


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(error={"code": -32042, "message": "m"}), "names none"),
        (_required(), "names none"),
        (_required(*[ADDRESS] * 21), "21 addresses"),
        (_required({**ADDRESS, "elicitationId": None}), "no address with an id"),
        (_required({**ADDRESS, "elicitationId": "e" * 5000}), "no address with an id"),
        (_required({"message": "m", "requestedSchema": {}}), "no address with an id"),
        (_required({"mode": "url"}), "without a message"),
    ],
)
async def test_a_refusal_that_names_no_address_is_malformed(answer: Answer, why: str) -> None:
    """It has to name each address with its id; nobody is asked about half of it."""
    person = Opens()
    server = _server(answer)
    async with _session(server, Services(elicit=person)) as session:
        with pytest.raises(PeerError, match=why):
            await ToolClient(session).call("ask", {})
    assert person.opened == []


@pytest.mark.parametrize("revisions", [MODERN, ("2025-06-18",)])
async def test_the_code_means_nothing_in_other_revisions(revisions: tuple[str, ...]) -> None:
    """It is a refusal like any other there."""
    person = Opens()
    server = _server(_required(ADDRESS), revisions=revisions)
    async with _session(server, Services(elicit=person)) as session:
        with pytest.raises(PeerError, match="log in first"):
            await ToolClient(session).call("ask", {})
    assert person.opened == []


async def test_where_nobody_can_be_asked_the_refusal_is_the_answer() -> None:
    """Nothing was declared, and nothing is opened."""
    server = _server(_required(ADDRESS))
    async with _session(server, Services()) as session:
        with pytest.raises(PeerError, match="log in first"):
            await ToolClient(session).call("ask", {})
