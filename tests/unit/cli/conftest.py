"""A project to run commands in, and a home of whoever runs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from click import Command
from click.testing import CliRunner, Result

RunCommand: TypeAlias = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project directory to work in."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A home with nothing in it."""
    home = tmp_path / "home"
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_STATE_HOME": str(home / "state"),
    }


@pytest.fixture
def run_command(folder: Path, environ: dict[str, str]) -> RunCommand:
    """`run_command(command, *words)` in that project; an error comes back in the result."""

    def run_it(command: Command, *words: str) -> Result:
        return CliRunner().invoke(command, words, env=environ)

    return run_it
