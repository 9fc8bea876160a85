"""A road over the shell tool, in a folder of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from lockgate.builtin.shell.bash import Bash
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.tools.context import Environment
from lockgate.tools.result import ToolResult

Run: TypeAlias = Callable[..., Awaitable[ToolResult]]

HOST = {"PATH": "/nowhere", "HOME": "/home/somebody", "TOKEN": "hush-hush-hush"}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Where lines run: the only file root."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def road(tmp_path: Path, work: Path) -> Generator[Road]:
    """Everybody says yes to everything."""
    (tmp_path / "state").mkdir()
    place = Environment(work, roots=(work,))
    approvers = [ScriptedApprover.always(True)]
    with Road(tmp_path / "state", [Bash(HOST)], attended=approvers, environment=place) as road:
        yield road


@pytest.fixture
def run(road: Road) -> Run:
    """Run a line, approved, and return what came of it."""

    async def made(command: str, **arguments: Any) -> ToolResult:
        timeout = arguments.pop("within", None)
        return await road.invoke(
            road.call("Bash", {"command": command, **arguments}, timeout=timeout)
        )

    return made
