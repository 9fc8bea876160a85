"""Managers over scripted servers in this event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.transport.base import Transport
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import ScriptedServer
from lockgate.tools.context import Bounds, Environment, Execution, ToolContext
from lockgate.tools.permit import Permit
from lockgate.tools.registry import Registry, Snapshot
from lockgate.tools.result import Outcome
from lockgate.traits import SideEffectLevel

Servers: TypeAlias = Mapping[str, ScriptedServer | LoopServer | Transport]
MakeManager: TypeAlias = Callable[..., Manager]
RunTool: TypeAlias = Callable[..., Coroutine[Any, Any, Outcome]]


@pytest.fixture
def registry() -> Registry:
    """An empty registry."""
    return Registry()


@pytest.fixture
async def managed() -> AsyncGenerator[MakeManager, None]:
    """`managed({"a": server}, {"a": {...settings}}, **options of Manager)`; closed afterwards."""
    made: list[Manager] = []

    def make(
        servers: Servers, settings: Mapping[str, Mapping[str, Any]] | None = None, **options: Any
    ) -> Manager:
        def transport(of: ServerSettings) -> Transport:
            server = servers[of.name]
            if isinstance(server, ScriptedServer):
                server = LoopServer(server)
            if isinstance(server, LoopServer):
                return server.transport(peer=of.name, grace=0.1)
            return server

        entries: list[ServerSettings] = []
        for name in servers:
            fields: dict[str, Any] = {"request_timeout": 5.0, **(settings or {}).get(name, {})}
            entries.append(ServerSettings(name, StdioEndpoint("fake"), **fields))
        quick: dict[str, Any] = {"probe_patience": 0.5, **options}
        manager = Manager(entries, connect=transport, **quick)
        made.append(manager)
        return manager

    yield make
    for manager in made:
        await manager.close()


@pytest.fixture
def run_tool() -> RunTool:
    """`await run_tool(registry or snapshot, name, **arguments)`: the tool itself, on no road."""

    async def run(where: Registry | Snapshot, name: str, **arguments: Any) -> Outcome:
        entry = (where.snapshot() if isinstance(where, Registry) else where).get(name)
        assert entry is not None
        bounds = Bounds(SideEffectLevel.MUTATING, None)
        execution = Execution("e", "test", bounds, False, Environment(Path()))
        return await entry.tool.execute(arguments, Permit(ToolContext(execution, "call")))

    return run
