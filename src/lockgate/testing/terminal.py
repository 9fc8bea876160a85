"""The command line on a terminal of its own: a test types, and reads what is shown."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from lockgate.testing.project import Project

PATIENCE: Final = 40.0
"""Seconds for anything to be shown."""

# What a shell does for a program that it starts: the terminal becomes the one of its session.
_ON_TERMINAL: Final = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class AtTerminal:
    """The program on a terminal of its own, 80 columns wide, and what it has shown."""

    def __init__(self, project: Project, *words: str) -> None:
        """Start `lockgate` with these words, on the configuration of `project`.

        One that was written by hand is used as it is.
        """
        if project.servers or project.sections:
            project.write()
        self._keyboard, self.device = pty.openpty()
        termios.tcsetwinsize(self.device, (24, 80))
        self.before = termios.tcgetattr(self.device)
        command = [sys.executable, "-m", "lockgate", "-c", str(project.file)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", _ON_TERMINAL, *command, *words],
            env=project.environ(TERM="dumb"),
            cwd=project.root,
            stdin=self.device,
            stdout=self.device,
            stderr=self.device,
            start_new_session=True,
        )

    def until(self, mark: str) -> str:
        """What is shown up to and with `mark`. AssertionError if it does not come."""
        seen = ""
        while mark not in seen:
            more = self._more(PATIENCE)
            if not more:
                raise AssertionError(f"{mark!r} was not shown after:\n{seen}")
            seen += more
        return seen

    def now(self) -> str:
        """What has been shown by now and was not looked at."""
        return self._more(0.0)

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._keyboard, text.encode())

    def end(self) -> str:
        """Wait for the end of the program; what was shown until then."""
        seen = ""
        while self.process.poll() is None or self._shows():
            seen += self._more(0.05)
        return seen

    def settings(self) -> list[Any]:
        """How the terminal is set."""
        return termios.tcgetattr(self.device)

    def close(self) -> None:
        """End the program, and let go of the terminal."""
        self.process.kill()
        self.process.wait()
        os.close(self._keyboard)
        os.close(self.device)

    def _shows(self) -> bool:
        return bool(select.select([self._keyboard], [], [], 0)[0])

    def _more(self, seconds: float) -> str:
        if not select.select([self._keyboard], [], [], seconds)[0]:
            return ""
        return os.read(self._keyboard, 65536).decode().replace("\r\n", "\n")


StartAtTerminal: TypeAlias = Callable[..., AtTerminal]
"""Starts `lockgate` with some words; what it returns is ended with the test."""
