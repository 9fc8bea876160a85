"""One exchange with a program: what it is told goes to its input, what it says is heard to its end.

For programs of the operator that decide something. Its input is closed behind what it is told; what
it leaves running in its process group is ended with it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from lockgate.errors import LocalError
from lockgate.process.child import Child, Grace
from lockgate.process.program import Program
from lockgate.process.status import ExitStatus

DRAIN: Final = 1.0
"""Seconds after the program's end in which its output has to end too."""

_GRACE: Final = Grace(stdin=0.0, terminate=1.0)
"""Its input is closed from the start, so nothing is waited for before SIGTERM."""


@dataclass(frozen=True, slots=True)
class Exchanged:
    """What a program said, and how it ended."""

    output: bytes = field(repr=False)
    """Its standard output, whole."""
    errors: bytes = field(repr=False)
    """Its standard error, as far as it was wanted."""
    status: ExitStatus | None
    """None if the system did not tell."""


async def exchange(program: Program, data: bytes, *, most: int, most_errors: int = 0) -> Exchanged:
    """Run `program` once, and wait for as long as it takes; the caller bounds it.

    `most` are the bytes that its output may have, and `most_errors` those of its standard error
    that are kept; the rest of that is read and dropped, and with 0 its end is not waited for.
    Raises `LocalError` for too much output and for one that a process it left behind holds open,
    `PeerError` if it can not be started; neither holds anything that was said. Cancelled or failed,
    nothing of it is left running.
    """
    ear = _Ear(most, most_errors)
    child = await Child.start(program, ear, _GRACE)
    try:
        child.stdin.write(data)
        child.stdin.close()
        await ear.over.wait()
        if not ear.too_much:
            await _within(DRAIN, ear.silent)
    finally:
        await child.close()
    if ear.too_much:
        raise LocalError(f"its answer has over {most} bytes")
    return Exchanged(bytes(ear.heard), bytes(ear.errors), child.status)


class _Ear:
    """Hears what the program says, within bounds. A `process.pipe.Listener`."""

    def __init__(self, most: int, most_errors: int) -> None:
        self.heard = bytearray()
        self.errors = bytearray()
        self.too_much = False
        self.over = asyncio.Event()
        """It has ended, or said too much."""
        self.silent = asyncio.Event()
        """What is listened to is at its end."""
        self._most = most
        self._most_errors = most_errors
        self._open = {1, 2} if most_errors else {1}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep it, as far as it may go."""
        if fd == 2:
            self.errors += data[: self._most_errors - len(self.errors)]
        elif fd == 1 and not self.too_much:
            self.heard += data
            if len(self.heard) > self._most:
                self.too_much = True
                self.heard.clear()
                self.over.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """One of its pipes has ended; a program need not read what it is told."""
        del exc
        self._open.discard(fd)
        if not self._open:
            self.silent.set()

    def pause_writing(self) -> None:
        """Nothing more is written than one thing."""

    def resume_writing(self) -> None:
        """See `pause_writing`."""

    def process_exited(self) -> None:
        """It has ended."""
        self.over.set()


async def _within(seconds: float, event: asyncio.Event) -> None:
    """Wait for `event`. Raises `LocalError` if somebody else holds the output open."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        raise LocalError("its output is held open by a process it left behind") from None
