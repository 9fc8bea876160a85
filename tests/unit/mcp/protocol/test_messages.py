"""The generated message structs."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
SCRIPT = ROOT / "scripts" / "generate-messages"
MESSAGES = ROOT / "src" / "lockgate" / "mcp" / "protocol" / "messages"


def test_what_is_checked_in_is_what_the_script_makes() -> None:
    """Nobody edits a generated module; a change of spec/ or of the script shows here."""
    script = runpy.run_path(str(SCRIPT))
    for revision in script["ROOTS"]:
        path: Path = script["path_of"](revision)
        assert path.read_text("utf-8") == script["generate"](revision), path.name
    generated = {script["path_of"](revision).name for revision in script["ROOTS"]}
    assert {p.name for p in MESSAGES.glob("*.py")} == {*generated, "__init__.py"}


def test_every_left_out_member_exists() -> None:
    """A reason for leaving out what is not there would hide a change of the schema."""
    script = runpy.run_path(str(SCRIPT))
    for revision, unsent in script["UNSENT"].items():
        text = (ROOT / "spec" / f"mcp-schema-{revision}.json").read_text("utf-8")
        for member in unsent:
            assert f'"{member.rsplit(".", 1)[-1] if "/" not in member else member}"' in text, member


@pytest.mark.parametrize(("arguments", "code"), [(["--check"], 0), (["--nonsense"], 2)])
def test_the_script_can_check_without_writing(arguments: list[str], code: int) -> None:
    """For CI: 0 if all is up to date, 2 for wrong usage."""
    done = subprocess.run([sys.executable, str(SCRIPT), *arguments], check=False, timeout=30)
    assert done.returncode == code
