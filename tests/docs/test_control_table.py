"""The table of control files in the documents is the one that is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.policy.control import CONTROL_FILES

PAGE = Path(__file__).parents[2] / "docs" / "paths.md"


@pytest.mark.req("B-13")
def test_the_control_files_in_the_docs_are_those_in_the_code() -> None:
    """Every name with its reason, in both."""
    head = "| files | why: each is |\n|---|---|\n"
    table = PAGE.read_text("utf-8").partition(head)[2].partition("\n\n")[0]
    documented = [
        (name.strip("` "), why.strip())
        for names, why in (line.strip("|").split("|") for line in table.splitlines())
        for name in names.split(",")
    ]
    assert sorted(documented) == sorted(CONTROL_FILES)
