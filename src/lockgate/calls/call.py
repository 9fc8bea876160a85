"""A call that someone wants made, and what became of it when it can not be answered yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from lockgate.calls.declared import DeclaredCall
from lockgate.tools.context import Execution, InterruptToken, ProgressSink


class Call(msgspec.Struct, frozen=True):
    """One wish to run one tool."""

    id: str
    """Unique; the same in the decision record, the outcome record and the ticket."""
    name: str
    """As the caller wrote it."""
    arguments: Mapping[str, Any]
    execution: Execution
    parent_call: str | None = None
    interrupt: InterruptToken | None = None
    timeout: float | None = None
    """Seconds for the execution itself, waiting for a person not counted; None: the tool's own."""
    progress: ProgressSink | None = None
    """Who is told how far it is; None: nobody, and then no server is asked to tell."""
    fault: str | None = None
    """Why there are no arguments that could be used, without what they hold: the caller wrote no
    JSON object. Such a call goes down the road and is refused where arguments are looked at."""
    declared: DeclaredCall | None = None
    """Of a hook's own call (`Execution.entry` is `hook`): what accepted configuration has it call,
    which is the answer to the gate's question for that tool and no other."""


class Suspended(msgspec.Struct, frozen=True):
    """The call waits for an answer that will come elsewhere (B-14)."""

    ticket: str
    """What `resume` takes, here or in another process."""
    tool: str
    expires: float
    """Unix time after which the ticket counts as answered no."""
