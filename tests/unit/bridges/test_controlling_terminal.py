"""Which terminal a program asks on: the one it belongs to, whatever its streams are."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Generator
from contextlib import contextmanager

import pytest

PROMPT = "answer [no]: "

SCRIPT = """
import asyncio, dataclasses, sys
from lockgate.bridges.terminal import TerminalApprover
from lockgate.policy.approval import Question
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.origin import Origin
from lockgate.traits import SideEffectLevel

question = Question("c", "tool", Origin("local", None, "tool", fingerprint({})),
                    SideEffectLevel.MUTATING, True, {}, "d", (), "e", None, None)

async def main():
    async with asyncio.timeout(20):
        print("REPLY", await TerminalApprover()(question), flush=True)

asyncio.run(main())
"""


def test_a_process_without_a_terminal_passes() -> None:
    """In a session of its own, with pipes for streams."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        start_new_session=True,
    )
    assert done.stdout == "REPLY Pass.PASS\n"


CONTROLLED = (
    "import fcntl, os, termios\n"
    "terminal = os.open(os.environ['TERMINAL'], os.O_RDWR)\n"
    "fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)\n"
)
"""What makes that terminal the process's own."""


def shown_until(master: int, text: str) -> str:
    """What is shown on a terminal, up to `text` or until nobody has it open any more."""
    seen = ""
    while text not in seen and select.select([master], [], [], 30)[0]:
        try:
            seen += os.read(master, 65536).decode().replace("\r\n", "\n")
        except OSError:
            break
    return seen


@contextmanager
def on_own_terminal(script: str) -> Generator[tuple[int, subprocess.Popen[str]]]:
    """A process in a session of its own; the keyboard of the terminal named in its environment."""
    master, slave = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "TERMINAL": os.ttyname(slave)},
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            yield master, child
        finally:
            child.kill()
            os.close(slave)
            os.close(master)


@pytest.mark.parametrize(
    ("typed", "approved"), [(b"once\n", "approved=True"), (b"\x03", "approved=False")]
)
def test_the_controlling_terminal_is_asked_whatever_the_streams_are(
    typed: bytes, approved: str
) -> None:
    """With input from nowhere and output into a pipe; Ctrl+C there is a no, not the end."""
    with on_own_terminal(CONTROLLED + SCRIPT) as (keyboard, child):
        assert PROMPT in shown_until(keyboard, PROMPT)
        os.write(keyboard, typed)
        output, _ = child.communicate(timeout=30)
    assert output.startswith(f"REPLY Answer({approved}")
    assert child.returncode == 0


def test_stopped_at_a_question_it_leaves_the_terminal_as_it_was() -> None:
    """Ctrl+Z is for the shell; gone on with, it says again what it asks about, and asks."""
    with on_own_terminal(CONTROLLED + SCRIPT) as (keyboard, child):
        before = termios.tcgetattr(keyboard)  # both ends have the same, until it asks
        shown_until(keyboard, PROMPT)
        os.write(keyboard, b"half a wo\x1a")
        stopped = os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        assert stopped is not None
        assert stopped.si_code == os.CLD_STOPPED
        assert termios.tcgetattr(keyboard) == before
        child.send_signal(signal.SIGCONT)
        shown = shown_until(keyboard, PROMPT)
        assert "tool       tool\n" in shown
        os.write(keyboard, b"once\n")
        output, _ = child.communicate(timeout=30)
    assert output.startswith("REPLY Answer(approved=True")


def test_in_the_background_nobody_is_looking() -> None:
    """Another job has the terminal: reading from it would stop the program, so it passes."""
    behind = "if os.fork():\n    os.wait()\n    raise SystemExit\nos.setpgid(0, 0)\n"
    with on_own_terminal(CONTROLLED + behind + SCRIPT) as (_, child):
        output, _ = child.communicate(timeout=30)
    assert output == "REPLY Pass.PASS\n"
