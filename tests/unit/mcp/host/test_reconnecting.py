"""A server that was in use and is lost: how it comes back, and what its tools do meanwhile (S3-17).

No time goes by: the waits between tries end when a test lets them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from lockgate.errors import Fate, LocalError
from lockgate.mcp.host.events import SERVER_STATE
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.reconnect import Circuit, ReconnectPolicy
from lockgate.mcp.host.status import ServerState
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.clock import FakeClock
from lockgate.testing.heard_events import HeardEvents
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.pauses import ScriptedPauses
from lockgate.testing.script import LEGACY, ScriptedServer, tool
from lockgate.testing.steps import Answer
from lockgate.tools.registry import Registry
from lockgate.tools.result import ErrorKind, Outcome

MakeManager = Callable[..., Manager]
RunTool = Callable[..., Coroutine[Any, Any, Outcome]]
T = "mcp__s__t"
FOREIGN = Answer(result={"protocolVersion": "2099-01-01"})
BROKEN = Answer(error={"code": -32603, "message": "broken"})


def _server(*tools: Any, name: str = "s") -> LoopServer:
    script = ScriptedServer(tools or (tool("t"),), revisions=LEGACY, name=name)
    return LoopServer(script)


@pytest.mark.req("S3-17")
async def test_a_lost_server_comes_back_and_calls_meanwhile_fail_at_once(
    managed: MakeManager, registry: Registry, run_tool: RunTool, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is sent and nothing waits while it is gone; then the very same tool works again."""
    server, pauses, heard = _server(), ScriptedPauses(), HeardEvents()
    manager = managed({"s": server}, pause=pauses, listeners=[heard], chance=lambda: 0.0)
    await manager.start(registry)
    held = registry.snapshot().tools
    with caplog.at_level(logging.WARNING):
        server.hang_up()
        assert await pauses.begins() == pytest.approx(0.5, abs=0.1)
        (status,) = manager.statuses
        assert (status.state, status.tries, status.circuit) == (
            ServerState.RECONNECTING,
            1,
            Circuit.CLOSED,
        )
        assert status.next_try == pytest.approx(0.5, abs=0.4)
        assert manager.failed == {"s": "the server ended"}
        outcome = await run_tool(registry, T)
        assert (outcome.result.kind, outcome.fate) == (ErrorKind.NOT_CONNECTED, Fate.NOT_SENT)
        await pauses.release()
        await heard.state("reconnecting", "ready")
    assert (await run_tool(registry, T)).result.text == "{}"
    assert [len(server.heard(m)) for m in ("initialize", "tools/list", "tools/call")] == [2, 2, 1]
    assert registry.snapshot().tools == held
    (status,) = manager.statuses
    assert (status.state, status.tries, status.generation) == (ServerState.READY, 0, 2)
    assert "MCP server s: the server ended; trying again in 0.5 s" in caplog.text
    assert "MCP server s: it is there again" in caplog.text


@pytest.mark.req("S3-17")
@pytest.mark.req("B-06")
async def test_tools_are_listed_and_compared_before_the_first_call(
    managed: MakeManager, registry: Registry, run_tool: RunTool
) -> None:
    """What a server comes back with is ruled on anew; calls for what it was answer tool_changed and
    are not sent, and what is the same goes on."""
    server, pauses, heard = (
        _server(tool("t"), tool("u"), tool("v")),
        ScriptedPauses(),
        HeardEvents(),
    )
    manager = managed({"s": server}, pause=pauses, listeners=[heard])
    await manager.start(registry)
    before = registry.snapshot()
    other = {"tools": [tool("t", "Does another thing."), tool("v"), tool("w")]}
    server.on("tools/list", Answer(result=other))
    server.hang_up()
    await pauses.release()
    await heard.state("reconnecting", "ready")
    changed = await run_tool(before, T)
    assert (changed.result.kind, changed.result.reason) == (ErrorKind.TOOL_CHANGED, "changed")
    gone = await run_tool(before, "mcp__s__u")
    assert (gone.result.kind, gone.result.reason) == (ErrorKind.TOOL_CHANGED, "gone")
    assert {changed.fate, gone.fate} == {Fate.NOT_SENT}
    assert server.heard("tools/call") == []
    assert not (await run_tool(before, "mcp__s__v")).result.is_error
    assert not (await run_tool(registry, T)).result.is_error
    now = registry.snapshot()
    assert set(now.entries) == {T, "mcp__s__v", "mcp__s__w"}
    assert now.get("mcp__s__v") is before.get("mcp__s__v")
    assert heard.changes == [{"added": ["mcp__s__w"], "removed": ["mcp__s__u"], "changed": [T]}]


@pytest.mark.req("S3-17")
async def test_a_server_that_does_not_come_back_opens_the_circuit(
    managed: MakeManager, registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """Waits grow, then it is left alone and told about, louder if it is required; one try at a time
    after that, and one that lasts closes the circuit."""
    server, pauses, clock, heard = _server(), ScriptedPauses(), FakeClock(), HeardEvents()
    policy = ReconnectPolicy(opens_after=3)
    options = {"pause": pauses, "chance": lambda: 0.0, "clock": clock, "listeners": [heard]}
    manager = managed({"s": server}, {"s": {"required": True}}, reconnect=policy, **options)
    await manager.start(registry)
    clock.advance(100)
    server.on("initialize", BROKEN)
    server.hang_up()
    for _ in range(4):
        await pauses.release()
    await pauses.begins()
    assert pauses.seconds == [0.5, 1.0, 60.0, 120.0, 240.0]
    (status,) = manager.statuses
    assert (status.circuit, status.tries, status.next_try) == (Circuit.OPEN, 5, 240.0)
    assert status.reason is not None
    assert "broken" in status.reason
    errors = [r.getMessage() for r in caplog.records if r.levelno == logging.ERROR]
    assert errors[0].startswith("required MCP server s does not come back: ")
    server.on("initialize", Answer())
    await pauses.release()
    await heard.state(*["reconnecting"] * 5, "ready")
    assert manager.statuses[0].circuit is Circuit.HALF_OPEN
    server.hang_up()
    await pauses.begins()
    assert pauses.seconds[-1] == 480.0
    await pauses.release()
    await heard.state(*["reconnecting"] * 5, "ready", "reconnecting", "ready")
    clock.advance(policy.stable_after)
    server.hang_up()
    await pauses.begins()
    assert (pauses.seconds[-1], manager.statuses[0].circuit) == (0.5, Circuit.CLOSED)


async def test_a_server_that_failed_to_start_does_not_come_back_by_itself(
    managed: MakeManager, registry: Registry
) -> None:
    """S3-09: late successes are not used; somebody has to ask for it."""
    pauses, before = ScriptedPauses(), Belongings.now()
    manager = managed({"s": _server().on("initialize", BROKEN)}, pause=pauses)
    await manager.start(registry)
    assert manager.statuses[0].state is ServerState.FAILED
    assert await left_since(before) == ()
    assert pauses.seconds == []


async def test_without_a_policy_what_is_lost_stays_lost(
    managed: MakeManager, registry: Registry, run_tool: RunTool
) -> None:
    """And can be asked for."""
    server, heard = _server(), HeardEvents()
    manager = managed({"s": server}, reconnect=None, listeners=[heard])
    await manager.start(registry)
    server.hang_up()
    await heard.state("failed")
    assert (await run_tool(registry, T)).result.kind is ErrorKind.NOT_CONNECTED
    (status,) = await manager.reconnect()
    assert (status.state, status.generation) == (ServerState.READY, 2)
    assert not (await run_tool(registry, T)).result.is_error
    (status,) = await manager.reconnect(failed_only=False)
    assert (status.state, status.generation) == (ServerState.READY, 3)


async def test_asking_for_a_server_cuts_its_wait_short(
    managed: MakeManager, registry: Registry
) -> None:
    """Also one of the open circuit, whose failures count no more."""
    server, pauses = _server(), ScriptedPauses()
    policy = ReconnectPolicy(opens_after=1)
    manager = managed({"s": server, "other": _server()}, pause=pauses, reconnect=policy)
    await manager.start(registry)
    server.hang_up()
    await pauses.begins()
    assert manager.statuses[0].circuit is Circuit.OPEN
    statuses = await manager.reconnect()
    assert [status.state for status in statuses] == [ServerState.READY] * 2
    assert [status.generation for status in statuses] == [2, 1]
    assert statuses[0].circuit is Circuit.CLOSED


async def test_asking_for_a_server_tells_that_it_is_still_not_there(
    managed: MakeManager, registry: Registry
) -> None:
    """The outcome of one try, not of all that follow."""
    server, pauses = _server(), ScriptedPauses()
    manager = managed({"s": server}, pause=pauses)
    await manager.start(registry)
    server.on("initialize", BROKEN)
    server.hang_up()
    await pauses.begins()
    (status,) = await manager.reconnect("s")
    assert (status.state, status.tries) == (ServerState.RECONNECTING, 1)
    assert "broken" in (status.brief or "")


async def test_a_server_that_never_started_can_be_asked_for(
    managed: MakeManager, registry: Registry, run_tool: RunTool
) -> None:
    """Its tools are registered then; as long as it fails, it is told why."""
    server = _server().on("initialize", FOREIGN)
    manager = managed({"s": server, "other": _server(tool("x"), name="other")})
    await manager.start(registry)
    (status,) = await manager.reconnect("s")
    assert status.state is ServerState.FAILED
    assert "2099-01-01" in (status.brief or "")
    server.on("initialize", Answer())
    (status,) = await manager.reconnect("s")
    assert (status.state, status.tools) == (ServerState.READY, (T,))
    assert not (await run_tool(registry, T)).result.is_error


async def test_one_that_is_there_is_connected_anew_only_if_that_is_wanted(
    managed: MakeManager, registry: Registry, run_tool: RunTool
) -> None:
    """What is under way on it ends with an unknown fate."""
    server = _server().on("tools/call")
    manager = managed({"s": server})
    await manager.start(registry)
    (status,) = await manager.reconnect("s")
    assert (status.generation, server.connections) == (1, 1)
    under_way = asyncio.create_task(run_tool(registry, T))
    await server.hears("tools/call")
    (status,) = await manager.reconnect("s", failed_only=False)
    assert (status.state, status.generation) == (ServerState.READY, 2)
    assert (await under_way).fate is Fate.UNKNOWN
    assert len(server.heard("tools/call")) == 1


async def test_reconnect_is_refused_where_it_makes_no_sense(
    managed: MakeManager, registry: Registry
) -> None:
    """A name that is none; before the start; after closing."""
    manager = managed({"s": _server()})
    with pytest.raises(LocalError, match="while their manager is started"):
        await manager.reconnect()
    await manager.start(registry)
    with pytest.raises(LocalError, match="no server is called 'x'; there is s"):
        await manager.reconnect("x")
    await manager.close()
    with pytest.raises(LocalError, match="while their manager is started"):
        await manager.reconnect()


@pytest.mark.parametrize("stage", ["waiting", "initialize", "tools/list"])
async def test_closing_ends_a_reconnect_at_once(
    managed: MakeManager, registry: Registry, stage: str
) -> None:
    """While it waits, while it is agreed with, while its tools are listed: nothing is left, and
    nobody is told anything after."""
    before = Belongings.now()
    server, pauses, heard = _server(), ScriptedPauses(), HeardEvents()
    manager = managed({"s": server}, pause=pauses, listeners=[heard])
    await manager.start(registry)
    if stage != "waiting":
        server.on(stage)
    server.hang_up()
    await pauses.begins()
    if stage != "waiting":
        await pauses.release()
        await server.hears(stage, 2)
    async with asyncio.timeout(2):
        await manager.close()
    assert manager.statuses[0].state is ServerState.CLOSED
    assert heard.states == ["reconnecting"]
    assert registry.snapshot().tools == ()
    assert await left_since(before) == ()


async def test_a_try_that_hangs_is_bounded(managed: MakeManager, registry: Registry) -> None:
    """By what starting all servers may take: then it is closed, and the next try is waited for."""
    server, pauses = _server(), ScriptedPauses()
    manager = managed({"s": server}, bound=0.3, pause=pauses)
    await manager.start(registry)
    server.on("initialize")
    server.hang_up()
    await pauses.release()
    await pauses.begins()
    (status,) = manager.statuses
    assert (status.state, status.tries) == (ServerState.RECONNECTING, 2)
    assert status.reason == "timeout: it was not connected again within 0.3 s"


async def test_a_server_can_not_pretend_to_be_the_host(
    managed: MakeManager, registry: Registry
) -> None:
    """What it sends under a name of the host's is dropped."""
    server, heard = _server(), HeardEvents()
    manager = managed({"s": server}, listeners=[heard])
    await manager.start(registry)
    await server.say({"jsonrpc": "2.0", "method": SERVER_STATE, "params": {"state": "ready"}})
    await server.say({"jsonrpc": "2.0", "method": "notifications/x"})
    await heard.until(lambda: bool(heard.events))
    assert heard.methods == ["notifications/x"]


async def test_a_listener_that_fails_on_an_event_harms_nobody(
    managed: MakeManager, registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged by its type, and the next one is told."""

    def broken(server: str, method: str, params: Any) -> None:
        raise ValueError("secret")

    server, heard = _server(), HeardEvents()
    manager = managed({"s": server}, reconnect=None, listeners=[broken, heard])
    await manager.start(registry)
    server.hang_up()
    await heard.state("failed")
    assert "s: a listener failed on lockgate/server_state: ValueError" in caplog.text
    assert "secret" not in caplog.text


async def test_what_was_given_up_is_closed_before_the_next_try(
    managed: MakeManager, registry: Registry
) -> None:
    """S3-09: a start that hangs is given up at its bound; asked for, it is connected once more."""
    server = _server()
    server.on("initialize")
    manager = managed({"s": server}, bound=0.3)
    assert (await manager.start(registry)).failed == ("s",)
    server.on("initialize", Answer())
    (status,) = await manager.reconnect()
    assert (status.state, server.connections) == (ServerState.READY, 2)
