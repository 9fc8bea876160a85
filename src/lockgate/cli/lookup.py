"""Finding a tool by the name on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockgate.app.gate import Gate
from lockgate.builtin.catalogue import unable
from lockgate.calls.explain import Explanation
from lockgate.mcp.host.status import ServerState
from lockgate.tools.naming import server_of, server_tool_name


@dataclass(frozen=True, slots=True)
class Explained:
    """An explanation, and what is to be said beside it."""

    explanation: Explanation
    seen: float | None
    """See `last_seen`."""
    left_out: str | None
    """See `left_out`."""
    unsure: bool
    """See `unsure`."""


def schema_of(gate: Gate, name: str) -> Mapping[str, Any] | None:
    """The input schema of the tool registered under exactly `name`, or None."""
    for tool in gate.tools():
        if tool.name == name:
            return tool.definition.input_schema
    return None


def last_seen(gate: Gate, explained: Explanation) -> float | None:
    """When the server of the explained tool was last there, if it was not started now; in seconds
    since 1970. None if it was, or the tool is of no server."""
    origin = explained.origin
    if origin is None or gate.mcp is None:
        return None
    return next((s.seen for s in gate.mcp.statuses if s.name == origin.server), None)


def left_out(gate: Gate, name: str) -> str | None:
    """Why no tool is registered under `name` though its server lists one; None if it lists none."""
    for status in gate.mcp.statuses if gate.mcp is not None else ():
        for out in status.left_out:
            if server_tool_name(status.name, out.tool) == name:
                return f"{status.name} lists {out.tool}, which is left out: {out.reason}"
    return None


def not_there(gate: Gate, name: str) -> str | None:
    """Why the server that `name` speaks of did not start, in one line; None if nothing is wrong."""
    server = server_of(name)
    cause = None if server is None else gate.failed.get(server)
    return None if cause is None else f"{server} is not there: {cause.partition(chr(10))[0]}"


def unfit(gate: Gate, name: str, environ: Mapping[str, str]) -> str | None:
    """Why a tool of ours can not work here; None if it can."""
    why = unable((name,) if name in gate.config.builtin else (), environ).get(name)
    return None if why is None else f"it can not work here: {why}"


def unsure(gate: Gate, name: str) -> bool:
    """Whether nothing is known of `name`, and a server that was not started may have it by now."""
    statuses = gate.mcp.statuses if gate.mcp is not None else ()
    known = left_out(gate, name) is not None or any(tool.name == name for tool in gate.tools())
    return not known and any(status.state is ServerState.LAST_SEEN for status in statuses)
