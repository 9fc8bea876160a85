"""Calls of a kept session that were put off, and what became of them since."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Answered: TypeAlias = Literal["open", "result", "refused", "unknown"]
"""What became of a call that waited under a ticket. `open`: it waits. `result`: its answer has been
given, and the result is there, be it that of a refusal. `refused`: its time ran out, or the answer
was no and nothing more is known. `unknown`: the answer was yes, and nobody came back to say what
came of the call."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call of a session that was put off until somebody answers."""

    call_id: str
    """The model's id of it, as in the transcript."""
    tool: str
    ticket: str
    """Empty for a call that waits for no answer: it has its result, and was noted with it before
    its turn in the transcript came."""
    answered: Answered = "open"
    result: bytes | None = field(default=None, repr=False)
    """With `result` the result, as it is written down."""
