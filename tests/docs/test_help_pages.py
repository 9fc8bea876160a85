"""The help pages in the documents are the program's own."""

from __future__ import annotations

from pathlib import Path

from help_pages import pages

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_help_pages_are_the_programs_own() -> None:
    """docs/cli.md is what `--help` says; scripts/update-docs writes it anew."""
    written = PAGE.read_text("utf-8") if PAGE.exists() else ""
    assert written == pages(), "docs/cli.md is not what the program says: run scripts/update-docs"


def test_help_fits_a_terminal() -> None:
    """No line of a help page is wider than 80 columns."""
    assert [line for line in pages().splitlines() if len(line) > 80] == []
