"""A project directory and a person's home, and shortcuts to load a text from there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.errors import ConfigError, Problem
from lockgate.settings.config import Config
from lockgate.settings.layers import locate
from lockgate.settings.loading import load


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment with nothing in it but a home."""
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def load_text(project: Path, environ: dict[str, str]) -> Callable[[str], Config]:
    """Loads a text as a file that was named with -c."""

    def load_it(text: str) -> Config:
        file = project / "lockgate.yaml"
        file.write_bytes(text.encode())
        return load(locate(project, environ, file), environ)

    return load_it


@pytest.fixture
def problems_of(load_text: Callable[[str], Config]) -> Callable[[str], tuple[Problem, ...]]:
    """The findings about a text; fails if it loads."""

    def problems(text: str) -> tuple[Problem, ...]:
        try:
            load_text(text)
        except ConfigError as error:
            return error.problems
        pytest.fail("the text was accepted")

    return problems
