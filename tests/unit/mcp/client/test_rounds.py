"""Input-required rounds of modern servers, and addresses that legacy ones want opened first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lockgate.content import Text
from lockgate.errors import Fate, Fault, PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.rounds import MAX_ROUNDS
from lockgate.mcp.client.services import Occasion, Refusal, Services
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.clock import passing
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, tool
from lockgate.testing.steps import Answer, Shape

SCHEMA = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
FORM: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {"message": "m", "requestedSchema": SCHEMA},
}


def _wants(state: str | None = None, **requests: Any) -> Answer:
    found: dict[str, Any] = {"resultType": "input_required"}
    if requests:
        found["inputRequests"] = requests
    if state is not None:
        found["requestState"] = state
    return Answer(found)


def _server(*answers: Any, revisions: tuple[str, ...] = MODERN) -> LoopServer:
    """A server that gives these answers to its tool, one after the other."""
    server = LoopServer(ScriptedServer((tool("ask"),), revisions=revisions, name="fake"))
    for answer in reversed(answers):
        server.on("tools/call", answer, tool="ask", nth=1)  # of those that came so far
    return server


async def _yes(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
    return ElicitAnswer(Action.ACCEPT, {"name": f"for {asked.message}"})


@asynccontextmanager
async def _session(
    server: LoopServer, services: Services | None = None
) -> AsyncGenerator[ServerSession]:
    session = await connect(
        server.transport(),
        peer="fake",
        client=ClientIdentity("test", "1"),
        request_timeout=5,
        services=services or Services(elicit=_yes),
    )
    try:
        yield session
    finally:
        await session.close()


def _calls(server: LoopServer) -> list[dict[str, Any]]:
    return [message["params"] for message in server.heard("tools/call")]


async def test_the_call_is_made_again_with_the_answers() -> None:
    """Same call, another id, the answers by the server's keys, its state as it came."""
    state = 'opaque "\\u00e9" \U0001f510  \t'
    two: dict[str, Any] = {
        "method": "elicitation/create",
        "params": {**FORM["params"], "message": "two"},
    }
    server = _server(_wants(state, b=FORM, a=two), Answer(text="done"))
    async with _session(server) as session:
        result = await ToolClient(session).call("ask", {"x": 1})
    assert result.content == (Text("done"),)
    first, second = _calls(server)
    assert (second["name"], second["arguments"]) == (first["name"], first["arguments"])
    assert second["_meta"] == first["_meta"]
    assert second["requestState"] == state
    assert "requestState" not in first
    assert second["inputResponses"] == {
        "b": {"action": "accept", "content": {"name": "for m"}},
        "a": {"action": "accept", "content": {"name": "for two"}},
    }
    ids = [message["id"] for message in server.heard("tools/call")]
    assert ids[0] != ids[1]


async def test_without_a_state_none_is_sent_and_without_requests_no_answers() -> None:
    """The retry holds what the last answer asked for, and nothing of an earlier round."""
    server = _server(_wants("one", a=FORM), _wants("two"), _wants(a=FORM), Answer(text="done"))
    async with _session(server) as session:
        await ToolClient(session).call("ask", {})
    sent = [
        {k: v for k, v in call.items() if k.startswith(("input", "request"))}
        for call in _calls(server)
    ]
    answered = {"a": {"action": "accept", "content": {"name": "for m"}}}
    assert sent == [
        {},
        {"inputResponses": answered, "requestState": "one"},
        {"requestState": "two"},
        {"inputResponses": answered},
    ]


async def test_a_state_goes_into_its_own_call_alone() -> None:
    """2026-07-28, mrtr: nothing of it is in any other request, made meanwhile or later."""
    asked, go = asyncio.Event(), asyncio.Event()

    async def wait(question: Elicitation, occasion: Occasion) -> ElicitAnswer:
        asked.set()
        await go.wait()
        return ElicitAnswer(Action.DECLINE)

    server = _server(_wants("mine", a=FORM), Answer(text="other"), Answer(text="done"))
    async with _session(server, Services(elicit=wait)) as session:
        client = ToolClient(session)
        call = asyncio.create_task(client.call("ask", {"n": 1}))
        async with asyncio.timeout(5):
            await asked.wait()
            await client.call("ask", {"n": 2})
            go.set()
            await call
        await client.call("ask", {"n": 3})
    with_state = [call["arguments"] for call in _calls(server) if "requestState" in call]
    assert with_state == [{"n": 1}]


async def test_a_server_that_does_not_stop_asking_is_given_up() -> None:
    """Bounded rounds; the call did not complete, and that is known."""
    server = LoopServer(ScriptedServer((tool("ask"),), revisions=MODERN, name="fake"))
    server.on("tools/call", _wants("again"), tool="ask")
    async with _session(server) as session:
        with pytest.raises(PeerError, match="still does not answer") as failed:
            await ToolClient(session).call("ask", {})
    assert failed.value.fate is Fate.ANSWERED
    assert len(_calls(server)) == MAX_ROUNDS + 1


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer({"resultType": "input_required"}), "neither which nor its state"),
        (Answer({"resultType": "input_required", "requestState": 5}), "a requestState that is"),
        (Answer({"resultType": "input_required", "inputRequests": [1]}), "inputRequests that are"),
        (_wants(a={"params": {}}), "without a method"),
        (_wants(a=5), "without a method"),
        (_wants(None, **{f"k{n}": FORM for n in range(21)}), "21 inputs"),
        (_wants(a={"method": "made/up"}), "made/up"),
        (_wants(a={"method": "roots/list"}), "roots/list"),
        (_wants(a={"method": "elicitation/create"}), "null"),
    ],
)
async def test_what_can_not_be_answered_ends_the_call(answer: Answer, why: str) -> None:
    """What nobody handles, nobody declared, or nobody can read: nothing is sent again."""
    server = _server(answer)
    async with _session(server) as session:
        with pytest.raises(PeerError, match=why) as failed:
            await ToolClient(session).call("ask", {})
    assert failed.value.fate is Fate.ANSWERED
    assert len(_calls(server)) == 1


async def test_a_refusal_and_a_failure_of_the_host_end_the_call() -> None:
    """What the host says goes into the error; what it raises by accident does not."""

    async def refuses(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        raise Refusal(-1, "not today")

    async def fails(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        raise RuntimeError("secret")

    for handler, why in ((refuses, "not today"), (fails, "RuntimeError")):
        server = _server(_wants(a=FORM))
        async with _session(server, Services(elicit=handler)) as session:
            with pytest.raises(PeerError, match=why) as failed:
                await ToolClient(session).call("ask", {})
        assert "secret" not in str(failed.value)
        assert len(_calls(server)) == 1


async def test_what_has_no_json_form_is_a_failure_that_is_answered() -> None:
    """The first round was heard: it is not told as something that was never sent."""

    async def sample(params: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
        return {"content": object()}

    server = _server(_wants(a={"method": "sampling/createMessage", "params": {}}))
    async with _session(server, Services(sample=sample)) as session:
        with pytest.raises(PeerError, match="no JSON form") as failed:
            await ToolClient(session).call("ask", {})
    assert failed.value.fate is Fate.ANSWERED


async def test_a_server_that_is_lost_between_two_rounds_was_heard() -> None:
    """Nobody is asked a second time because the second round could not be sent."""
    server = _server(_wants("s", a=FORM))

    async def hangs_up(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        server.hang_up()
        await session.connection.wait_gone()
        return ElicitAnswer(Action.DECLINE)

    async with _session(server, Services(elicit=hangs_up)) as session:
        with pytest.raises(PeerError, match="was not told") as failed:
            await ToolClient(session).call("ask", {})
    assert failed.value.fate is Fate.ANSWERED
    assert failed.value.fault is Fault.NOT_CONNECTED


async def test_cancelled_between_two_rounds_nothing_more_is_sent() -> None:
    """The server waits for nothing then; whoever is asked is asked no more."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def forever(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    server = _server(_wants("s", a=FORM))
    async with _session(server, Services(elicit=forever)) as session:
        call = asyncio.create_task(ToolClient(session).call("ask", {}))
        async with asyncio.timeout(5):
            await begun.wait()
            call.cancel()
            await ended.wait()
        await asyncio.gather(call, return_exceptions=True)
        await ToolClient(session).list()
    methods = [message["method"] for message in server.received]
    assert methods.count("tools/call") == 1
    assert "notifications/cancelled" not in methods


@pytest.mark.req("S3-21")
async def test_each_round_has_the_whole_time_and_a_person_takes_none() -> None:
    """A question that takes longer than the call may is no time-out."""

    async def slow(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        await passing(0.4)
        return ElicitAnswer(Action.CANCEL)

    server = _server(_wants("s", a=FORM), Answer(text="done"))
    async with _session(server, Services(elicit=slow)) as session:
        result = await ToolClient(session).call("ask", {}, timeout=0.3)
    assert result.content == (Text("done"),)
    assert _calls(server)[1]["inputResponses"] == {"a": {"action": "cancel"}}


async def test_for_a_legacy_server_such_an_answer_means_nothing() -> None:
    """`resultType` is of the modern era: the answer is what it is, and nobody is asked."""
    server = _server(_wants("s", a=FORM), revisions=LEGACY)
    async with _session(server) as session:
        result = await ToolClient(session).call("ask", {})
    assert (result.content, result.is_error) == ((), False)
    assert len(_calls(server)) == 1


async def test_half_a_surrogate_pair_in_a_state_is_sent_back_as_what_it_was_read_as() -> None:
    """No JSON encoder can write one: the call goes on, with U+FFFD in its place."""
    answer = Answer(
        {"resultType": "input_required", "requestState": "@"},
        shape=Shape(swap=((b"@", b"\\ud800"),)),
    )
    server = _server(answer, Answer(text="done"))
    async with _session(server) as session:
        await ToolClient(session).call("ask", {})
    assert _calls(server)[1]["requestState"] == "\ufffd"
