"""Fixtures of the scenarios: a project of its own for each test, and a terminal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from lockgate.testing.login_bench import LoginBench
from lockgate.testing.project import Project
from lockgate.testing.terminal import AtTerminal, StartAtTerminal


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project."""
    return Project(tmp_path)


@pytest.fixture
async def bench(project: Project) -> AsyncIterator[LoginBench]:
    """The project with a server in it that people log in to."""
    async with LoginBench(project) as found:
        yield found


@pytest.fixture
def start(project: Project) -> Iterator[StartAtTerminal]:
    """`start(*words)` starts `lockgate` on a terminal; it is ended with the test."""
    started: list[AtTerminal] = []

    def begin(*words: str) -> AtTerminal:
        started.append(AtTerminal(project, *words))
        return started[-1]

    yield begin
    for each in started:
        each.close()
