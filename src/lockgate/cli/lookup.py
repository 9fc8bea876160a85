"""Finding a tool by the name on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockgate.app.gate import Gate
from lockgate.calls.explain import Explanation


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
