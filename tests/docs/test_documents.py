"""README and docs are run: what they show works, and says what they say it says."""

from __future__ import annotations

import os
import re
from contextlib import closing
from pathlib import Path

import pytest

from document import Run, commands, differs
from lockgate.agent.models.script import read_script
from lockgate.settings.layers import locate
from lockgate.settings.loading import load

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", DOCUMENTS, ids=[str(d.relative_to(ROOT)) for d in DOCUMENTS])
def test_a_document_does_what_it_says(path: Path, folder: Path, environ: dict[str, str]) -> None:
    """Every block of the document runs, in order, and prints what the document shows."""
    with closing(Run(folder, environ, check_yaml)) as run:
        for example in run.blocks().parse(path).examples():
            example.evaluate()


def check_yaml(file: Path) -> None:
    """A block of YAML is a valid configuration, or the script of a model."""
    if file.name == "model.yaml":
        read_script(file)
        return
    # Whoever follows the page has set the variables that it refers to.
    given = dict.fromkeys(re.findall(r"\$\{(\w+)\}", file.read_text("utf-8")), "given")
    environ = {**given, **os.environ}
    load(locate(file.parent, environ, file.name), environ)


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ("one\ntwo", "one\ntwo\n", True),
        ("one\ntwo", "one\n", False),
        ("one\n...\nfour", "one\ntwo\nthree\nfour\n", True),
        ("one\n...", "one\n", True),
        ("...", "", True),
        ("took ... ms", "took 3 ms\n", True),
        ("took ... ms", "took 3 s\n", False),
        ("a.c", "abc\n", False),
        ("", "something\n", False),
    ],
)
def test_output_is_compared_with_room_for_what_varies(
    expected: str, actual: str, same: bool
) -> None:
    """`...` stands for anything, everything else for itself."""
    assert (differs(expected, actual) is None) is same


def test_a_console_block_is_read_as_commands() -> None:
    """Each `$ ` begins a command; what follows is its output."""
    assert commands("$ one\nsays\n$ two\n") == [("one", "says\n"), ("two", "")]
    with pytest.raises(ValueError, match="begins with a command"):
        commands("no command\n$ one\n")
