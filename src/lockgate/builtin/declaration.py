"""What every tool of ours says of itself: each axis in plain words, with its reason (S0-16)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeAlias

from lockgate.content import JSONObject
from lockgate.tools.declared import DeclaredTool
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.origin import Origin
from lockgate.tools.subject import Subject
from lockgate.tools.tool import ToolDefinition
from lockgate.traits import SideEffectLevel

Axis: TypeAlias = tuple[bool, str]
"""Yes or no, and why."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """All five axes. None has a default, so none can be forgotten."""

    level: tuple[SideEffectLevel, str]
    destructive: Axis
    idempotent: Axis
    concurrent: Axis
    interruptible: Axis

    def __post_init__(self) -> None:
        for axis in fields(self):
            if not getattr(self, axis.name)[1].strip():
                raise ValueError(f"the axis {axis.name} is declared without a reason")

    @property
    def reasons(self) -> dict[str, str]:
        """Why, by the name of the axis."""
        return {axis.name: getattr(self, axis.name)[1] for axis in fields(self)}


class BuiltinTool(DeclaredTool):
    """A tool that comes with lockgate. A subclass implements `_run` and keeps no state."""

    def __init__(
        self,
        name: str,
        description: str,
        input_schema: JSONObject,
        declaration: Declaration,
        *,
        title: str,
        category: str,
        subjects: tuple[Subject, ...] = (),
    ) -> None:
        """Raises `ValueError` for a schema that is open (S0-21) or has not what is a subject."""
        if input_schema.get("additionalProperties") is not False:
            raise ValueError(f"the schema of {name} takes arguments that it does not name")
        missing = {s.parameter for s in subjects} - set(input_schema["properties"])
        if missing:
            raise ValueError(f"{name} has no parameter {', '.join(sorted(missing))}")
        identity = fingerprint(
            {
                "name": name,
                "title": title,
                "description": description,
                "input_schema": input_schema,
                "output_schema": None,
            }
        )
        super().__init__(
            ToolDefinition(
                name,
                description,
                input_schema,
                Origin("builtin", None, name, identity, reasons=declaration.reasons),
                title,
                category=category,
                subjects=subjects,
            ),
            level=declaration.level[0],
            destructive=declaration.destructive[0],
            idempotent=declaration.idempotent[0],
            concurrent=declaration.concurrent[0],
            interruptible=declaration.interruptible[0],
        )
