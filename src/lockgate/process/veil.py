"""What other programs can read of this one's environment, which is where secrets are handed in.

Linux shows the environment that a program was started with to all programs of the same user, in
`/proc/<pid>/environ`. A child that is given the short list could read the rest of it there, in one
line (PB-029). So the copy that is shown is cut down to what every child gets anyway; what the
program itself sees stays as it is.

It is no wall. Who may trace this program reads its memory, and whoever started it may show the same
variables. A program that uses lockgate as a library is not touched: its process is its own.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Final

from lockgate.process.environment import POSIX, PREFIX

_STAT: Final = "/proc/self/stat"
_MEMORY: Final = "/proc/self/mem"
_START: Final = 47
"""The place of `env_start` (proc_pid_stat(5)) behind the program's name; `env_end` is the next."""


def veil(environ: MutableMapping[bytes, bytes]) -> bool:
    """Cut down what Linux shows of this process's environment; whether that was possible.

    `environ` is `os.environb`: each variable is set to itself, by which the C library copies it,
    and then the place is overwritten that it came from. To be called before there are threads,
    which could be reading there.
    """
    try:
        with open(_STAT, "rb") as file:  # noqa: PTH123 - a file of the system's
            fields = file.read().rpartition(b")")[2].split()
        start, end = int(fields[_START]), int(fields[_START + 1])
        if not 0 < start < end:
            return False
        for name, value in list(environ.items()):
            environ[name] = value
        shown = b"".join(
            b"%b=%b\0" % (name, value) for name, value in environ.items() if _is_given(name)
        )
        size = end - start
        with open(_MEMORY, "r+b", buffering=0) as memory:  # noqa: PTH123 - the same
            memory.seek(start)
            return memory.write(shown[:size].ljust(size, b"\0")) == size
    except (OSError, ValueError, IndexError):
        return False  # nowhere but there is it shown like this, or nobody may write to it


def _is_given(name: bytes) -> bool:
    """Whether every child gets it."""
    text = name.decode("utf-8", "surrogateescape")
    return text in POSIX or text.startswith(PREFIX)
