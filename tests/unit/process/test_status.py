"""How a process ended, in words."""

from __future__ import annotations

import pytest

from lockgate.process.status import ExitStatus


@pytest.mark.parametrize(
    ("returncode", "text", "code", "signal"),
    [
        (0, "exit code 0", 0, None),
        (3, "exit code 3", 3, None),
        (-9, "killed by SIGKILL", None, "SIGKILL"),
        (-15, "killed by SIGTERM", None, "SIGTERM"),
        (-60, "killed by signal 60", None, "signal 60"),
    ],
)
def test_an_end_has_a_code_or_a_signal(
    returncode: int, text: str, code: int | None, signal: str | None
) -> None:
    """Never both, and real-time signals, which have no name, have their number."""
    status = ExitStatus(returncode)
    assert (str(status), status.code, status.signal) == (text, code, signal)
