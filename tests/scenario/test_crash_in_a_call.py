"""A process that is killed in the middle of a call leaves its decision behind (B-02)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lockgate.stores.audit_reader import read_calls
from lockgate.stores.intents import SqliteUnknowns
from lockgate.stores.state import open_state

PROGRAM = Path(__file__).with_name("road_program.py")


@contextmanager
def running(*arguments: str) -> Generator[subprocess.Popen[str]]:
    """The program, once its tool runs; killed afterwards whatever happens."""
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert any(line == "running\n" for line in process.stdout)
        yield process
    finally:
        process.kill()
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()


@pytest.mark.req("B-02")
def test_a_call_that_was_killed_reads_as_unknown(tmp_path: Path) -> None:
    """SIGKILL between decision and outcome: the record says that it was about to run, by whose
    word, and reads as outcome unknown."""
    with running(str(tmp_path), "hang") as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)
    reading = read_calls(tmp_path / "audit")
    assert reading.faults == ()
    [call] = reading.calls
    assert (call.decision.decision, call.decision.approver) == ("run", "scripted")
    assert (call.kind, call.fate, call.outcome) == ("outcome_unknown", "unknown", None)
    assert (tmp_path / "effects").read_text().count("\n") == 1


@pytest.mark.req("B-02", "B-03", "S0-18")
def test_a_resumed_call_that_was_killed_is_asked_about(tmp_path: Path) -> None:
    """The ticket is used up, and the call stands open for its session in every later process."""
    arguments = [sys.executable, str(PROGRAM), str(tmp_path)]
    done = subprocess.run(
        [*arguments, "suspend"], capture_output=True, text=True, timeout=50, check=True
    )
    ticket = done.stdout.splitlines()[-1]
    with running(str(tmp_path), "hang", ticket) as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)
    again = subprocess.run(
        [*arguments, "resume", ticket], capture_output=True, text=True, timeout=50, check=True
    )
    assert again.stdout.splitlines()[-1] == "TicketGone"
    assert (tmp_path / "effects").read_text().count("\n") == 1
    with open_state(tmp_path / "state.db", "later") as state:
        [unknown] = SqliteUnknowns(state).find("session:s", "pay")
    suspended, killed = read_calls(tmp_path / "audit").calls
    assert unknown.call_id == killed.decision.call == suspended.decision.call
    assert killed.kind == "outcome_unknown"
