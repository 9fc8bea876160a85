"""Links to scripted servers."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.process.child import Grace
from lockgate.testing.script import ScriptedServer

Reach: TypeAlias = Callable[..., StdioTransport]


@pytest.fixture
def stdio() -> Reach:
    """A transport to a scripted server as a process, with short grace periods."""

    def reach(server: ScriptedServer | None = None, **options: Any) -> StdioTransport:
        options = {"environ": os.environ, "grace": Grace(0.2, 0.2), **options}
        return StdioTransport((server or ScriptedServer()).endpoint(), peer="files", **options)

    return reach
