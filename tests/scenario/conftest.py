"""Fixtures of the scenarios: a project of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.testing.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project."""
    return Project(tmp_path)
