"""A call that someone wants made, and what became of it when it can not be answered yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

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


class Suspended(msgspec.Struct, frozen=True):
    """The call waits for an answer that will come elsewhere (B-14)."""

    ticket: str
    """What `resume` takes, here or in another process."""
    tool: str
    expires: float
    """Unix time after which the ticket counts as answered no."""
