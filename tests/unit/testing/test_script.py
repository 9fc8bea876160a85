"""The scripted server: a good one by default, bad in exactly the way that is asked for."""

from __future__ import annotations

import asyncio
import json
import os
import resource
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema_rs
import pytest

from lockgate.errors import PeerError
from lockgate.mcp.protocol.jsonrpc import Outgoing
from lockgate.mcp.transport.base import Link, Transport
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.process.child import Grace
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.received import ServerLedger
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import (
    BOTH_ERAS,
    ECHO,
    INLINE,
    LEGACY,
    MODERN,
    ScriptedServer,
    When,
    tool,
)
from lockgate.testing.steps import Answer, Ask, Exit, Raw, Send, Sleep

SPEC = Path(__file__).parents[3] / "spec"
NEWEST = "2026-07-28"
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": NEWEST,
    "io.modelcontextprotocol/clientCapabilities": {},
}

Run: TypeAlias = Callable[[ScriptedServer], Transport]


def as_process(server: ScriptedServer) -> Transport:
    """As a child process."""
    return StdioTransport(server.endpoint(), peer="srv", environ=os.environ, grace=Grace(0.2, 0.2))


def in_loop(server: ScriptedServer) -> Transport:
    """In this event loop."""
    return LoopServer(server).transport(grace=0.2)


@pytest.fixture(params=[as_process, in_loop])
def run(request: pytest.FixtureRequest) -> Run:
    """Both ways to run it."""
    return request.param


@asynccontextmanager
async def talk(transport: Transport) -> AsyncGenerator[tuple[Link, RecordingReceiver], None]:
    """An open link."""
    receiver = RecordingReceiver()
    async with transport.open(receiver) as link:
        yield link, receiver


def message(identity: int | None, method: str, **params: Any) -> Outgoing:
    """A request, or a notification without an id."""
    body: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if identity is not None:
        body["id"] = identity
    return Outgoing(json.dumps(body).encode())


async def test_it_speaks_both_eras(run: Run) -> None:
    """Its standard answers are valid by the schema of the revision that is spoken."""
    server = ScriptedServer(instructions="hello")
    async with talk(run(server)) as (link, receiver):
        asked: list[tuple[str, dict[str, Any], str, str]] = [
            ("server/discover", {"_meta": META}, NEWEST, "DiscoverResult"),
            ("tools/list", {"_meta": META}, NEWEST, "ListToolsResult"),
            ("tools/call", {"_meta": META, "name": "echo"}, NEWEST, "CallToolResult"),
            ("initialize", {"protocolVersion": "2025-11-25"}, "2025-11-25", "InitializeResult"),
            ("tools/list", {}, "2025-11-25", "ListToolsResult"),
            ("tools/call", {"name": "echo"}, "2025-11-25", "CallToolResult"),
            ("ping", {}, "2025-11-25", "EmptyResult"),
        ]
        for number, (method, params, revision, kind) in enumerate(asked):
            await link.send(message(number, method, **params))
            result = (await receiver.answer(number))["result"]
            schema = json.loads((SPEC / f"mcp-schema-{revision}.json").read_text())
            schema["$ref"] = f"#/{'$defs' if '$defs' in schema else 'definitions'}/{kind}"
            jsonschema_rs.validator_for(schema).validate(result)


REFUSALS: list[tuple[tuple[str, ...], str, dict[str, Any], int]] = [
    (LEGACY, "server/discover", {"_meta": META}, -32601),
    (MODERN, "initialize", {"protocolVersion": "2025-11-25"}, -32022),
    (MODERN, "tools/list", {"_meta": {**META, next(iter(META)): "2031-01-01"}}, -32022),
    (BOTH_ERAS, "tools/call", {"name": "nobody"}, -32602),
    (BOTH_ERAS, "no/such", {}, -32601),
]


@pytest.mark.parametrize(("revisions", "method", "params", "code"), REFUSALS)
async def test_it_refuses_as_a_good_server_does(
    revisions: tuple[str, ...], method: str, params: dict[str, Any], code: int
) -> None:
    """A revision it does not speak, a tool or a method that it has not got."""
    async with talk(in_loop(ScriptedServer(revisions=revisions))) as (link, receiver):
        await link.send(message(1, method, **params))
        assert (await receiver.answer(1))["error"]["code"] == code


async def test_tools_come_in_pages(run: Run) -> None:
    """And as they are, good or bad."""
    tools = (ECHO, None, tool("b"), 7, {"name": "c"})
    async with talk(run(ScriptedServer(tools=tools, page_size=2))) as (link, receiver):
        found: list[Any] = []
        cursor: str | None = None
        for number in range(3):
            await link.send(message(number, "tools/list", **({"cursor": cursor} if cursor else {})))
            page = (await receiver.answer(number))["result"]
            found += page["tools"]
            cursor = page.get("nextCursor")
    assert found == [*tools]
    assert cursor is None


async def test_rules_are_tried_in_order(run: Run) -> None:
    """By method, tool, count and every so manyth; what fits none is answered as usual."""
    server = ScriptedServer(
        tools=(tool("a"), tool("b")),
        rules=(
            When("tools/call", Answer(text="first a"), tool="a", nth=1),
            When("tools/call", Answer(text="every second"), every=2),
        ),
    )
    async with talk(run(server)) as (link, receiver):
        texts: list[str] = []
        for number, name in enumerate("aabab"):
            await link.send(message(number, "tools/call", name=name))
            texts.append((await receiver.answer(number))["result"]["content"][0]["text"])
    assert texts == ["first a", "{}", "every second", "{}", "every second"]


async def test_messages_are_served_side_by_side(run: Run) -> None:
    """A slow call holds up no other; seconds may come from the call."""
    server = ScriptedServer(rules=(When("tools/call", Sleep(argument="wait"), Answer()),))
    async with talk(run(server)) as (link, receiver):
        for number, wait in enumerate((0.2, 0.1, 0)):
            await link.send(message(number, "tools/call", name="echo", arguments={"wait": wait}))
        for number in range(3):
            await receiver.answer(number)
    assert [entry["id"] for entry in receiver.messages] == [2, 1, 0]


async def test_it_asks_and_waits_for_the_answer(run: Run, tmp_path: Path) -> None:
    """A request of its own goes out first; what was asked goes on when it is answered."""
    ledger = ServerLedger(tmp_path / "ledger")
    rules = (When("tools/call", Ask("roots/list"), Answer(text="done")),)
    async with talk(run(ScriptedServer(rules=rules, ledger=ledger.path))) as (link, receiver):
        await link.send(message(1, "tools/call", name="echo"))
        asked = json.loads(await receiver.next())
        assert asked["method"] == "roots/list"
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}}
        await link.send(Outgoing(json.dumps(reply).encode()))
        await receiver.answer(1)
    (entry,) = ledger.entries("reply")
    assert entry.facts["message"] == reply


@pytest.mark.parametrize("heeds", [True, False])
async def test_a_cancelled_call_is_heeded_or_not(run: Run, heeds: bool) -> None:
    """A good server answers no more; another one answers late."""
    rules = (When("tools/call", Sleep(0.05), Answer()),)
    async with talk(run(ScriptedServer(rules=rules, heeds_cancel=heeds))) as (link, receiver):
        await link.send(message(1, "tools/call", name="echo"))
        await link.send(message(None, "notifications/cancelled", requestId=1))
        await link.send(message(2, "tools/call", name="echo"))
        await receiver.answer(2)
    assert [entry["id"] for entry in receiver.messages] == ([2] if heeds else [1, 2])


async def test_the_ledger_has_every_call_and_the_end(run: Run, tmp_path: Path) -> None:
    """What was received is written down before it is acted upon, garbage too."""
    ledger = ServerLedger(tmp_path / "ledger")
    server = ScriptedServer(
        rules=(When("tools/call", Exit(0), nth=2),), ledger=ledger.path, name="one"
    )
    assert ledger.entries() == ()
    async with talk(run(server)) as (link, receiver):
        await link.send(Outgoing(b"no JSON"))
        await link.send(Outgoing(b"[1]"))
        await link.send(message(1, "tools/call", name="echo", arguments={"a": 1}))
        await receiver.answer(1)
        await link.send(message(2, "tools/call", name="gone"))
        await receiver.end()
    events = [entry.event for entry in ledger.entries()]
    assert events == ["start", "garbage", "garbage", "call", "call"]
    assert ledger.called == ("echo", "gone")
    assert ledger.entries("call")[0].facts == {"id": 1, "tool": "echo", "arguments": {"a": 1}}
    assert {entry.server for entry in ledger.entries()} == {"one"}


async def test_waiting_for_what_never_happens_ends(tmp_path: Path) -> None:
    """Within the bound."""
    with pytest.raises(TimeoutError):
        await ServerLedger(tmp_path / "ledger").wait_for("call", timeout=0.02)


async def test_any_id_and_any_message_can_be_sent(run: Run) -> None:
    """Wrong ids, null, errors, raw lines."""
    steps = (
        Answer(id=("7",)),
        Answer(id=(None,), error={"code": -1, "message": "no"}),
        Send({"jsonrpc": "2.0", "method": "notifications/x"}),
        Raw(b"raw\n"),
    )
    async with talk(run(ScriptedServer(rules=(When("tools/call", *steps),)))) as (link, receiver):
        await link.send(message(7, "tools/call", name="echo"))
        frames = [await receiver.next() for _ in range(4)]
    assert [entry.get("id", "none") for entry in receiver.messages] == ["7", None, "none", "none"]
    assert frames[3] == b"raw"


async def test_a_long_script_goes_into_a_file(tmp_path: Path) -> None:
    """It would not fit on a command line; without a file that is said at once."""
    server = ScriptedServer(tools=(tool("big", "d" * INLINE),))
    with pytest.raises(ValueError, match="file"):
        server.endpoint()
    endpoint = server.endpoint(file=tmp_path / "script")
    async with talk(StdioTransport(endpoint, peer="srv", environ=os.environ)) as (link, receiver):
        await link.send(message(1, "tools/list"))
        listed = (await receiver.answer(1))["result"]["tools"]
    assert len(listed[0]["description"]) == INLINE


async def test_it_starts_quickly() -> None:
    """It costs little more than the interpreter: hundredths of a second, whatever else runs."""
    best = 10.0
    for _ in range(5):
        before = _children_cpu()
        async with talk(as_process(ScriptedServer())) as (link, receiver):
            await link.send(message(1, "ping"))
            await receiver.answer(1)
        best = min(best, _children_cpu() - before)
    assert best < 0.1


def _children_cpu() -> float:
    """Seconds of CPU that the children that are reaped have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def test_a_receiver_waits_for_an_answer_or_the_end() -> None:
    """A link that closes first is an error, not a wait."""
    rules = (When("tools/call", Exit(1)),)
    async with talk(in_loop(ScriptedServer(rules=rules))) as (link, receiver):
        await link.send(message(1, "tools/call", name="echo"))
        with pytest.raises(PeerError):
            await receiver.answer(1)
        with pytest.raises(TimeoutError):
            await receiver.next(timeout=0.01)
        with pytest.raises(TimeoutError):
            await receiver.too_large(timeout=0.01)
    assert asyncio.get_running_loop().is_running()
