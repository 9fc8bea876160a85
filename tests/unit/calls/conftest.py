"""Roads over real stores, closed after the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lockgate.testing.road import Road


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
