"""The benchmarks run. What they find is not judged here: a shared machine is no stopwatch."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(file for file in BENCHMARKS.glob("*.py") if "--smoke" in file.read_text("utf-8"))
PIN = r"[a-z-]+(\[[a-z]+\])?==[\d.]+"
PARTS = (
    ("--part", "calls", "--way", "stdio"),
    ("--part", "calls", "--way", "events"),
    ("--part", "payload", "--way", "http"),
    ("--part", "startup"),
    ("--part", "import"),
)
"""What the comparison of clients has; one at a time, so that each is quick."""


def run(command: Sequence[str]) -> str:
    """What a script prints, which has to end well."""
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=55, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("script", "options"),
    [
        pytest.param(
            script,
            options,
            id=" ".join((script.stem, *options)),
            marks=[pytest.mark.slow] if script.stem == "soak" else [],
        )
        for script in SCRIPTS
        for options in (PARTS if script.stem == "client" else [()])
    ],
)
def test_a_benchmark_runs(script: Path, options: Sequence[str]) -> None:
    """One tiny round ends well and prints its versions and rounds; that of the soak is a thousand
    calls on each transport, after which there are as many descriptors and tasks as before."""
    said = run([sys.executable, str(script), "--smoke", *options])
    assert "1 rounds" in said
    assert "Python 3." in said


def test_there_are_benchmarks() -> None:
    """The glob above finds the scripts it is about."""
    assert {"client", "startup", "decide", "soak"} <= {s.stem for s in SCRIPTS}


def pins() -> list[str]:
    """What the rivals' environments are made of."""
    lines = (BENCHMARKS / "rivals.txt").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def test_every_rival_is_pinned() -> None:
    """They are `name==version` lines, and the setup tells of each whether it is there."""
    assert [pin for pin in pins() if not re.fullmatch(PIN, pin)] == []
    said = run([str(BENCHMARKS / "setup"), "--check"])
    assert [line.split(": ")[0] for line in said.splitlines()] == pins()


def test_every_rival_has_an_environment() -> None:
    """Who is compared is who the setup installs."""
    compared = re.findall(r"Rival\(\s*\"([a-z-]+)\"", (BENCHMARKS / "rivals.py").read_text("utf-8"))
    assert sorted(compared) == sorted(re.split(r"[\[=]", pin)[0] for pin in pins())
