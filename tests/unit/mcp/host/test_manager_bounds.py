"""How long a start may take: one bound for all, and what comes too late (S3-08, S3-09, S3-20)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lockgate.errors import ConfigError, Fault
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import SPAWN_ALLOWANCE, Manager
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.host.status import ServerState
from lockgate.mcp.transport.base import Transport
from lockgate.testing.script import LEGACY, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Do, Message
from lockgate.tools.registry import Registry

MakeManager = Callable[..., Manager]


def _legacy(*rules: When, tools: tuple[Any, ...] = ()) -> ScriptedServer:
    return ScriptedServer(tools, rules=rules, revisions=LEGACY)


def _names(registry: Registry) -> list[str]:
    return [tool.name for tool in registry.snapshot().tools]


def _settings(name: str, timeout: float = 30.0) -> ServerSettings:
    return ServerSettings(name, StdioEndpoint("x"), request_timeout=timeout)


def _never(settings: ServerSettings) -> Transport:
    raise AssertionError("nothing may be reached")


@pytest.mark.req("S3-08")
async def test_the_bound_is_for_all_and_only_the_late_are_given_up(
    managed: MakeManager, registry: Registry
) -> None:
    """PB-033: one that hangs is given up at the bound, named, with the word timeout and its time;
    the others are registered, and waiting is the bound, not a sum."""
    servers = {
        "hangs": _legacy(When("initialize")),
        "hangs-too": _legacy(When("tools/list")),
        "good": _legacy(tools=(tool("ok"),)),
    }
    loop = asyncio.get_running_loop()
    begun = loop.time()
    report = await managed(servers, bound=0.2).start(registry)
    assert loop.time() - begun < 2
    assert _names(registry) == ["mcp__good__ok"]
    assert report.failed == ("hangs", "hangs-too")
    for name in report.failed:
        assert report.errors[name].startswith("timeout: it was not ready within 0.2 s")
        assert "(after 0." in report.errors[name]
    assert report.servers[0].fault is Fault.TIMEOUT


@pytest.mark.req("S3-09")
async def test_late_success_is_closed_and_never_registered(
    managed: MakeManager, registry: Registry
) -> None:
    """PB-036a: a server that answers after it was given up is closed; nothing of it is used."""
    gate = asyncio.Event()

    async def late(message: Message) -> None:
        await gate.wait()

    server = _legacy(When("tools/list", Do(late), Answer()), tools=(tool("late"),))
    manager = managed({"late": server}, bound=0.1)
    report = await manager.start(registry)
    assert report.failed == ("late",)
    gate.set()
    await manager.close()
    assert _names(registry) == []
    (status,) = manager.statuses
    assert (status.state, status.fault) == (ServerState.FAILED, Fault.TIMEOUT)


@pytest.mark.req("S3-08")
async def test_servers_start_side_by_side(managed: MakeManager, registry: Registry) -> None:
    """Each waits until all have been reached: in a row none would ever be ready."""
    reached = 0
    all_reached = asyncio.Event()

    async def together(message: Message) -> None:
        nonlocal reached
        reached += 1
        if reached == 22:
            all_reached.set()
        await all_reached.wait()

    rule = When("server/discover", Do(together), Answer())
    servers = {f"s{n}": _legacy(rule, tools=(tool("t"),)) for n in range(22)}
    report = await managed(servers, probe_patience=5).start(registry)
    assert report.failed == ()
    assert len(_names(registry)) == 22


@pytest.mark.req("S3-08")
@pytest.mark.req("S3-20")
@pytest.mark.parametrize("budget", [0.0, -1.0, 75.5, float("nan")])
def test_a_budget_out_of_range_is_refused(budget: float) -> None:
    """Above the bound, longest request timeout plus the allowance, it is an error, not clamped."""
    assert SPAWN_ALLOWANCE == 30
    servers = [_settings("a", 10), _settings("b", 45)]
    with pytest.raises(ConfigError, match=r"at most 75 s") as caught:
        Manager(servers, connect=_never, startup_budget=budget)
    assert caught.value.problems[0].path == "mcp.startupBudget"


@pytest.mark.req("S3-20")
async def test_a_lower_budget_counts(managed: MakeManager, registry: Registry) -> None:
    """The operator's budget takes the place of the bound."""
    server = _legacy(When("initialize"))
    report = await managed({"hangs": server}, startup_budget=0.1).start(registry)
    assert "within 0.1 s" in report.errors["hangs"]


@pytest.mark.req("S3-21")
async def test_the_servers_own_timeout_counts_before_the_bound(
    managed: MakeManager, registry: Registry
) -> None:
    """PB-033: the configured budget is honoured per server, and the reason says timeout."""
    server = _legacy(When("initialize"))
    settings = {"slow": {"request_timeout": 0.05}}
    report = await managed({"slow": server}, settings, bound=5).start(registry)
    assert "within 0.05 s (timeout)" in report.errors["slow"]
