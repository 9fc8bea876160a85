"""A configuration with the servers alone that one call needs."""

from __future__ import annotations

from dataclasses import replace

from lockgate.mcp.host.manager import SPAWN_ALLOWANCE
from lockgate.settings.config import Config
from lockgate.tools.naming import server_of


def for_tool(config: Config, tool: str, *, promises: bool = True) -> Config:
    """`config` with the server whose tool is called `tool`; unchanged if the name says none.

    With `promises` those stay too that the operator relies on: required ones, and ones that are to
    have certain tools (B-07). A `startupBudget` above the bound of what is left gives way to it.
    """
    wanted = server_of(tool)
    if wanted not in {server.name for server in config.servers}:
        return config
    servers = tuple(
        server
        for server in config.servers
        if server.name == wanted or (promises and (server.required or server.expect_tools))
    )
    bound = max(server.request_timeout for server in servers) + SPAWN_ALLOWANCE
    budget = config.startup_budget
    if budget is not None and budget > bound:
        budget = None
    return replace(config, servers=servers, startup_budget=budget)
