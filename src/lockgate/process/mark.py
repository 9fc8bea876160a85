"""What a child and all that it starts carry in their environment, to be found by it again.

A descendant that makes a session of its own leaves the group (`setsid`, a daemon that forks twice),
and is then nobody's child. Its environment is still what it was given, unless it was cleaned on
purpose: so each child gets a random value there, and who holds that value is its descendant.

Only on Linux, by `/proc`; elsewhere nothing is found. What can not be looked into is passed over:
processes of other users, and those that may not be traced.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
from collections.abc import Iterator, Mapping
from typing import Final

from lockgate.process.environment import NAME

SLICE: Final = 64
"""Processes that are looked at in one piece, in about a millisecond."""
_MOST: Final = 1 << 20
"""Bytes of an environment that are looked at."""
_KERNEL_THREAD: Final = 0x00200000
"""PF_KTHREAD of the kernel's `include/linux/sched.h`."""


class Mark:
    """The mark of one child."""

    __slots__ = ("_blank", "_value", "text")

    def __init__(self, token: str | None = None) -> None:
        """`token` is a random one unless it is given."""
        self.text = token or secrets.token_hex(16)
        self._value = self.text.encode()
        self._blank: list[int] = []
        """Processes that had no environment: in the middle of `exec` there is none."""

    def on(self, environment: Mapping[str, str]) -> dict[str, str]:
        """`environment` with the mark, and with those it had."""
        outer = environment.get(NAME)
        return {**environment, NAME: f"{outer}:{self.text}" if outer else self.text}

    def look(self, found: list[int]) -> Iterator[None]:
        """Put the process ids of all that carry the mark into `found`. Yields after each slice,
        for the loop to have its turn; and once more before it looks a second time at those that
        were in the middle of `exec`."""
        if sys.platform != "linux":
            return
        try:
            names = os.listdir("/proc")  # noqa: PTH208 - names are what is wanted
        except OSError:
            return
        own = os.getpid()
        self._blank.clear()
        for count, name in enumerate(names):
            if count % SLICE == SLICE - 1:
                yield
            if name.isdecimal() and (pid := int(name)) != own and self.carried_by(pid):
                found.append(pid)
        starting = [pid for pid in self._blank if _may_be_starting(pid)]
        if starting:
            yield
            found += [pid for pid in starting if self.carried_by(pid)]

    def carried_by(self, pid: int) -> bool:
        """Whether a process carries the mark; not if it has ended, or can not be looked into."""
        try:
            fd = os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            held = os.read(fd, _MOST)
        except OSError:
            return False
        finally:
            os.close(fd)
        if not held:
            self._blank.append(pid)
        return self._value in held

    def signal(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to a process if it is the one that carries the mark, and no other that got
        its id meanwhile."""
        try:
            fd = os.pidfd_open(pid)
        except (OSError, AttributeError):
            fd = None  # gone, or no pidfd in this kernel: then the id has to do
        try:
            if not self.carried_by(pid):
                return
            if fd is None:
                os.kill(pid, number)
            else:
                signal.pidfd_send_signal(fd, number)
        except OSError:
            pass  # it has just ended, or became another user's
        finally:
            if fd is not None:
                os.close(fd)


def _may_be_starting(pid: int) -> bool:
    """Whether a process without an environment is a program at all, and has not ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - one of very many
            fields = file.read().rpartition(b")")[2].split(maxsplit=7)
    except OSError:
        return False
    return fields[0] not in (b"Z", b"X") and not int(fields[6]) & _KERNEL_THREAD
