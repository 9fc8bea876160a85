"""The quickstart as a person meets it: a process of its own, with and without a terminal.

To write the golden file anew, run this test, look at the difference, and copy what it says.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
QUICKSTART = HERE.parents[1] / "examples" / "quickstart" / "quickstart.py"
PATIENCE = 50.0
"""Seconds for one run; it takes two where nothing else goes on."""


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """The directory for temporary files of the runs: empty, and empty again afterwards."""
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    return scratch


def _command(*arguments: str) -> list[str]:
    return [sys.executable, str(QUICKSTART), *arguments]


def _environment(scratch: Path) -> dict[str, str]:
    """Nothing of whoever runs the tests: no home, no git settings."""
    home = scratch.parent / "home"
    home.mkdir(exist_ok=True)
    return {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(scratch)}


def _run(scratch: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it where nobody is: no terminal, no standard input."""
    return subprocess.run(
        _command(*arguments),
        env=_environment(scratch),
        cwd=scratch.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        start_new_session=True,
        check=False,
    )


def _normal(text: str, scratch: Path) -> str:
    """`text` without what is different in each run."""
    text = re.sub(rf"{re.escape(str(scratch))}/\S+\.jsonl", "<record>", text)
    return re.sub(r"\b[0-9a-f]{40}\b", "<commit>", text)


def _left(scratch: Path) -> list[str]:
    """Files under `scratch`, and processes that work there."""
    found = [str(path) for path in scratch.iterdir()]
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            inside = link.readlink().is_relative_to(scratch)
        except OSError:  # it ended, or is not ours to look at
            continue
        if inside:
            found.append(str(link))
    return found


# What a shell does for a program that it starts: the terminal becomes the one of its session.
_ON_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class _Terminal:
    """The quickstart on a terminal of its own, and what it wrote there."""

    def __init__(self, scratch: Path, *arguments: str) -> None:
        self._descriptor, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _ON_TERMINAL, *_command(*arguments)],
            env=_environment(scratch),
            cwd=scratch.parent,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.text = ""

    def until(self, mark: str) -> None:
        """Read until `mark` was written, or to the end."""
        while mark not in self.text and self._read():
            pass

    def to_the_end(self) -> int:
        """Read everything; the exit code."""
        while self._read():
            pass
        os.close(self._descriptor)
        return self._process.wait(PATIENCE)

    def end(self) -> None:
        self._process.terminate()

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def _read(self) -> bool:
        if not select.select([self._descriptor], [], [], PATIENCE)[0]:
            self._process.kill()
            pytest.fail(f"nothing more was written after:\n{self.text}")
        try:
            data = os.read(self._descriptor, 4096)
        except OSError:  # how Linux says that the other side is closed
            return False
        self.text += data.decode().replace("\r\n", "\n")
        return bool(data)


def _records(text: str) -> Iterator[dict[str, object]]:
    path = next(line for line in text.splitlines() if line.endswith(".jsonl"))
    yield from map(json.loads, Path(path).read_text().splitlines())


def test_what_is_shown_where_nobody_is(scratch: Path) -> None:
    """The output, word for word: the read and the commit run, the reset is refused, exit code 0."""
    done = _run(scratch)
    assert done.stderr == ""
    assert done.returncode == 0
    assert _normal(done.stdout, scratch) == (HERE / "quickstart.golden.txt").read_text()
    assert _left(scratch) == []


def test_it_fits_eighty_columns_and_has_no_colour() -> None:
    """Where it does not go to a terminal; paths excepted, which are to be copied whole."""
    text = (HERE / "quickstart.golden.txt").read_text()
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert "\x1b" not in text


def test_the_record_says_what_was_shown(scratch: Path) -> None:
    """With --keep it can be read: four decisions, three outcomes, and the commit is there."""
    done = _run(scratch, "--keep")
    records = list(_records(done.stdout))
    kinds = [record["record"] for record in records if record["record"] != "segment"]
    assert kinds == ["decision", "outcome"] * 3 + ["decision"]
    last = records[-1]
    assert (last["tool"], last["decision"]) == ("mcp__git__git_reset", "refuse")
    assert (last["kind"], last["reason"]) == ("not_approved", "nobody_to_ask")
    (kept,) = scratch.iterdir()
    log = subprocess.run(
        ["git", "log", "--format=%s", "-1"],
        cwd=kept / "notes",
        capture_output=True,
        text=True,
        check=True,
    )
    assert log.stdout == "Add the notes of Monday\n"


@pytest.mark.parametrize(
    ("typed", "decided", "kind"), [("once", "run", None), ("no", "refuse", "not_approved")]
)
def test_the_reset_is_asked_about_on_a_terminal(
    scratch: Path, typed: str, decided: str, kind: str | None
) -> None:
    """One question, with the call and what it can do; the answer decides and is recorded."""
    terminal = _Terminal(scratch, "--keep")
    terminal.until("answer [no]: ")
    assert "mcp__git__git_reset" in terminal.text.rpartition("needs an answer")[2]
    terminal.type(f"{typed}\n")
    assert terminal.to_the_end() == 0
    assert terminal.text.count("answer [no]: ") == 1
    decision = [record for record in _records(terminal.text) if record["record"] == "decision"][-1]
    assert (decision["decision"], decision["approver"]) == (decided, "terminal")
    assert decision.get("kind") == kind


def test_ended_while_a_person_is_asked_it_leaves_nothing(scratch: Path) -> None:
    """A SIGTERM closes the server and removes the scratch directory."""
    terminal = _Terminal(scratch)
    terminal.until("answer [no]: ")
    terminal.end()
    assert terminal.to_the_end() == 130
    assert _left(scratch) == []


def test_a_script_of_ones_own_is_used(scratch: Path) -> None:
    """The banner says it can be done; a broken one is told with its place."""
    script = scratch.parent / "mine.yaml"
    script.write_text("- text: My own words.\n")
    assert "\nMy own words.\n" in _run(scratch, "--script", str(script)).stdout
    script.write_text("- txet: My own words.\n")
    done = _run(scratch, "--script", str(script))
    assert done.returncode == 1
    assert f"error: {script}:1" in done.stderr
    assert "did you mean text?" in done.stderr
    assert _left(scratch) == []


def test_a_live_model_needs_its_key(scratch: Path) -> None:
    """What to set is said before anything is made or started."""
    done = _run(scratch, "--model", "anthropic:claude-sonnet-4-6")
    assert done.returncode == 1
    assert "set the environment variable ANTHROPIC_API_KEY" in done.stderr
    assert "Starting the server" not in done.stdout
    assert _left(scratch) == []


def test_without_git_it_says_so(scratch: Path) -> None:
    """Before anything is made."""
    environment = {**_environment(scratch), "PATH": str(scratch)}
    done = subprocess.run(
        _command(), env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 2
    assert "git is not installed" in done.stderr
    assert _left(scratch) == []
