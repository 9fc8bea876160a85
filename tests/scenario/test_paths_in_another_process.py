"""An answer is bound to where a path led when it was asked about (B-14)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("path_program.py")


def run(*arguments: str) -> str:
    """What a run of the program printed."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *arguments],
        capture_output=True,
        text=True,
        timeout=50,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.req("B-14", "B-01")
@pytest.mark.parametrize("tool", ["Store", "mcp__files__store"])
def test_an_answer_does_not_follow_a_link_that_was_switched(tool: str, tmp_path: Path) -> None:
    """Asked about in one process, switched, answered in another: nothing runs. With the link as it
    was, it does. The same for a tool of ours and for a `path:` parameter of a server's."""
    project = tmp_path.resolve() / "project"
    for name in ("docs/one", "docs/two"):
        (project / name).mkdir(parents=True)
    (tmp_path / "state").mkdir()
    link = project / "docs" / "link"
    link.symlink_to("one")
    directory = str(tmp_path.resolve())
    first, second = (run(directory, "suspend", tool, f"docs/link/{n}") for n in "ab")
    assert run(directory, "resume", first) == "ok"
    link.unlink()
    link.symlink_to("two")
    assert run(directory, "resume", second) == "ErrorKind.TOOL_CHANGED"
