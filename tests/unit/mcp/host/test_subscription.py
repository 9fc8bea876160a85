"""The stream on which a modern server announces changes (2026-07-28, Subscriptions)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lockgate.mcp.host.manager import Manager
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.heard_events import HeardEvents
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.pauses import ScriptedPauses
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, tool
from lockgate.testing.steps import Answer, Message
from lockgate.tools.registry import Registry

MakeManager = Callable[..., Manager]

LISTEN = "subscriptions/listen"
ID = "io.modelcontextprotocol/subscriptionId"
ABLE = {"tools": {"listChanged": True}}
CANCELLED = "notifications/cancelled"


def _server(**script: Any) -> LoopServer:
    fields: dict[str, Any] = {"revisions": MODERN, "capabilities": ABLE, **script}
    return LoopServer(ScriptedServer((tool("t"),), **fields)).on(LISTEN)


async def _acknowledge(server: LoopServer, asked: Message, *, granted: bool = True) -> None:
    filters = {"toolsListChanged": True} if granted else {}
    params = {"_meta": {ID: asked["id"]}, "notifications": filters}
    method = "notifications/subscriptions/acknowledged"
    await server.say({"jsonrpc": "2.0", "method": method, "params": params})


async def _change(server: LoopServer, asked: Message) -> None:
    params = {"_meta": {ID: asked["id"]}}
    method = "notifications/tools/list_changed"
    await server.say({"jsonrpc": "2.0", "method": method, "params": params})


@pytest.mark.req("S3-18")
async def test_a_modern_server_that_announces_is_listened_to(
    managed: MakeManager, registry: Registry
) -> None:
    """For its tools alone; asked before the list is read, so that nothing falls between the two."""
    server, heard = _server(), HeardEvents()
    manager = managed({"s": server}, listeners=[heard])
    await manager.start(registry)
    asked = await server.hears(LISTEN)
    assert asked["params"]["notifications"] == {"toolsListChanged": True}
    assert "io.modelcontextprotocol/protocolVersion" in asked["params"]["_meta"]
    methods = [message.get("method") for message in server.received]
    assert methods.index(LISTEN) <= methods.index("tools/list") + 1
    await _acknowledge(server, asked)
    server.on("tools/list", Answer(result={"resultType": "complete", "tools": [tool("u")]}))
    await _change(server, asked)
    assert (await heard.changed())["added"] == ["mcp__s__u"]


@pytest.mark.parametrize(
    ("revisions", "capabilities"),
    [(LEGACY, ABLE), (MODERN, {"tools": {}}), (MODERN, {"tools": {"listChanged": "yes"}})],
)
async def test_others_are_left_in_peace(
    managed: MakeManager, registry: Registry, revisions: tuple[str, ...], capabilities: Any
) -> None:
    """Legacy servers, and modern ones that do not say that they announce."""
    server = _server(revisions=revisions, capabilities=capabilities)
    manager = managed({"s": server})
    await manager.start(registry)
    await manager.close()
    assert server.heard(LISTEN) == []


@pytest.mark.parametrize("how", ["unknown", "not granted"])
async def test_a_server_that_can_not_do_it_is_asked_once(
    managed: MakeManager, registry: Registry, how: str
) -> None:
    """Quietly: no such method, or a grant that leaves out what was asked for."""
    server, pauses, heard = _server(), ScriptedPauses(), HeardEvents()
    manager = managed({"s": server}, pause=pauses, listeners=[heard])
    if how == "unknown":
        server.on(LISTEN, Answer(error={"code": -32601, "message": "Method not found"}))
    await manager.start(registry)
    asked = await server.hears(LISTEN)
    if how == "not granted":
        await _acknowledge(server, asked, granted=False)
        withdrawn = await server.hears(CANCELLED)
        assert withdrawn["params"]["requestId"] == asked["id"]
    await manager.close()
    assert (pauses.seconds, len(server.heard(LISTEN))) == ([], 1)


@pytest.mark.parametrize("end", ["answer", "cancelled", "error"])
async def test_a_stream_that_ended_is_opened_again_and_what_was_missed_is_read(
    managed: MakeManager, registry: Registry, end: str
) -> None:
    """In good order, taken down by the server, or refused for now: with growing waits each time."""
    server, heard, pauses = _server(), HeardEvents(), ScriptedPauses(at_least=1.0)
    options = {"pause": pauses, "chance": lambda: 0.0, "listeners": [heard]}
    manager = managed({"s": server}, **options)
    await manager.start(registry)
    for number in (1, 2):
        asked = await server.hears(LISTEN, number)
        if end != "error":
            await _acknowledge(server, asked)
        head = {"jsonrpc": "2.0", "id": asked["id"]}
        match end:
            case "answer":
                await server.say({**head, "result": {"resultType": "complete"}})
            case "error":
                await server.say({**head, "error": {"code": -32000, "message": "busy"}})
            case _:
                params = {"requestId": asked["id"]}
                await server.say({"jsonrpc": "2.0", "method": CANCELLED, "params": params})
        assert await pauses.begins() == float(number)
        listing = {"resultType": "complete", "tools": [tool(f"u{number}")]}
        server.on("tools/list", Answer(result=listing))
        await pauses.release()
    await _acknowledge(server, await server.hears(LISTEN, 3))
    await heard.until(lambda: any("mcp__s__u2" in change["added"] for change in heard.changes))


async def test_a_stream_that_is_not_acknowledged_is_withdrawn(
    managed: MakeManager, registry: Registry
) -> None:
    """Within the request timeout; the call that nobody answers does not stay open."""
    server, pauses = _server(), ScriptedPauses()
    settings = {"s": {"request_timeout": 0.1}}
    manager = managed({"s": server}, settings, pause=pauses, chance=lambda: 0.0)
    await manager.start(registry)
    asked = await server.hears(LISTEN)
    withdrawn = await server.hears(CANCELLED)
    assert withdrawn["params"]["requestId"] == asked["id"]
    assert await pauses.begins() == 1.0


@pytest.mark.req("S3-18")
async def test_the_held_stream_does_not_hold_up_closing(
    managed: MakeManager, registry: Registry
) -> None:
    """It is withdrawn, and nothing is left."""
    before = Belongings.now()
    server = _server()
    manager = managed({"s": server})
    await manager.start(registry)
    await _acknowledge(server, await server.hears(LISTEN))
    async with asyncio.timeout(2):
        await manager.close()
    assert len(server.heard(CANCELLED)) == 1
    assert await left_since(before) == ()


async def test_a_new_connection_is_listened_to_anew(
    managed: MakeManager, registry: Registry
) -> None:
    """The server holds no subscription over a connection's end."""
    server, pauses = _server(), ScriptedPauses()
    manager = managed({"s": server}, pause=pauses)
    await manager.start(registry)
    await _acknowledge(server, await server.hears(LISTEN))
    server.hang_up()
    await pauses.begins()
    await manager.reconnect()
    await server.hears(LISTEN, 2)


async def test_what_belongs_to_another_stream_is_not_ours(
    managed: MakeManager, registry: Registry
) -> None:
    """An acknowledgement or an end under another id says nothing of this stream."""
    server, pauses = _server(), ScriptedPauses()
    manager = managed({"s": server}, pause=pauses)
    await manager.start(registry)
    asked = await server.hears(LISTEN)
    await _acknowledge(server, {"id": "other"})
    await _acknowledge(server, asked)
    others: list[Any] = [{"requestId": 999}, {}, [], None]
    for params in others:
        await server.say({"jsonrpc": "2.0", "method": CANCELLED, "params": params})
    await manager.close()
    assert len(server.heard(LISTEN)) == 1
    assert pauses.seconds == []
