"""`notes` and `knowledge`: where tools of ours keep what outlives a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from lockgate.errors import Problem
from lockgate.settings.config import Config
from lockgate.settings.layers import locate
from lockgate.settings.loading import load, pending

Load: TypeAlias = Callable[[str], Config]
Problems: TypeAlias = Callable[[str], tuple[Problem, ...]]


def test_a_file_is_real_and_starts_from_its_configuration(
    load_text: Load, project: Path, environ: dict[str, str]
) -> None:
    """It need not be there; without the key it is one of the state directory."""
    config = load_text("notes: ./NOTES.md\nknowledge: ../shared/k.db")
    assert config.notes == project.resolve() / "NOTES.md"
    assert config.knowledge == project.resolve().parent / "shared" / "k.db"
    assert (load_text("").notes, load_text("").knowledge) == (None, None)
    file = project / "lockgate.yaml"
    file.write_text('notes: ~/notes.md\nknowledge: "${HERE}/k.db"')
    config = load(locate(project, environ, file), {**environ, "HERE": str(project)})
    assert config.notes == Path(environ["HOME"]).resolve() / "notes.md"
    assert config.knowledge == project.resolve() / "k.db"


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("notes: [a]", "must be a path"),
        ('notes: ""', "is empty"),
        ("notes: .", "is a directory"),
        ("knowledge: {a: b}", "must be a path"),
        ('knowledge: "${NOT_SET}"', "NOT_SET"),
    ],
)
def test_what_is_no_file_is_told_with_its_place(
    problems_of: Problems, text: str, message: str
) -> None:
    """By its key."""
    (problem,) = problems_of(text)
    assert problem.path == text.split(":")[0]
    assert message in problem.message


@pytest.mark.req("B-13")
def test_a_file_below_does_not_lead_out_by_a_link(problems_of: Problems, project: Path) -> None:
    """Who accepted the file saw a name of the project."""
    (project / "NOTES.md").symlink_to(project.parent / "elsewhere.md")
    (problem,) = problems_of("notes: NOTES.md")
    assert problem.path == "notes"
    assert "leads out of here by a symbolic link" in problem.message


@pytest.mark.req("B-13")
def test_a_found_file_is_told_by_where_it_would_keep_things(
    project: Path, environ: dict[str, str]
) -> None:
    """The real place, and what the person's own configuration says instead."""
    layers = locate(project, environ)
    layers.person.parent.mkdir(parents=True, exist_ok=True)
    layers.person.write_text("knowledge: /srv/mine.db")
    layers.project.write_text("notes: ../n.md\nknowledge: k.db")
    waiting = pending(layers)
    assert waiting is not None
    text = " ".join(waiting.summary).replace("\n        | ", "")
    assert f"keep notes in {project.parent.resolve() / 'n.md'}" in text
    assert f"keep what is to be searched in {project.resolve() / 'k.db'}" in text
    assert "(your own configuration names /srv/mine.db)" in text
