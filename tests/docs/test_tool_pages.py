"""The list of lockgate's own tools in the documents is what the tools declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from tool_pages import page

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


@pytest.mark.req("S0-16")
def test_the_tools_in_the_docs_are_those_in_the_code() -> None:
    """docs/tools.md is what they declare; scripts/update-docs writes it anew."""
    written = PAGE.read_text("utf-8") if PAGE.exists() else ""
    assert written == page(), "docs/tools.md is not what the tools say: run scripts/update-docs"
