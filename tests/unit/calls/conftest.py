"""Roads over real stores, closed after the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lockgate.testing.road import Road
from lockgate.tools.context import Environment


@pytest.fixture
def make_road(tmp_path: Path) -> Iterator[Callable[..., Road]]:
    """Makes roads over one directory."""
    made: list[Road] = []

    def make(*args: Any, **kwargs: Any) -> Road:
        made.append(Road(tmp_path, *args, **kwargs))
        return made[-1]

    yield make
    for road in made:
        road.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a few directories, and things beside it."""
    root = tmp_path.resolve() / "project"
    for name in ("docs", "secret", "other"):
        (root / name).mkdir(parents=True)
    (root.parent / "state").mkdir()
    (root / "docs" / "a").write_text("a")
    (root / "secret" / "key").write_text("k")
    return root


@pytest.fixture
def environment(project: Path) -> Environment:
    """Calls made in the project, which is their only file root."""
    return Environment(
        project,
        roots=(project,),
        barred=(project.parent / "state",),
        control=(project / "my.yaml",),
        server_dirs={"files": project, "elsewhere": project / "other"},
    )
