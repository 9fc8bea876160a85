"""Asking a program of the operator: the question goes to its input, its output is the answer.

Everything unclear means no (S0-09): an exit code other than 0, a signal, output that is no answer
or too much of it. The program is named in a configuration that a person wrote or accepted (B-13),
so it is given the arguments in full, and nothing else of ours: the short environment of a child.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final, Literal

import msgspec

from lockgate.bridges.question_data import question_data
from lockgate.errors import LocalError, PeerError
from lockgate.policy.approval import PASS, Answer, Later, Question, Reply, Scope
from lockgate.process.child import Child, Grace
from lockgate.process.program import Program

MAX_OUTPUT: Final = 64 * 1024
"""Bytes of standard output that an answer may have."""
DRAIN: Final = 1.0
"""Seconds after the program's end in which its output has to end too."""

_GRACE: Final = Grace(stdin=0.0, terminate=1.0)
"""Its input is closed from the start, so nothing is waited for before SIGTERM."""
_log: Final = logging.getLogger("lockgate.bridges")


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a program answers: one JSON object on its standard output."""

    decision: Literal["allow", "deny", "pass", "later"]
    scope: Literal["once", "session"] = "once"
    """How far an `allow` or a `deny` reaches."""
    note: str = ""
    """Told to the model on a `deny`."""


_DECODER: Final = msgspec.json.Decoder(Said)
_ENCODER: Final = msgspec.json.Encoder()


class CommandApprover:
    """An approver that runs a program for each question, in a process group of its own.

    The question is one line of JSON on standard input (`question_data`, nothing masked), which is
    then closed. The answer is `Said`, and counts when the program has exited with 0. What it leaves
    running in its group is ended. Standard error is read and dropped: it may hold arguments.
    """

    name = "command"
    scopes = frozenset({Scope.ONCE, Scope.SESSION})

    def __init__(self, program: Program) -> None:
        self._program = program

    async def __call__(self, question: Question) -> Reply:
        """Ask, and wait for as long as it takes; the caller bounds it.

        Raises `LocalError` for what is no answer and `PeerError` if the program can not be started.
        Cancelled or failed, nothing of it is left running.
        """
        try:
            data = _ENCODER.encode(question_data(question, reveal=True)) + b"\n"
            return _understood(await self._run(data))
        except (LocalError, PeerError) as error:
            _log.warning("the approver program %s failed: %s", self._program.command, error)
            raise

    async def _run(self, data: bytes) -> bytes:
        ear = _Ear()
        child = await Child.start(self._program, ear, _GRACE)
        try:
            child.stdin.write(data)
            child.stdin.close()
            await ear.over.wait()
            if not ear.too_much:
                await _within(DRAIN, ear.silent)
        finally:
            await child.close()
        if ear.too_much:
            raise LocalError(f"its answer has over {MAX_OUTPUT} bytes")
        status = child.status
        if status is None or status.returncode != 0:
            raise LocalError(f"it ended with {status or 'no status'}")
        return bytes(ear.heard)


class _Ear:
    """Hears what the program says, within bounds. A `process.child.Listener`."""

    def __init__(self) -> None:
        self.heard = bytearray()
        self.too_much = False
        self.over = asyncio.Event()
        """It has ended, or said too much."""
        self.silent = asyncio.Event()
        """Standard output is at its end."""

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1 or self.too_much:
            return
        self.heard += data
        if len(self.heard) > MAX_OUTPUT:
            self.too_much = True
            self.heard.clear()
            self.over.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc  # a program need not read the question to answer it
        if fd == 1:
            self.silent.set()

    def pause_writing(self) -> None:
        """Nothing more is written than one question."""

    def resume_writing(self) -> None:
        """See `pause_writing`."""

    def process_exited(self) -> None:
        self.over.set()


async def _within(seconds: float, event: asyncio.Event) -> None:
    """Wait for `event`. Raises `LocalError` if somebody else holds the output open."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        raise LocalError("its output is held open by a process it left behind") from None


def _understood(output: bytes) -> Reply:
    try:
        said = _DECODER.decode(output)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # Without the cause: it may quote what the program said, and so the arguments.
        raise LocalError(
            'it answered with something else than {"decision": "allow" | "deny" | "pass" | "later"'
            ', "scope": "once" | "session", "note": TEXT}'
        ) from None
    match said.decision:
        case "pass":
            return PASS
        case "later":
            return Later()
        case _:
            approved = said.decision == "allow"
            return Answer(approved, CommandApprover.name, Scope(said.scope), said.note)
