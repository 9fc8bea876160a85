"""A hook that is a program: what it is told goes to its input, its output is the answer.

No shell reads the command, nothing of the event is on its command line or in its environment. Exit
code 0: standard output is the answer, or text that means nothing. Exit code 2: a veto, standard
error says why. Anything else is a failure. What it says elsewhere is read and dropped: it may hold
arguments.
"""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec

from lockgate.errors import PeerError
from lockgate.hooks.declared.said import MAX_ANSWER, read_answer
from lockgate.hooks.event import HookInput
from lockgate.hooks.failure import HookFailure
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.process.child import Child, Grace
from lockgate.process.program import Program
from lockgate.showing import visible_lines

VETO: Final = 2
"""The exit code that says no."""
MAX_ERROR: Final = 16 * 1024
"""Bytes of standard error that are kept for the reason of a veto."""
DRAIN: Final = 1.0
"""Seconds after the program's end in which its output has to end too."""

_GRACE: Final = Grace(stdin=0.0, terminate=1.0)
"""Its input is closed from the start, so nothing is waited for before SIGTERM."""
_ENCODER: Final = msgspec.json.Encoder()


class CommandHook:
    """Runs a program for each event, in a process group of its own.

    The event is one line of JSON (`HookInput.data`). Whatever it leaves running is ended; so is all
    of it when the hook is cancelled or has had its time.
    """

    def __init__(self, program: Program) -> None:
        self._program = program

    async def __call__(self, told: HookInput) -> HookResult:
        """Run it once. Raises `HookFailure`, also if it can not be started."""
        ear = await self._run(_ENCODER.encode(told.data()) + b"\n")
        if ear.code == VETO:
            words = visible_lines(bytes(ear.errors).decode("utf-8", "replace").strip())
            return HookResult(HookDecision.DENY, words or f"{self._program.name} said no")
        return read_answer(bytes(ear.heard), told.event, due=False)

    async def _run(self, data: bytes) -> _Ear:
        ear = _Ear()
        try:
            child = await Child.start(self._program, ear, _GRACE)
        except PeerError as error:
            raise HookFailure(str(error)) from None
        try:
            child.stdin.write(data)
            child.stdin.close()
            await ear.over.wait()
            if not ear.too_much:
                await _within(DRAIN, ear.silent)
        finally:
            await child.close()
        if ear.too_much:
            raise HookFailure(f"its answer has over {MAX_ANSWER} bytes")
        status = child.status
        ear.code = None if status is None else status.returncode
        if ear.code not in (0, VETO):
            raise HookFailure(f"its program did not do well: {status or 'no status'}")
        return ear


class _Ear:
    """Hears what the program says, within bounds. A `process.pipe.Listener`."""

    def __init__(self) -> None:
        self.heard = bytearray()
        self.errors = bytearray()
        self.code: int | None = None
        self.too_much = False
        self.over = asyncio.Event()
        """It has ended, or said too much."""
        self.silent = asyncio.Event()
        """Both outputs are at their end."""
        self._open = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep it, as far as it may go."""
        if fd == 2:
            self.errors += data[: MAX_ERROR - len(self.errors)]
            return
        if fd != 1 or self.too_much:
            return
        self.heard += data
        if len(self.heard) > MAX_ANSWER:
            self.too_much = True
            self.heard.clear()
            self.over.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """One of its pipes has ended; a program need not read the event to answer it."""
        del exc
        self._open.discard(fd)
        if not self._open:
            self.silent.set()

    def pause_writing(self) -> None:
        """Nothing more is written than one event."""

    def resume_writing(self) -> None:
        """See `pause_writing`."""

    def process_exited(self) -> None:
        """It has ended."""
        self.over.set()


async def _within(seconds: float, event: asyncio.Event) -> None:
    """Wait for `event`. Raises `HookFailure` if somebody else holds the output open."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        raise HookFailure("its output is held open by a process it left behind") from None
