"""A source of resources that gives what a test puts in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lockgate.builtin.declaration import BuiltinTool
from lockgate.builtin.resources.source import Contents, OfferedResource, OfferedResources
from lockgate.content import Content
from lockgate.errors import PeerError
from lockgate.policy.ceiling import whole
from lockgate.tools.context import Environment, Execution, ToolContext
from lockgate.tools.permit import Permit
from lockgate.tools.result import Outcome
from lockgate.traits import SideEffectLevel

Run = Callable[..., Awaitable[Outcome]]


class ScriptedSource:
    """Two servers; what they have, and what it comes to."""

    def __init__(self) -> None:
        self.servers: tuple[str, ...] = ("docs", "files")
        self.listed: list[OfferedResource] = []
        self.failed: Mapping[str, str] = {}
        self.blocks: tuple[Content, ...] = ()
        self.remarks: tuple[str, ...] = ()
        self.error: PeerError | None = None
        self.asked: list[Any] = []

    async def offered(self, server: str | None) -> OfferedResources:
        self.asked.append(server)
        chosen = [one for one in self.listed if server in (None, one.server)]
        return OfferedResources(tuple(chosen), self.failed)

    async def read(
        self, server: str, uri: str, *, timeout: float | None, context: ToolContext
    ) -> Contents:
        self.asked.append((server, uri, timeout, context.execution.attended, context.call_id))
        if self.error is not None:
            raise self.error
        return Contents(self.blocks, self.remarks)


@pytest.fixture
def source() -> ScriptedSource:
    """An empty one."""
    return ScriptedSource()


@pytest.fixture
def run() -> Run:
    """`await run(tool, deadline=None, **arguments)`: the tool itself, on no road."""

    async def run_tool(
        tool: BuiltinTool, *, deadline: float | None = None, **arguments: Any
    ) -> Outcome:
        execution = Execution(
            id="execution",
            entry="test",
            bounds=whole(SideEffectLevel.MUTATING),
            attended=True,
            environment=Environment(Path("/")),
        )
        context = ToolContext(execution, "call", deadline=deadline)
        return await tool.execute(arguments, Permit(context))

    return run_tool
