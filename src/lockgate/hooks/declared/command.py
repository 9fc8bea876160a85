"""A hook that is a program: what it is told goes to its input, its output is the answer.

No shell reads the command, nothing of the event is on its command line or in its environment. Exit
code 0: standard output is the answer, or text that means nothing. Exit code 2: a veto, standard
error says why. Anything else is a failure. What it says elsewhere is read and dropped: it may hold
arguments.
"""

from __future__ import annotations

from typing import Final

import msgspec

from lockgate.errors import LocalError, PeerError
from lockgate.hooks.declared.said import MAX_ANSWER, read_answer
from lockgate.hooks.event import HookInput
from lockgate.hooks.failure import HookFailure
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.process.exchange import exchange
from lockgate.process.program import Program
from lockgate.showing import visible_lines

VETO: Final = 2
"""The exit code that says no."""
MAX_ERROR: Final = 16 * 1024
"""Bytes of standard error that are kept for the reason of a veto."""

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
        data = _ENCODER.encode(told.data()) + b"\n"
        try:
            said = await exchange(self._program, data, most=MAX_ANSWER, most_errors=MAX_ERROR)
        except (LocalError, PeerError) as error:
            raise HookFailure(str(error)) from None
        code = None if said.status is None else said.status.returncode
        if code == VETO:
            words = visible_lines(said.errors.decode("utf-8", "replace").strip())
            return HookResult(HookDecision.DENY, words or f"{self._program.name} said no")
        if code != 0:
            raise HookFailure(f"its program did not do well: {said.status or 'no status'}")
        return read_answer(said.output, told.event, due=False)
