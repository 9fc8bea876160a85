"""Finding a tool by the name on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockgate.app.gate import Gate


def schema_of(gate: Gate, name: str) -> Mapping[str, Any] | None:
    """The input schema of the tool registered under exactly `name`, or None."""
    for tool in gate.tools():
        if tool.name == name:
            return tool.definition.input_schema
    return None
