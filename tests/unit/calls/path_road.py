"""What the tests of paths on the road are written with: a project's rules, and scripted tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from lockgate.calls.call import Call
from lockgate.decision import Decision
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import RuleSet
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind
from lockgate.tools.subject import Subject, SubjectKind
from lockgate.traits import SideEffectLevel

READ = SideEffectLevel.READ_ONLY
PATHS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
SCHEMA = {"type": "object", "properties": {"path": PATHS, "to": {"type": "string"}}}


class MakeRoad(Protocol):
    """The fixture `make_road`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Road: ...


def rules(project: Path, *, destructive: bool = False, **lists: list[str]) -> RuleSet:
    """Rules that start from the project: `allow=[...]`, `ask=[...]`, `deny=[...]`."""
    return RuleSet(
        tuple(
            parse_rule(
                text,
                Decision[name.upper()],
                places=Places(str(project)),
                destructive=destructive and name == "allow",
            )
            for name, texts in lists.items()
            for text in texts
        )
    )


def reader(name: str = "Read") -> ScriptedTool:
    """A tool of ours that reads one path."""
    subject = Subject(SubjectKind.PATH, "path")
    return ScriptedTool(name, level=READ, subjects=(subject,), input_schema=SCHEMA)


def writer(name: str = "Write") -> ScriptedTool:
    """A tool of ours that writes one path."""
    subject = Subject(SubjectKind.PATH, "path", writes=True)
    return ScriptedTool(name, subjects=(subject,), input_schema=SCHEMA)


async def kind_of(road: Road, call: Call) -> ErrorKind | None:
    """How a call ends: None for a success."""
    return (await road.invoke(call)).kind
