"""One command line, run to its end: with a limit, and with nothing of it left running."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from lockgate.builtin.shell.output import Output
from lockgate.process.child import Child, Grace
from lockgate.process.program import Program
from lockgate.process.status import ExitStatus

GRACE: Final = Grace(stdin=0.0, terminate=0.5)
"""It has no input, so SIGTERM comes at once; then so long to put things in order (git removes its
locks), then SIGKILL."""
DRAIN: Final = 1.0
"""Seconds after the end of the shell in which its output has to end too. Over `terminate`: what the
shell left running is ended in that time."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a line ended, and what it printed."""

    status: ExitStatus | None
    """Of the shell. None only if the kernel did not let go of it."""
    output: str
    errors: str
    timed_out: bool
    """Whether it was ended because its time was up."""
    left_jobs: bool
    """Whether it left jobs running, which were ended."""
    held: bool
    """Whether something that could not be found still holds its output: that goes on."""


async def run_line(program: Program, seconds: float) -> Ended:
    """Run `program` for at most `seconds`.

    When this returns, or raises, nothing that it started runs any more, as far as `process.mark`
    finds it; cancelled, it is ended first, which takes no longer than twice `GRACE` and a moment.
    Raises `PeerError` (SPAWN, NOT_SENT) if it can not be started.
    """
    ear = _Ear()
    child = await Child.start(program, ear, GRACE)
    timed_out = False
    try:
        try:
            async with asyncio.timeout(seconds):
                await child.wait()
        except TimeoutError:
            timed_out = True
        else:
            await _silence(ear)
    finally:
        status = await child.close()
    return Ended(
        status, ear.output.text, ear.errors.text, timed_out, child.left_behind, child.held
    )  # fmt: skip


async def _silence(ear: _Ear) -> None:
    try:
        async with asyncio.timeout(DRAIN):
            await ear.silent.wait()
    except TimeoutError:
        pass


class _Ear:
    """Hears both streams of a command. A `process.child.Listener`."""

    def __init__(self) -> None:
        self.output = Output()
        self.errors = Output()
        self.open = 2
        """Streams that are not at their end."""
        self.silent = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        (self.output if fd == 1 else self.errors).feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del fd, exc  # it has no input, so this is an output's end
        self.open -= 1
        if not self.open:
            self.silent.set()

    def pause_writing(self) -> None:
        """Nothing is written."""

    def resume_writing(self) -> None:
        """See `pause_writing`."""

    def process_exited(self) -> None:
        """`Child.wait` tells."""
