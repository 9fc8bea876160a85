"""All processes of one child: itself and what it started, as far as that stayed in its group.

A descendant that makes a session of its own leaves the group, and is nobody's any more.

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

    __slots__ = ("_leader",)

    def __init__(self, leader: int) -> None:
        self._leader = leader

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

        Members that were orphaned to this very process (it is process 1 of a container, or a
        subreaper) are reaped here; nobody else would, and they would count as living.
        """
        if sys.platform == "win32":
            return False
        try:
            while os.waitpid(-self._leader, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        return self._signal(0)

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
