"""What servers may ask: what is declared is what is handled, whoever asks and in which era."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.services import Occasion, Refusal, Root, Services, common
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation, Mode
from lockgate.mcp.protocol.eras import REVISIONS, Era, Revision
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.clock import passing
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, tool
from lockgate.testing.steps import Answer, Ask, Do, Message

FORM = {"message": "Your name?", "requestedSchema": {"properties": {"name": {"type": "string"}}}}
ADDRESS = {"mode": "url", "message": "Go", "url": "https://example.com/a", "elicitationId": "e"}


SAMPLE: dict[str, Any] = {"messages": []}


class Person:
    """Says yes with these values, and keeps what was asked."""

    def __init__(self, **values: Any) -> None:
        self.values = values
        self.asked: list[tuple[Elicitation, Occasion]] = []

    async def __call__(self, asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        self.asked.append((asked, occasion))
        return ElicitAnswer(Action.ACCEPT, self.values if asked.mode is Mode.FORM else None)


async def _sample(params: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
    return {"model": "m"}


async def _roots(occasion: Occasion) -> Sequence[Root]:
    return (Root("file:///x"),)


def _everything(person: Person | None = None) -> Services:
    return Services(elicit=person or Person(), sample=_sample, roots=_roots, sampling_tools=True)


async def _handled(services: Services, method: str, params: Mapping[str, Any]) -> bool:
    try:
        await services.answer(method, dict(params), Occasion("s", attended=True))
    except Refusal:
        return False
    return True


@given(
    st.sampled_from(REVISIONS),
    st.booleans(),
    st.frozensets(st.sampled_from(Mode)),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_what_is_declared_is_what_is_handled(
    revision: Revision, asks: bool, modes: frozenset[Mode], samples: bool, tools: bool, roots: bool
) -> None:
    """2026-07-28, client/elicitation and client/sampling: in every revision a server that asks for
    what was not declared is refused, and gets what was."""
    services = Services(
        elicit=Person() if asks else None,
        modes=modes,
        sample=_sample if samples else None,
        sampling_tools=tools,
        roots=_roots if roots else None,
    )
    declared = services.capabilities.declared(revision)
    there = services.of(revision)
    assert there.capabilities.declared(revision) == declared
    elicits = declared.get("elicitation")
    forms = elicits is not None and (not elicits or "form" in elicits)
    addresses = elicits is not None and "url" in elicits
    sampling = declared.get("sampling")
    wanted = {
        ("elicitation/create", "form"): forms,
        ("elicitation/create", "url"): addresses,
        ("sampling/createMessage", ""): sampling is not None,
        ("sampling/createMessage", "tools"): sampling is not None and "tools" in sampling,
        ("roots/list", ""): "roots" in declared,
        ("made/up", ""): False,
    }
    params: Mapping[str, Mapping[str, Any]] = {
        "form": FORM,
        "url": ADDRESS,
        "tools": {"messages": [], "tools": []},
        "": {"messages": []},
    }
    for (method, how), expected in wanted.items():
        assert asyncio.run(_handled(there, method, params[how])) is expected, (method, how)


@asynccontextmanager
async def _session(
    server: LoopServer, services: Services, **more: Any
) -> AsyncGenerator[ServerSession]:
    client = ClientIdentity("test", "1")
    session = await connect(
        server.transport(), peer="fake", client=client, services=services, **more
    )
    try:
        yield session
    finally:
        await session.close()


def _server(*steps: Any, revisions: tuple[str, ...] = LEGACY) -> LoopServer:
    script = ScriptedServer((tool("ask"),), revisions=revisions, name="fake")
    return LoopServer(script).on("tools/call", *steps, tool="ask")


@pytest.mark.parametrize(
    "revision", [r for r in REVISIONS if r.era is Era.LEGACY], ids=lambda r: r.name
)
async def test_a_legacy_server_asks_by_what_its_revision_has(revision: Revision) -> None:
    """Elicitation is of 2025-06-18, by an address of 2025-11-25; roots and sampling are of all."""
    person = Person(name="Ada")
    server = _server(
        Ask("roots/list"),
        Ask("sampling/createMessage", {"messages": []}),
        Ask("elicitation/create", FORM),
        Ask("elicitation/create", ADDRESS),
        Answer(text="done"),
        revisions=(revision.name,),
    )
    async with _session(server, _everything(person)) as session:
        await ToolClient(session).call("ask", {})
    offered = server.heard("initialize")[0]["params"]["capabilities"]
    first, second, third, fourth = [m for m in server.received if "method" not in m]
    assert first["result"] == {"roots": [{"uri": "file:///x"}]}
    assert second["result"] == {"model": "m"}
    assert offered["elicitation"] == {"form": {}, "url": {}}  # of the newest, which is offered
    if not revision.elicits:
        assert (third["error"]["code"], fourth["error"]["code"]) == (-32601, -32601)
    elif not revision.elicits_by_url:
        assert third["result"] == {"action": "accept", "content": {"name": "Ada"}}
        assert fourth["error"]["code"] == -32602
    else:
        assert fourth["result"] == {"action": "accept"}


async def test_a_modern_server_asks_nothing_by_itself() -> None:
    """2026-07-28, basic/patterns/mrtr: requests of a server's own are gone; they are refused."""
    person = Person(name="Ada")
    server = _server(Ask("elicitation/create", FORM), Answer(text="done"), revisions=MODERN)
    async with _session(server, _everything(person)) as session:
        await ToolClient(session).call("ask", {})
    (answer,) = [m for m in server.received if "method" not in m]
    assert answer["error"]["code"] == -32601
    assert person.asked == []


async def test_what_is_asked_with_the_answer_to_initialize_waits_for_the_agreement() -> None:
    """A server that asks too early is answered once it is clear what is spoken."""
    server = _server()
    ask = b'{"jsonrpc":"2.0","id":"early","method":"roots/list"}'

    async def early(message: Message) -> Any:
        await server.say(ask)
        return Answer()

    server.on("initialize", Do(early))
    async with _session(server, _everything()):
        assert (await server.hears_answer("early"))["result"]["roots"]


async def test_the_occasion_is_the_call_that_is_open() -> None:
    """Whoever is asked is told in which call, if only one is open."""
    person = Person(name="Ada")
    server = _server(Ask("elicitation/create", FORM), Answer())
    occasion = Occasion("fake", "ask", "c1", attended=True)
    async with _session(server, _everything(person)) as session:
        await ToolClient(session).call("ask", {}, occasion=occasion)
    ((_, asked),) = person.asked
    assert (asked.tool, asked.call_id, asked.attended) == ("ask", "c1", True)


def test_of_several_calls_only_what_they_have_in_common_is_told() -> None:
    """The tool if it is the same, no call, and that nobody is there only if that is so for all."""
    one = Occasion("s", "a", "1", attended=True)
    assert common("s", [one, one]) == one
    assert common("s", [one, Occasion("s", "a", "2", attended=False)]) == Occasion(
        "s", "a", attended=True
    )
    assert common("s", [Occasion("s", "a"), Occasion("s", "b", attended=False)]) == Occasion("s")
    assert common("s", [Occasion("s", "a", "1", False), Occasion("s", "b", "2", False)]) == (
        Occasion("s", attended=False)
    )


@pytest.mark.req("S0-09")
async def test_out_of_the_blue_nobody_is_asked() -> None:
    """A question that belongs to nothing which is under way is cancelled, and no model completes
    anything for it; the directories are told."""
    person = Person(name="Ada")
    server = _server()
    async with _session(server, _everything(person)):
        for id, method, params in (
            ("e", "elicitation/create", FORM),
            ("s", "sampling/createMessage", SAMPLE),
            ("r", "roots/list", {}),
        ):
            await server.say({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        assert (await server.hears_answer("e"))["result"] == {"action": "cancel"}
        assert (await server.hears_answer("s"))["error"]["code"] == -32600
        assert "result" in await server.hears_answer("r")
    assert person.asked == []


@pytest.mark.req("S0-09")
async def test_in_a_call_that_nobody_attends_the_answer_is_cancel() -> None:
    """Without a person to ask nobody is asked."""
    person = Person(name="Ada")
    server = _server(Ask("elicitation/create", FORM), Answer())
    async with _session(server, _everything(person)) as session:
        occasion = Occasion("fake", "ask", "c1", attended=False)
        await ToolClient(session).call("ask", {}, occasion=occasion)
    (answer,) = [m for m in server.received if "method" not in m]
    assert answer["result"] == {"action": "cancel"}
    assert person.asked == []


@pytest.mark.req("S3-21")
async def test_time_with_a_person_is_not_the_servers() -> None:
    """A call with half a second outlives a question of a second, and still has its time after."""

    async def slow(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        await passing(0.6)
        return ElicitAnswer(Action.DECLINE)

    server = _server(Ask("elicitation/create", FORM), Answer(text="done"))
    async with _session(server, Services(elicit=slow)) as session:
        result = await ToolClient(session).call("ask", {}, timeout=0.4)
    assert not result.is_error


async def test_a_question_ends_with_the_call_that_it_is_about() -> None:
    """Cancelled, the person is not asked any further, and the server hears why."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def forever(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    server = _server(Ask("elicitation/create", FORM), Answer())
    async with _session(server, Services(elicit=forever)) as session:
        call = asyncio.create_task(ToolClient(session).call("ask", {}))
        async with asyncio.timeout(5):
            await begun.wait()
            call.cancel()
            await ended.wait()
        answer = await server.hears_answer("ask-1")
    assert "is over" in answer["error"]["message"]


async def test_a_question_ends_when_the_server_answers_without_it() -> None:
    """A server that did not wait does not have a person fill in a form for nothing."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def forever(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    server = _server()
    async with _session(server, Services(elicit=forever)) as session:
        call = asyncio.create_task(ToolClient(session).call("ask", {}))
        asked = await server.hears("tools/call")
        await server.say(
            {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": FORM}
        )
        async with asyncio.timeout(5):
            await begun.wait()
            await server.say({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}})
            await call
            await ended.wait()


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ([1], "an array"),
        (None, "null"),
        ({}, "without a message"),
        ({"message": 3}, "without a message"),
        ({"message": "m"}, "requestedSchema"),
        ({"mode": "voice", "message": "m"}, "a mode that is not known"),
        ({"mode": "url", "message": "m"}, "without a url"),
        ({"message": "m", "requestedSchema": {"type": "array"}}, "a form that is no object"),
        (
            {"message": "m", "requestedSchema": {"properties": {"a": {"type": "object"}}}},
            "the field 'a'",
        ),
    ],
)
async def test_odd_params_are_refused_with_what_is_odd(params: Any, why: str) -> None:
    """-32602, and nobody is asked."""
    person = Person()
    with pytest.raises(Refusal) as refused:
        await _everything(person).answer("elicitation/create", params, Occasion("s"))
    assert refused.value.code == -32602
    assert why in refused.value.message
    assert person.asked == []


@pytest.mark.parametrize("values", [{}, {"name": 3}, {"name": "x" * 9}, {"name": "A", "b": 1}])
async def test_an_accepted_form_fits_its_schema(values: dict[str, Any]) -> None:
    """PB-054: a handler that says yes with what does not fit has said nothing."""
    schema = {"properties": {"name": {"type": "string", "maxLength": 8}}, "required": ["name"]}
    params = {"message": "m", "requestedSchema": schema}
    with pytest.raises(ValueError, match="form"):
        await _everything(Person(**values)).answer("elicitation/create", params, Occasion("s"))


async def test_what_only_the_whole_schema_says_is_checked_too() -> None:
    """A pattern, for one, which nothing here looks at by itself."""
    schema = {"properties": {"name": {"type": "string", "pattern": "^[a-z]+$"}}}
    params = {"message": "m", "requestedSchema": schema}
    with pytest.raises(ValueError, match="schema"):
        await _everything(Person(name="A1")).answer("elicitation/create", params, Occasion("s"))
