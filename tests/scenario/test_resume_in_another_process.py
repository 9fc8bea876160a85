"""A question outlives the process that asked, and its answer runs the call once (B-14)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lockgate.stores.audit_reader import read_calls

PROGRAM = Path(__file__).with_name("road_program.py")


def run(*arguments: str) -> str:
    """The last line that a run of the program printed."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *arguments],
        capture_output=True,
        text=True,
        timeout=50,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()[-1]


@pytest.mark.req("B-14")
def test_the_answer_runs_the_call_in_another_process(tmp_path: Path) -> None:
    """Suspended in one process, resumed in a second: the same call, exactly once, on record."""
    directory, effects = str(tmp_path), tmp_path / "effects"
    ticket = run(directory, "suspend")
    assert not effects.exists()
    assert run(directory, "resume", ticket) == "paid"
    assert effects.read_text() == f"Bob {2**70}\n"
    assert run(directory, "resume", ticket) == "TicketGone"
    assert effects.read_text().count("\n") == 1
    suspended, resumed = read_calls(tmp_path / "audit").calls
    assert (suspended.decision.decision, suspended.decision.ticket) == ("suspend", ticket)
    assert (resumed.decision.decision, resumed.decision.approver) == ("run", "elsewhere")
    assert suspended.decision.call == resumed.decision.call
    assert resumed.outcome is not None
    assert resumed.segment != suspended.segment


@pytest.mark.req("B-14")
def test_processes_that_answer_together_run_it_once(tmp_path: Path) -> None:
    """Of several processes that resume one ticket at once, one runs the call."""
    ticket = run(str(tmp_path), "suspend")
    command = [sys.executable, str(PROGRAM), str(tmp_path), "resume", ticket]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    words = [process.communicate(timeout=50)[0].splitlines()[-1] for process in started]
    assert sorted(words) == ["TicketGone", "TicketGone", "TicketGone", "paid"]
    assert (tmp_path / "effects").read_text().count("\n") == 1
