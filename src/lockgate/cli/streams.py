"""Standard streams that are closed, full, or read by nobody any more."""

from __future__ import annotations

import contextlib
import os
import sys


def open_streams() -> None:
    """Put the null device where a standard stream is closed.

    Else the next file that is opened, a database or a pipe to a server, would get the number 1 or
    2, and whoever prints would print into it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
        if getattr(sys, name) is None:
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - kept to the end
            setattr(sys, name, stream)


def give_up_output() -> None:
    """Let nothing more be written to standard output or error where that fails.

    What is still buffered would be tried once more at the end of the interpreter, with a message
    and an exit code of its own.
    """
    for number, stream in ((1, sys.__stdout__), (2, sys.__stderr__)):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, number)
            os.close(null)
            with contextlib.suppress(OSError, ValueError):
                if stream is not None:
                    stream.flush()
