"""`lockgate skills`: how a skill is understood."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result

from lockgate.cli.skills import skills_group
from lockgate.errors import ConfigError
from lockgate.settings.acceptance import NotAccepted

Run = Callable[..., Result]

TIDY = (
    "---\nname: tidy\ndescription: Tidies up.\nallowed-tools: Read\nlicense: MIT\n"
    "argument-hint: '[place]'\nuser-invocable: false\n---\nTidy\x20up $1.\n"
)
PLAIN = "---\nname: plain\ndescription: Plain.\n---\nDo it.\n"


@pytest.fixture
def skills(folder: Path, run_command: Run) -> Run:
    """Runs the command where two skills are configured."""
    for text in (PLAIN, TIDY):
        path = folder / "skills" / text.split("name: ")[1].split("\n")[0] / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (folder / "skills" / "tidy" / "notes.md").touch()
    (folder / "mine.yaml").write_text("agent: {skills: [./skills]}")
    return partial(run_command, skills_group)


def test_each_is_listed_with_where_it_runs_and_who_asks(skills: Run) -> None:
    """One line for each, by name."""
    lines = skills("list", "-c", "mine.yaml").stdout.splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["plain", "inline", "models,", "people", "Plain."],
        ["tidy", "apart", "models", "Tidies", "up."],
    ]


def test_one_is_shown_with_what_says_nothing_here(skills: Run) -> None:
    """Keys, files, notes and the text as it stands."""
    shown = skills("show", "tidy", "-c", "mine.yaml").stdout
    assert shown.startswith("tidy (skills/tidy/SKILL.md)\n  Tidies up.\n")
    for line in (
        "  asked for by models; runs apart",
        "  arguments: [place]",
        "  tools: Read",
        "  file: skills/tidy/notes.md",
        "  note: license: says nothing here",
        "\n\n  Tidy up $1.",
    ):
        assert line in shown


def test_programs_get_json(skills: Run, folder: Path) -> None:
    """With everything in it."""
    (plain, tidy) = json.loads(skills("list", "-c", "mine.yaml", "--json").stdout)["skills"]
    assert (plain["runs"], tidy["runs"], tidy["byPerson"]) == ("inline", "apart", False)
    assert tidy["file"] == str(folder / "skills" / "tidy" / "SKILL.md")
    shown = json.loads(skills("show", "plain", "-c", "mine.yaml", "--json").stdout)
    assert shown["text"] == "Do it."


def test_a_slip_is_told_the_nearest(skills: Run) -> None:
    """As for every name."""
    result = skills("show", "tidi", "-c", "mine.yaml")
    assert result.exit_code == 2
    assert "no skill is called 'tidi'; did you mean tidy?" in result.output


def test_none_are_configured(folder: Path, run_command: Run) -> None:
    """Said, with what to write."""
    (folder / "mine.yaml").write_text("{}")
    assert "No skills are configured" in run_command(skills_group, "list", "-c", "mine.yaml").stdout


@pytest.mark.req("B-13")
def test_what_is_not_accepted_is_not_shown_as_if_it_held(skills: Run, folder: Path) -> None:
    """The list is of what is in force."""
    (folder / "mine.yaml").rename(folder / "lockgate.yaml")
    result = skills("list")
    assert isinstance(result.exception, NotAccepted)
    assert isinstance(result.exception, ConfigError)
