"""A configuration with the servers alone that a command needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from lockgate.errors import ConfigError, Problem
from lockgate.hooks.declared.plan import ToolHandler
from lockgate.mcp.host.manager import SPAWN_ALLOWANCE
from lockgate.mcp.host.settings import ServerSettings
from lockgate.settings.config import Config
from lockgate.settings.findings import spelling_hint
from lockgate.showing import quoted
from lockgate.tools.naming import server_of

OVER_SERVERS: Final = frozenset({"ListResources", "ReadResource"})
"""Tools of ours that are about servers, and need them."""


def for_tool(config: Config, tool: str, *, promises: bool = True) -> Config:
    """`config` with the server whose tool is called `tool`, without any for a tool of ours that
    needs none, and unchanged if the name says neither.

    With `promises` those stay too that the operator relies on: required ones, ones that are to have
    certain tools (B-07), and ones whose tools are hooks about such a call. A `startupBudget` above
    the bound of what is left gives way to it.
    """
    wanted = server_of(tool)
    if tool in OVER_SERVERS:
        return config
    if wanted not in {server.name for server in config.servers} and tool not in config.builtin:
        return config
    hooked = _called_by_hooks(config, wanted)
    return _with(
        config,
        (
            server
            for server in config.servers
            if server.name == wanted
            or (promises and (server.required or server.expect_tools or server.name in hooked))
        ),
    )


def _called_by_hooks(config: Config, wanted: str | None) -> frozenset[str]:
    """The servers that hooks about calls to `wanted` (None: to tools of ours) would call."""
    return frozenset(
        hook.handler.server
        for hook in config.hooks
        if isinstance(hook.handler, ToolHandler)
        and hook.event.is_about_a_call
        and (hook.matcher is None or hook.matcher.server == wanted)
    )


def for_servers(config: Config, names: Collection[str]) -> Config:
    """`config` with the servers of these names alone. Raises `ConfigError` for one it has not."""
    configured = [server.name for server in config.servers]
    for name in names:
        if name not in configured:
            hint = spelling_hint(name, configured, what="configured") if configured else None
            raise ConfigError(Problem(f"no server called {quoted(name)} is configured", hint=hint))
    return _with(config, (server for server in config.servers if server.name in names))


def _with(config: Config, chosen: Iterable[ServerSettings]) -> Config:
    servers = tuple(chosen)
    longest = max((server.request_timeout for server in servers), default=0.0)
    bound = longest + SPAWN_ALLOWANCE
    budget = config.startup_budget
    if budget is not None and budget > bound:
        budget = None
    return replace(config, servers=servers, startup_budget=budget)
