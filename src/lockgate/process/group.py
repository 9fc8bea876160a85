"""All processes of one child: itself and what it started, as far as that stayed in its group.

A descendant that makes a session of its own leaves the group; `mark` finds it.

On Windows there is no signal that asks a program to end; Ctrl+Break comes nearest, and the tree is
ended by `taskkill`. Written for it, untested.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any


def start_options() -> dict[str, Any]:
    """What `Popen` must be told so that the child leads a group of its own.

    A whole session: without the host's terminal a child can neither read what the person types
    nor ask for a password there, and Ctrl+C does not reach it before its owner has closed it.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


class Group:
    """The group that a child leads, named by the child's process id.

    The id can not be given to another process while the child is not reaped or any member lives.
    """

    __slots__ = ("_known", "_leader")

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self._known: list[int] = []
        """Members that lived when we looked last, so that we need not look at all processes."""

    def terminate(self) -> None:
        """Ask every member to end (SIGTERM)."""
        if sys.platform == "win32":
            self._signal(signal.CTRL_BREAK_EVENT)
        else:
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End every member (SIGKILL)."""
        if sys.platform == "win32":
            subprocess.run(
                ["taskkill", "/T", "/F", "/PID", str(self._leader)],
                capture_output=True,
                timeout=5,
                check=False,
            )
        else:
            self._signal(signal.SIGKILL)

    def left(self) -> bool:
        """Whether a member lives on after the child itself was reaped.

        Members that have ended and that nobody reaps do not count: process 1 of a container may
        take its time over that, or never do it. If it is us they were orphaned to, we do.
        """
        if sys.platform == "win32":
            return False
        try:
            while os.waitpid(-self._leader, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        if not self._signal(0):
            return False
        if sys.platform != "linux":
            return True
        try:
            self._known = self._living(self._known) or self._living(_processes())
        except OSError:
            return True  # no /proc to look into
        return bool(self._known)

    def _living(self, processes: list[int]) -> list[int]:
        """Which of these are members and have not ended."""
        return [pid for pid in processes if _state(pid, self._leader) not in ("", "Z", "X")]

    def _signal(self, number: int) -> bool:
        """Send a signal; whether there was anyone to send it to."""
        if sys.platform == "win32":
            try:
                os.kill(self._leader, number)
            except OSError:
                return False
            return True
        try:
            os.killpg(self._leader, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True  # members that became another user's: there, and out of reach
        return True


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - names


def _state(pid: int, group: int) -> str:
    """The state letter of a process; empty if it is gone or in another group (proc_pid_stat)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - one of very many
            fields = file.read().rpartition(b")")[2].split(maxsplit=3)
    except OSError:
        return ""
    return fields[0].decode() if int(fields[2]) == group else ""
