"""Where a document is run: a git repository with two commits, and a person of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A git repository with two commits, the working directory of the document."""
    place = tmp_path / "project"
    place.mkdir()
    git(place, "init", "--quiet", "--initial-branch", "main")
    git(place, "config", "user.name", "Ada")
    git(place, "config", "user.email", "ada@example.com")
    for text in ("Begin the readme", "Say what it is for"):
        (place / "readme.txt").write_text(f"{text}\n", "utf-8")
        git(place, "add", "readme.txt")
        git(place, "commit", "--quiet", "--message", text)
    return place


def git(place: Path, *arguments: str) -> None:
    """Run git there, without the configuration of whoever runs the tests."""
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *arguments], cwd=place, env=environ, check=True, timeout=30)


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of the document: a person of its own, and the installed programs."""
    programs = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name))
    for name, value in {"NO_COLOR": "1", "COLUMNS": "80", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    return dict(os.environ)
