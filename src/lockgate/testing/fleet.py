"""Servers as real processes behind one manager, for tests of what a program would see of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from lockgate.mcp.endpoint import HttpEndpoint, SseEndpoint, StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.host.status import StartReport
from lockgate.mcp.transport.base import Transport
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.mcp.transport.tokens import TokenSource
from lockgate.process.child import Grace
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.received import ServerLedger
from lockgate.testing.road import Road
from lockgate.testing.script import ScriptedServer
from lockgate.tools.result import ToolResult


class Fleet:
    """Add servers, start them, call their tools. On the way out nothing may be left of them.

    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("a", ScriptedServer())
        report = await fleet.start()
        result = await fleet.call("mcp__a__echo", x=1)
        assert ledger.called == ("echo",)

    Calls take the whole road; every question is answered yes.
    """

    def __init__(
        self,
        directory: Path,
        *,
        grace: Grace | None = None,
        rules: RuleSet | None = None,
        approver: ScriptedApprover | None = None,
        tokens: Mapping[str, TokenSource] | None = None,
    ) -> None:
        """`directory` is for scripts and ledgers; `grace` for closing, by default short; `rules`
        hold for every call; `approver` answers, by default with yes. `tokens` are the credentials
        of servers over HTTP, by name."""
        self.approver = approver or ScriptedApprover.always(True, times=100_000)
        """Who says yes, and knows what was asked."""
        self.road = Road(directory, attended=[self.approver], rules=rules)
        self.registry = self.road.registry
        self.manager: Manager | None = None
        self._directory = directory
        self._grace = grace or Grace(0.3, 0.3)
        self._settings: list[ServerSettings] = []
        self._tokens = tokens or {}
        self._before: Belongings | None = None

    def add(
        self, name: str, server: ScriptedServer | StdioEndpoint | HttpEndpoint, **settings: Any
    ) -> ServerLedger:
        """Configure a server; `settings` are fields of `ServerSettings`."""
        ledger = self._directory / f"{name}.ledger"
        if isinstance(server, ScriptedServer):
            recorded = replace(server, ledger=ledger)
            server = recorded.endpoint(file=self._directory / f"{name}.script")
        settings.setdefault("request_timeout", 10.0)
        self._settings.append(ServerSettings(name, server, **settings))
        return ServerLedger(ledger)

    async def start(self, **options: Any) -> StartReport:
        """Start them all; `options` are those of `Manager`."""
        self.manager = Manager(self._settings, connect=self._transport, **options)
        return await self.manager.start(self.registry)

    @property
    def tools(self) -> tuple[str, ...]:
        """The registered names."""
        return tuple(tool.name for tool in self.registry.snapshot().tools)

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        """Make one call."""
        return await self.road.invoke(self.road.call(tool, arguments))

    def _transport(self, settings: ServerSettings) -> Transport:
        endpoint = settings.endpoint
        if isinstance(endpoint, SseEndpoint):
            opening = settings.request_timeout
            return LegacySseTransport(endpoint, peer=settings.name, environ={}, opening=opening)
        if isinstance(endpoint, HttpEndpoint):
            tokens = self._tokens.get(settings.name)
            return StreamableHttpTransport(endpoint, peer=settings.name, environ={}, tokens=tokens)
        return StdioTransport(
            endpoint, peer=settings.name, environ=dict(os.environ), grace=self._grace
        )

    async def __aenter__(self) -> Fleet:
        self._before = Belongings.now()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.manager is not None:
            async with asyncio.timeout(20):
                await self.manager.close()
        self.road.close()
        if error is None and self._before is not None:
            left = await left_since(self._before)
            if left:
                raise AssertionError(f"the servers are closed, and there are still {left}")
