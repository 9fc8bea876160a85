"""Roads over the tools that keep something, each in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lockgate.builtin.catalogue import in_tree
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.tools.context import Environment

KEEPING = (
    "append_note",
    "read_notes",
    "knowledge_search",
    "knowledge_add",
    "knowledge_replace",
    "knowledge_remove",
    "todo",
)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The directory of what is kept; it is not there yet."""
    return tmp_path / "kept"


@pytest.fixture
def keeping_road(tmp_path: Path, kept: Path) -> Iterator[Callable[..., Road]]:
    """Makes roads over the tools that keep something; everybody says yes unless told otherwise."""
    made: list[Road] = []
    with ThreadPoolExecutor(4) as threads:
        place = Environment(
            tmp_path, threads=threads, notes=kept / "notes.md", knowledge=kept / "knowledge.db"
        )

        def make(**options: Any) -> Road:
            state = tmp_path / f"state-{len(made)}"
            state.mkdir()
            options = {"attended": [ScriptedApprover.always(True)], **options}
            tools = in_tree(KEEPING, {}, time=lambda: 1_800_000_000.0)
            made.append(Road(state, tools, environment=place, **options))
            return made[-1]

        yield make
        for road in made:
            road.close()


@pytest.fixture
def keep(keeping_road: Callable[..., Road]) -> Callable[..., Any]:
    """`await keep(tool, **arguments)`: a call on such a road."""
    road = keeping_road()

    async def made(name: str, **arguments: Any) -> Any:
        return await road.invoke(road.call(name, arguments))

    return made


@pytest.fixture
def make_plain(tmp_path: Path) -> Callable[..., Any]:
    """`await make_plain(tools, name, arguments)`: a call where nothing can be kept."""

    async def made(tools: tuple[Any, ...], name: str, arguments: dict[str, Any]) -> Any:
        with ThreadPoolExecutor(1) as threads:
            place = Environment(tmp_path, threads=threads)
            yes = [ScriptedApprover.always(True)]
            with Road(tmp_path, tools, environment=place, attended=yes) as road:
                return await road.invoke(road.call(name, arguments))

    return made
