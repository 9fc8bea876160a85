"""Asking a program of the operator: the question goes to its input, its output is the answer.

Everything unclear means no (S0-09): an exit code other than 0, a signal, output that is no answer
or too much of it. The program is named in a configuration that a person wrote or accepted (B-13),
so it is given the arguments in full, and nothing else of ours: the short environment of a child.
"""

from __future__ import annotations

import logging
from typing import Final, Literal

import msgspec

from lockgate.bridges.question_data import question_data
from lockgate.errors import LocalError, PeerError
from lockgate.policy.approval import PASS, Answer, Later, Question, Reply, Scope
from lockgate.process.exchange import exchange
from lockgate.process.program import Program

MAX_OUTPUT: Final = 64 * 1024
"""Bytes of standard output that an answer may have."""

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
        said = await exchange(self._program, data, most=MAX_OUTPUT)
        if said.status is None or said.status.returncode != 0:
            raise LocalError(f"it ended with {said.status or 'no status'}")
        return said.output


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
