"""Starting many servers: together, each on its own (S3-10, S3-11, B-07)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from lockgate.errors import ConfigError, LocalError
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.host.status import ServerState
from lockgate.mcp.transport.base import Transport
from lockgate.testing.clock import FakeClock
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Do, Message
from lockgate.tools.registry import Registry

MakeManager = Callable[..., Manager]

BROKEN = Answer(error={"code": -32603, "message": "broken"})
NOT_FOUND = Answer(error={"code": -32601, "message": "Method not found"})
ONE_TOOL = (tool("t"),)


def _legacy(*rules: When, tools: tuple[Any, ...] = ()) -> ScriptedServer:
    return ScriptedServer(tools, rules=rules, revisions=LEGACY)


def _names(registry: Registry) -> list[str]:
    return [tool.name for tool in registry.snapshot().tools]


async def test_every_server_starts_and_its_tools_are_registered_in_the_order_written(
    managed: MakeManager, registry: Registry
) -> None:
    """Both eras side by side (B-08); the order of the configuration, not of who was quicker."""

    async def turns(message: Message) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    slow = When("server/discover", Do(turns), Answer())
    servers = {
        "slow": _legacy(slow, tools=(tool("b"), tool("a"))),
        "new": ScriptedServer((tool("x"),), revisions=MODERN, name="News", version="7"),
        "old": ScriptedServer((tool("x"),), revisions=LEGACY[-1:]),
    }
    manager = managed(servers)
    report = await manager.start(registry)
    assert _names(registry) == ["mcp__slow__b", "mcp__slow__a", "mcp__new__x", "mcp__old__x"]
    assert (report.failed, report.errors) == ((), {})
    assert (report.unreachable, report.missing) == ((), ())
    _, new, old = report.servers
    assert (new.era, new.revision, new.server) == ("modern", "2026-07-28", "News 7")
    assert (old.era, old.revision, old.tools) == ("legacy", "2024-11-05", ("mcp__old__x",))
    assert [status.state for status in manager.statuses] == [ServerState.READY] * 3
    assert repr(manager) == "<Manager slow ready, new ready, old ready>"


@pytest.mark.req("S3-10")
async def test_one_servers_failure_never_takes_down_the_others(
    managed: MakeManager, registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """PB-032: start, initialise and list each fail somewhere; the rest is registered, and every
    failure is returned with its reason."""
    foreign = Answer(result={"protocolVersion": "2099-01-01"})
    servers = {
        "quits": _legacy(When("initialize", BROKEN)),
        "foreign": _legacy(When("initialize", foreign)),
        "unlisted": _legacy(When("tools/list", BROKEN)),
        "garbled": _legacy(When("tools/list", Answer(result={"tools": "none"}))),
        "good": _legacy(tools=(tool("ok"),)),
    }
    with caplog.at_level(logging.INFO):
        report = await managed(servers).start(registry)
    assert _names(registry) == ["mcp__good__ok"]
    assert report.failed == ("quits", "foreign", "unlisted", "garbled")
    assert "broken" in report.errors["quits"]
    assert "2099-01-01" in report.errors["foreign"]
    assert "broken" in report.errors["unlisted"]
    assert "a string as its tools" in report.errors["garbled"]
    for name in report.failed:
        assert f"MCP server {name}: " in caplog.text


def _settings(name: str, timeout: float = 30.0) -> ServerSettings:
    return ServerSettings(name, StdioEndpoint("x"), request_timeout=timeout)


def _never(settings: ServerSettings) -> Transport:
    raise AssertionError("nothing may be reached")


@pytest.mark.req("S3-11")
def test_a_name_twice_is_refused_before_anything_is_started() -> None:
    """All names that come twice, each once, in one error."""
    names = ("a", "b", "a", "c", "b", "a")
    with pytest.raises(ConfigError) as caught:
        Manager([_settings(name) for name in names], connect=_never)
    assert [p.message for p in caught.value.problems] == [
        "the server name 'a' is used more than once",
        "the server name 'b' is used more than once",
    ]


@pytest.mark.req("S3-11")
@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a-", "a.b", "a b", "한글", "a\n"])
def test_a_bad_server_name_can_not_be_constructed(name: str) -> None:
    """Checked where the value is made."""
    with pytest.raises(ValueError, match="does not match"):
        _settings(name)


@pytest.mark.req("B-07")
async def test_required_and_expected_are_told_with_what_is_wrong(
    managed: MakeManager, registry: Registry
) -> None:
    """A missing required server and missing expected tools, all at once, each in a sentence."""
    foreign = When("initialize", Answer(result={"protocolVersion": "2099-01-01"}))
    servers = {
        "down": _legacy(foreign),
        "optional": _legacy(foreign),
        "files": _legacy(tools=(tool("read"), tool("bad", inputSchema=[]))),
    }
    settings = {
        "down": {"required": True, "expect_tools": ("x",)},
        "optional": {"expect_tools": ("y",)},
        "files": {"expect_tools": ("read", "write", "bad")},
    }
    report = await managed(servers, settings).start(registry)
    assert len(report.unreachable) == 1
    assert report.unreachable[0].startswith("required server down did not start: down speaks")
    assert report.missing == (
        "server files: the expected tool 'write' is not listed by it",
        "server files: the expected tool 'bad' was left out: its inputSchema is an array, not an "
        "object",
    )
    assert _names(registry) == ["mcp__files__read"]


async def test_a_server_without_tools_is_ready(managed: MakeManager, registry: Registry) -> None:
    """PB-047: no tools capability and no such method is no failure; with the capability it is."""
    info: dict[str, Any] = {"protocolVersion": "2025-11-25", "serverInfo": {}}

    def without_list(**capabilities: Any) -> LoopServer:
        result = {**info, "capabilities": capabilities}
        rules = (When("initialize", Answer(result=result)), When("tools/list", NOT_FOUND))
        return LoopServer(_legacy(*rules))

    servers = {"none": without_list(prompts={}), "lies": without_list(tools={})}
    report = await managed(servers).start(registry)
    assert report.failed == ("lies",)
    assert report.servers[0].remarks == ("it has no tools",)
    asked = {message.get("method") for message in servers["none"].received}
    assert asked.isdisjoint({"prompts/list", "resources/list", "resources/templates/list"})


async def test_a_lost_server_is_told_and_its_tools_stay(
    managed: MakeManager, registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """What is registered stays registered and answers not_connected; the status says why."""
    server = LoopServer(_legacy(tools=ONE_TOOL))
    manager = managed({"lost": server, "other": _legacy(tools=ONE_TOOL)})
    await manager.start(registry)
    with caplog.at_level(logging.WARNING):
        server.hang_up()
        async with asyncio.timeout(2):
            while manager.statuses[0].state is ServerState.READY:  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0)
    assert manager.failed == {"lost": "the server ended"}
    assert manager.statuses[1].state is ServerState.READY
    assert _names(registry) == ["mcp__lost__t", "mcp__other__t"]
    assert "MCP server lost: the server ended" in caplog.text


async def test_timings_come_from_the_clock(managed: MakeManager, registry: Registry) -> None:
    """How long a server took to connect, and until it was ready, in the seconds of the clock."""
    clock = FakeClock()

    async def two_seconds(message: Message) -> None:
        clock.advance(2)

    async def half_a_second(message: Message) -> None:
        clock.advance(0.5)

    server = _legacy(
        When("initialize", Do(two_seconds), Answer()),
        When("tools/list", Do(half_a_second), Answer()),
    )
    manager = managed({"s": server}, clock=clock)
    (status,) = (await manager.start(registry)).servers
    assert (status.seconds_to_connect, status.seconds) == (2.0, 2.5)
    clock.advance(100)
    assert manager.statuses[0].seconds == 2.5


@pytest.mark.parametrize("reads", range(6))
async def test_a_clock_that_fails_holds_no_start_up(
    managed: MakeManager, registry: Registry, reads: int
) -> None:
    """Whenever a program's clock begins to raise: it is known at once what came of the server."""
    left = reads

    def clock() -> float:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError("no clock")
        return 1.0

    manager = managed({"s": _legacy(tools=ONE_TOOL)}, clock=clock)
    async with asyncio.timeout(5):
        (status,) = (await manager.start(registry)).servers
    if status.state is not ServerState.READY:
        assert (status.state, status.brief) == (ServerState.FAILED, "internal: OSError")


async def test_notifications_of_every_server_reach_the_listeners(
    managed: MakeManager, registry: Registry
) -> None:
    """Each with the configured name of its server."""
    heard: list[tuple[str, str, Any]] = []

    def listen(server: str, method: str, params: Any) -> None:
        heard.append((server, method, params))

    servers = {"a": LoopServer(_legacy()), "b": LoopServer(_legacy())}
    manager = managed(servers, listeners=[listen])
    await manager.start(registry)
    for name, server in servers.items():
        await server.say({"jsonrpc": "2.0", "method": "notifications/x", "params": {"n": name}})
    await manager.close()
    assert sorted(heard) == [(n, "notifications/x", {"n": n}) for n in ("a", "b")]


async def test_a_manager_is_started_once(managed: MakeManager, registry: Registry) -> None:
    """Twice, or after closing, is a mistake that says what to do."""
    manager = managed({"a": _legacy()})
    await manager.start(registry)
    with pytest.raises(LocalError, match="make a new one"):
        await manager.start(registry)
    closed = managed({"a": _legacy()})
    await closed.close()
    with pytest.raises(LocalError, match="make a new one"):
        await closed.start(registry)


async def test_an_own_defect_is_one_servers_failure(
    managed: MakeManager, registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """An exception of ours while one server starts is logged, and the others do not notice."""

    class Defect:
        def describe(self) -> str:
            return "defect"

        def open(self, receiver: Any) -> Any:
            raise TypeError("secret")

    report = await managed({"bad": Defect(), "good": _legacy(tools=ONE_TOOL)}).start(registry)
    assert report.failed == ("bad",)
    assert "the transport failed: TypeError" in report.errors["bad"]
    assert _names(registry) == ["mcp__good__t"]
    assert "the transport failed" in caplog.text
