"""What ripgrep says, in words of the tool that asked it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from lockgate.tools.result import ToolResult


class Run(Protocol):
    """Makes a call."""

    async def __call__(self, name: str, **arguments: Any) -> ToolResult: ...


async def test_a_line_end_in_a_pattern_names_our_argument(run: Run, work: Path) -> None:
    """Not the option of the program that searches."""
    (work / "a.txt").write_text("a\nb\n")
    result = await run("Grep", pattern=r"a\nb")
    assert "`multiline`" in result.text
    assert "--multiline" not in result.text
