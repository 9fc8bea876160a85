"""A server whose tools change while it is connected: its list is read beside the work (S3-18)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from lockgate.errors import Fate
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import AnnotationTrust
from lockgate.testing.clock import FakeClock
from lockgate.testing.heard_events import HeardEvents
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.pauses import ScriptedPauses
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, tool
from lockgate.testing.steps import Answer, Do, Message, Step
from lockgate.tools.registry import Registry
from lockgate.tools.result import ErrorKind, Outcome

MakeManager = Callable[..., Manager]
RunTool = Callable[..., Coroutine[Any, Any, Outcome]]

CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
BROKEN = Answer(error={"code": -32603, "message": "broken"})
T = "mcp__s__t"
READ: dict[str, Any] = {"annotations": {"readOnlyHint": True}}
TRUSTED = {"s": {"annotation_trust": AnnotationTrust.TRUST}}


def _server(*tools: Any, revisions: tuple[str, ...] = LEGACY, **script: Any) -> LoopServer:
    return LoopServer(ScriptedServer(tools or (tool("t"),), revisions=revisions, **script))


def _lists(server: LoopServer, *tools: Any) -> None:
    server.on("tools/list", Answer(result={"tools": list(tools)}))


async def _announce(server: LoopServer, heard: HeardEvents, *, times: int = 1) -> None:
    """Have the server say that its tools changed, and wait until that has arrived."""
    before = heard.methods.count(CHANGED["method"])
    for _ in range(times):
        await server.say(CHANGED)
    await heard.until(lambda: heard.methods.count(CHANGED["method"]) == before + times)


@pytest.mark.req("S3-18")
async def test_a_change_is_taken_in_and_a_turn_under_way_keeps_its_own(
    managed: MakeManager, registry: Registry, run_tool: RunTool
) -> None:
    """New tools are ruled on and registered, removed ones withdrawn, all in one step; a snapshot
    that was taken before stays as it was, and what is the same in both is the same object."""
    server, heard = _server(tool("t"), tool("u"), tool("v")), HeardEvents()
    manager = managed({"s": server, "other": _server()}, listeners=[heard])
    await manager.start(registry)
    turn = registry.snapshot()
    _lists(server, tool("v"), tool("t", "Another."), tool("w"))
    await server.say(CHANGED)
    change = await heard.changed()
    assert change == {"added": ["mcp__s__w"], "removed": ["mcp__s__u"], "changed": [T]}
    names = {T, "mcp__s__u", "mcp__s__v", "mcp__other__t"}
    assert set(turn.entries) == names
    now = registry.snapshot()
    assert set(now.entries) == (names - {"mcp__s__u"}) | {"mcp__s__w"}
    assert now.get("mcp__s__v") is turn.get("mcp__s__v")
    assert manager.statuses[0].tools == ("mcp__s__v", T, "mcp__s__w")
    old = await run_tool(turn, T)
    assert (old.result.kind, old.fate) == (ErrorKind.TOOL_CHANGED, Fate.NOT_SENT)
    assert (await run_tool(turn, "mcp__s__u")).result.reason == "gone"
    assert server.heard("tools/call") == []
    assert not (await run_tool(now, T)).result.is_error


@pytest.mark.req("S3-18")
async def test_the_same_list_changes_nothing(managed: MakeManager, registry: Registry) -> None:
    """Not even the snapshot; nobody is told."""
    server, heard, pauses = _server(), HeardEvents(), ScriptedPauses()
    manager = managed({"s": server}, listeners=[heard], pause=pauses)
    await manager.start(registry)
    before = registry.snapshot()
    await server.say(CHANGED)
    await pauses.begins()
    assert len(server.heard("tools/list")) == 2
    assert registry.snapshot() is before
    assert heard.changes == []


@pytest.mark.req("B-06")
async def test_a_call_waits_for_the_list_that_was_announced_before_it(
    managed: MakeManager, registry: Registry, run_tool: RunTool
) -> None:
    """Whatever was asked and answered meanwhile: what differs then is not sent."""
    server, heard = _server(tool("t"), tool("u")), HeardEvents()
    manager = managed({"s": server}, listeners=[heard])
    await manager.start(registry)
    turn, goes_on = registry.snapshot(), asyncio.Event()

    async def later(message: Message) -> Step:
        await goes_on.wait()
        return Answer(result={"tools": [tool("t", "Another."), tool("u")]})

    server.on("tools/list", Do(later))
    await _announce(server, heard)
    calls = [asyncio.create_task(run_tool(turn, name)) for name in (T, "mcp__s__u")]
    await server.hears("tools/list", 2)
    assert server.heard("tools/call") == []
    goes_on.set()
    changed, same = await asyncio.gather(*calls)
    assert changed.result.kind is ErrorKind.TOOL_CHANGED
    assert not same.result.is_error
    assert [m["params"]["name"] for m in server.heard("tools/call")] == ["u"]


@pytest.mark.req("B-06")
@pytest.mark.parametrize("how", ["refused", "silent"])
async def test_what_can_not_be_read_is_not_called_unless_it_only_reads(
    managed: MakeManager, registry: Registry, run_tool: RunTool, how: str
) -> None:
    """A change was announced and nobody knows which: fail closed, within the request timeout."""
    server, heard = _server(tool("t"), tool("r", **READ)), HeardEvents()
    settings = {"s": {**TRUSTED["s"], "request_timeout": 0.2}}
    manager = managed({"s": server}, settings, listeners=[heard], pause=ScriptedPauses())
    await manager.start(registry)
    server.on("tools/list", *((BROKEN,) if how == "refused" else ()))
    await _announce(server, heard)
    refused = await run_tool(registry, T)
    assert (refused.result.kind, refused.result.reason) == (ErrorKind.TOOL_CHANGED, "list_unread")
    assert refused.fate is Fate.NOT_SENT
    assert not (await run_tool(registry, "mcp__s__r")).result.is_error


async def test_a_failure_keeps_the_last_good_list_and_is_told(
    managed: MakeManager, registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """In the log and in the status, until a reading succeeds."""
    server, heard, pauses = _server(), HeardEvents(), ScriptedPauses()
    manager = managed({"s": server}, listeners=[heard], pause=pauses)
    await manager.start(registry)
    server.on("tools/list", BROKEN)
    with caplog.at_level(logging.WARNING):
        await server.say(CHANGED)
        await pauses.begins()
    assert "can not be listed again, and stay as they are: s answered with an error" in caplog.text
    assert "broken" in (manager.statuses[0].stale or "")
    assert set(registry.snapshot().entries) == {T}
    _lists(server, tool("x"))
    await pauses.release()
    await heard.changed()
    assert manager.statuses[0].stale is None
    assert set(registry.snapshot().entries) == {"mcp__s__x"}


@pytest.mark.req("B-06")
async def test_a_stricter_ruling_under_one_definition_is_a_change(
    managed: MakeManager, registry: Registry, run_tool: RunTool
) -> None:
    """A definition that its server contradicts from now on is believed no more."""
    server, heard = _server(tool("t", **READ)), HeardEvents()
    manager = managed({"s": server}, TRUSTED, listeners=[heard])
    await manager.start(registry)
    turn = registry.snapshot()
    _lists(server, tool("t", **READ), tool("t", "Another."))
    await server.say(CHANGED)
    assert (await heard.changed())["changed"] == [T]
    entry = registry.snapshot().get(T)
    assert entry is not None
    assert not entry.is_read_only
    assert (await run_tool(turn, T)).result.kind is ErrorKind.TOOL_CHANGED


async def test_a_bad_tool_in_a_later_list_costs_itself_alone(
    managed: MakeManager, registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """S3-10 holds for every list; what is expected and gone is warned about."""
    server, heard = _server(tool("t"), tool("u")), HeardEvents()
    manager = managed({"s": server}, {"s": {"expect_tools": ("t",)}}, listeners=[heard])
    await manager.start(registry)
    _lists(server, tool("t", inputSchema={"type": "object", "properties": []}), tool("u"))
    with caplog.at_level(logging.INFO):
        await server.say(CHANGED)
        await heard.changed()
    (status,) = manager.statuses
    assert status.tools == ("mcp__s__u",)
    assert [out.tool for out in status.left_out] == ["t"]
    assert "MCP server s: its tools are others now: gone: mcp__s__t" in caplog.text
    assert "server s: the expected tool 't' was left out" in caplog.text


async def test_a_list_that_got_old_is_read_again_when_a_turn_begins(
    managed: MakeManager, registry: Registry, run_tool: RunTool
) -> None:
    """2026-07-28, Caching: `ttlMs` of a modern server; the turn itself does not wait for it, nor do
    its calls."""
    server, heard, clock = _server(revisions=MODERN), HeardEvents(), FakeClock()
    manager = managed({"s": server}, listeners=[heard], clock=clock)
    listing = {"resultType": "complete", "ttlMs": 60_000, "cacheScope": "private"}
    server.on("tools/list", Answer(result={**listing, "tools": [tool("t")]}))
    await manager.start(registry)
    manager.turn_begins()
    clock.advance(59.9)
    manager.turn_begins()
    assert len(server.heard("tools/list")) == 1
    server.on("tools/list", Answer(result={**listing, "tools": [tool("t"), tool("u")]}))
    clock.advance(0.1)
    manager.turn_begins()
    manager.turn_begins()
    assert not (await run_tool(registry, T)).result.is_error
    assert (await heard.changed())["added"] == ["mcp__s__u"]
    assert len(server.heard("tools/list")) == 2


async def test_a_legacy_server_has_no_say_about_how_long_its_list_is_good(
    managed: MakeManager, registry: Registry
) -> None:
    """`ttlMs` means nothing before 2026-07-28."""
    server, clock = _server(), FakeClock()
    server.on("tools/list", Answer(result={"tools": [tool("t")], "ttlMs": 1}))
    manager = managed({"s": server}, clock=clock)
    await manager.start(registry)
    clock.advance(1e6)
    manager.turn_begins()
    assert manager.statuses[0].stale is None
    assert len(server.heard("tools/list")) == 1


async def test_what_is_announced_while_all_servers_start_is_not_lost(
    managed: MakeManager, registry: Registry
) -> None:
    """The list that is registered is the newest one that was read."""
    server, heard, goes_on = _server(), HeardEvents(), asyncio.Event()

    async def later(message: Message) -> Step:
        await goes_on.wait()
        return Answer()

    slow = _server(tool("x")).on("initialize", Do(later))
    manager = managed({"s": server, "slow": slow}, listeners=[heard])
    starting = asyncio.create_task(manager.start(registry))
    await server.hears("tools/list")
    _lists(server, tool("y"))
    await _announce(server, heard)
    await server.hears("tools/list", 2)
    goes_on.set()
    await starting
    assert set(registry.snapshot().entries) == {"mcp__s__y", "mcp__slow__x"}
