"""One server of a configuration alone, for a command that needs no other."""

from __future__ import annotations

import pytest

from lockgate.app.narrowed import for_servers, for_tool
from lockgate.errors import ConfigError
from lockgate.hooks.declared.plan import DeclaredHook, ToolHandler
from lockgate.hooks.event import HookEvent
from lockgate.hooks.matching import parse_matcher
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import SPAWN_ALLOWANCE
from lockgate.mcp.host.settings import ServerSettings
from lockgate.settings.config import Config

SERVERS = tuple(
    ServerSettings(name, StdioEndpoint("x"), request_timeout=seconds)
    for name, seconds in (("a", 1.0), ("b", 100.0))
)


@pytest.mark.parametrize(
    ("tool", "names"),
    [("mcp__a__t", "a"), ("mcp__b__t__u", "b"), ("mcp__c__t", "ab"), ("t", "ab"), ("mcp__a", "ab")],
)
def test_only_a_name_that_says_its_server_narrows(tool: str, names: str) -> None:
    """Else every server is needed: for the tool, or to say which name may be meant."""
    assert "".join(s.name for s in for_tool(Config(servers=SERVERS), tool).servers) == names


def test_a_tool_of_ours_needs_no_server() -> None:
    """It is there with the configuration that names it."""
    config = Config(servers=SERVERS, builtin=("Bash",))
    assert for_tool(config, "Bash").servers == ()
    assert for_tool(config, "Read").servers == SERVERS


def test_what_the_operator_relies_on_stays() -> None:
    """B-07: a required server, and one that is to have certain tools, are still looked at."""
    more = (
        ServerSettings("c", StdioEndpoint("x"), required=True),
        ServerSettings("d", StdioEndpoint("x"), expect_tools=("t",)),
    )
    config = Config(servers=(*SERVERS, *more))
    assert [s.name for s in for_tool(config, "mcp__a__t").servers] == ["a", "c", "d"]
    assert [s.name for s in for_tool(config, "mcp__a__t", promises=False).servers] == ["a"]


def test_a_server_whose_tool_is_a_hook_about_the_call_stays() -> None:
    """Without it the hook would fail; of hooks about other calls it is not needed."""

    def hook(matcher: str | None, event: HookEvent = HookEvent.PRE_TOOL) -> Config:
        rule = None if matcher is None else parse_matcher(matcher)
        declared = DeclaredHook(event, ToolHandler("b", "check"), "check", rule)
        return Config(servers=SERVERS, hooks=(declared,), builtin=("Read",))

    for config, tool, expected in (
        (hook(None), "mcp__a__t", ["a", "b"]),
        (hook("mcp__a__*"), "mcp__a__t", ["a", "b"]),
        (hook("mcp__c__*"), "mcp__a__t", ["a"]),
        (hook("Read"), "mcp__a__t", ["a"]),
        (hook("Read"), "Read", ["b"]),
        (hook(None, HookEvent.SESSION_START), "mcp__a__t", ["a"]),
    ):
        assert [s.name for s in for_tool(config, tool).servers] == expected


def test_a_budget_for_all_is_none_for_one() -> None:
    """What was under the bound of the slowest can be above the bound of another."""
    config = Config(servers=SERVERS, startup_budget=50.0)
    assert SPAWN_ALLOWANCE + 1 < 50
    assert for_tool(config, "mcp__a__t").startup_budget is None
    assert for_tool(config, "mcp__b__t").startup_budget == 50


def test_servers_are_picked_by_name_and_none_but_configured_ones() -> None:
    """A slip is an error with the nearest name, and starts nothing."""
    config = Config(servers=SERVERS, startup_budget=100.0)
    one = for_servers(config, ["a"])
    assert [s.name for s in one.servers] == ["a"]
    assert one.startup_budget is None
    assert for_servers(config, []).servers == ()
    with pytest.raises(ConfigError, match='no server called "c" is configured'):
        for_servers(config, ["a", "c"])
