"""How a process ended."""

from __future__ import annotations

import signal
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """The end of one process."""

    returncode: int
    """As `subprocess` has it: the exit code, or minus the number of the signal that ended it."""

    @property
    def code(self) -> int | None:
        """The exit code; None if a signal ended it."""
        return self.returncode if self.returncode >= 0 else None

    @property
    def signal(self) -> str | None:
        """The name of the signal that ended it, such as `SIGKILL`; None if it exited."""
        if self.returncode >= 0:
            return None
        try:
            return signal.Signals(-self.returncode).name
        except ValueError:
            return f"signal {-self.returncode}"

    def __str__(self) -> str:
        return f"exit code {self.returncode}" if self.signal is None else f"killed by {self.signal}"
