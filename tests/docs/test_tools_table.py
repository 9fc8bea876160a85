"""The table of lockgate's own tools in the documents is what the tools declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.builtin.catalogue import in_tree
from lockgate.rules.in_tree import IN_TREE
from lockgate.tools.tool import Tool

PAGE = Path(__file__).parents[2] / "docs" / "tools-in-tree.md"


def _told(tool: Tool, value: bool) -> str:
    """What reads alone neither destroys nor adds up."""
    return "-" if tool.is_read_only else "yes" if value else "no"


@pytest.mark.req("S0-16")
def test_the_tools_in_the_docs_are_those_in_the_code() -> None:
    """Every one of them, with its level, whether it destroys, and whether a repeat does no more."""
    head = "| tool | level | destructive | idempotent |\n|---|---|---|---|\n"
    table = PAGE.read_text("utf-8").partition(head)[2].partition("\n\n")[0]
    documented = {
        tuple(cell.strip("` ") for cell in line.strip("|").split("|"))
        for line in table.splitlines()
    }
    assert documented == {
        (
            tool.name,
            tool.side_effect_level.value,
            _told(tool, tool.is_destructive),
            _told(tool, tool.is_idempotent),
        )
        for tool in in_tree(IN_TREE, {"PATH": "/usr/bin:/bin"})
    }
