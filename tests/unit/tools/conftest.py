"""An execution and a context for tools that are run without the road."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lockgate.policy.ceiling import whole
from lockgate.tools.context import Environment, Execution, ToolContext
from lockgate.traits import SideEffectLevel


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ToolContext]:
    """A context with a pool of two threads."""
    with ThreadPoolExecutor(2) as pool:
        execution = Execution(
            "e1",
            "api",
            whole(SideEffectLevel.MUTATING),
            attended=False,
            environment=Environment(tmp_path, threads=pool),
        )
        yield ToolContext(execution, "c1")
