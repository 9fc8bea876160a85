"""The benchmarks run. What they find is not judged here: a shared machine is no stopwatch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(file for file in BENCHMARKS.glob("*.py") if "--smoke" in file.read_text("utf-8"))


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_a_benchmark_runs(script: Path) -> None:
    """One tiny round ends well and prints its versions and rounds."""
    done = subprocess.run(
        [sys.executable, str(script), "--smoke"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 rounds" in done.stdout
    assert "Python 3." in done.stdout


def test_there_are_benchmarks() -> None:
    """The glob above finds the scripts it is about."""
    assert {"stdio_call", "import_time", "startup", "decide"} <= {s.stem for s in SCRIPTS}
