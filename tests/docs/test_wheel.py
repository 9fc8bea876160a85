"""What the README promises, from nothing: the built wheel in an empty environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from document import blocks_of

ROOT = Path(__file__).parents[2]


def run(*command: str, cwd: Path, environ: dict[str, str] | None = None) -> str:
    """Run a program; what it printed."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environ,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        start_new_session=True,  # no terminal, whoever runs the tests
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.timeout(280)
def test_the_twenty_lines_do_what_they_say(tmp_path: Path, folder: Path) -> None:
    """README's Python, against README's configuration, with nothing but the wheel installed."""
    run(
        *(sys.executable, "-m", "build", "--wheel", "--no-isolation"),
        *("--outdir", str(tmp_path), str(ROOT)),
        cwd=tmp_path,
    )
    (wheel,) = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "venv", str(tmp_path / "venv"), cwd=tmp_path)
    programs = tmp_path / "venv" / "bin"
    constraints = ("--constraint", str(ROOT / "constraints.txt"))
    run(
        *(str(programs / "python"), "-m", "pip", "install", "--quiet", *constraints),
        *(str(wheel), "mcp-server-git"),
        cwd=tmp_path,
    )
    (folder / "lockgate.yaml").write_text(blocks_of(ROOT / "README.md", "yaml")[0], "utf-8")
    (code,) = blocks_of(ROOT / "README.md", "python")
    assert code.count("\n") <= 25
    environ = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    said = run(str(programs / "python"), "-c", code, cwd=folder, environ=environ)
    assert "add_tag" in said
    assert "mcp__git__git_log" in said
    assert "Say what it is for" in said
    assert "ErrorKind.NOT_APPROVED nobody_to_ask" in said
