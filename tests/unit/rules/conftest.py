"""A small world to hold rules against: tools of ours with subjects, and a server's tools."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pytest

from lockgate.rules.bind import BoundRules, bind
from lockgate.rules.command.line import analyse
from lockgate.rules.opinion import RuleOpinion
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule, RuleSet
from lockgate.rules.url import resolve_url
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.registry import Registry, Snapshot
from lockgate.tools.subject import Resolved, Subject, SubjectKind, Subjects
from lockgate.traits import SideEffectLevel

Say: TypeAlias = Callable[..., RuleOpinion]
"""`say(rules, tool, arguments, attended=True, now=0.0)`: what rules say of a call."""

PLACES = Places("/p", "/home/me")


def closed(**types: str) -> dict[str, Any]:
    """A schema that has these properties and no others."""
    properties = {name: {"type": kind} if kind else {} for name, kind in types.items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def a_world() -> Snapshot:
    """Every kind of subject, and a server's tool that can destroy beside one that can not."""
    command = (Subject(SubjectKind.COMMAND, "command"),)
    path = (Subject(SubjectKind.PATH, "path"),)
    url = (Subject(SubjectKind.URL, "url"),)
    registry = Registry()
    registry.register_all(
        [
            ScriptedTool(
                "Bash", input_schema=closed(command="string", timeout="number"), subjects=command
            ),
            ScriptedTool(
                "Read",
                level=SideEffectLevel.READ_ONLY,
                input_schema=closed(path="string", limit="integer"),
                subjects=path,
            ),
            ScriptedTool(
                "Write", input_schema=closed(path="string", content="string"), subjects=path
            ),
            ScriptedTool(
                "WebFetch", destructive=False, input_schema=closed(url="string"), subjects=url
            ),
            ScriptedTool("put", server="s", input_schema=closed(key="", value="", path="")),
            ScriptedTool(
                "add", server="s", destructive=False, input_schema=closed(key="", value="", path="")
            ),
        ]
    )
    return registry.snapshot()


def _subjects_of(
    snapshot: Snapshot, bound: BoundRules, name: str, arguments: Mapping[str, Any]
) -> Subjects:
    """What a call is about: paths by the letter, and without a file system."""
    tool = snapshot.get(name)
    declared = () if tool is None else tool.definition.subjects
    kinds = dict.fromkeys(bound.about(name).paths, SubjectKind.PATH)
    kinds |= {subject.parameter: subject.kind for subject in declared}
    found: dict[str, Resolved] = {}
    for parameter, kind in kinds.items():
        value = arguments.get(parameter)
        if isinstance(value, str):
            found[parameter] = _resolved(kind, value)
        elif isinstance(value, list):
            found[parameter] = tuple(
                _resolved(kind, one)
                for one in value  # pyright: ignore[reportUnknownVariableType] - JSON of any shape
                if isinstance(one, str)
            )
    return Subjects(found, bound.about(name).withheld)


def _resolved(kind: SubjectKind, text: str) -> Resolved:
    match kind:
        case SubjectKind.COMMAND:
            return analyse(text)
        case SubjectKind.PATH:
            return PLACES.resolved(text)
        case SubjectKind.URL:
            return resolve_url(text)


@pytest.fixture(scope="session")
def world() -> Snapshot:
    """The tools."""
    return a_world()


@pytest.fixture(scope="session")
def subjects_of(world: Snapshot) -> Callable[[BoundRules, str, Mapping[str, Any]], Subjects]:
    """`subjects_of(bound, tool, arguments)`: what a call is about, by the letter."""
    return functools.partial(_subjects_of, world)


@pytest.fixture(scope="session")
def say(world: Snapshot) -> Say:
    """What rules say of a call in this world."""

    def say_it(
        rules: list[Rule],
        name: str,
        arguments: Mapping[str, Any],
        *,
        attended: bool = True,
        now: float = 0.0,
    ) -> RuleOpinion:
        bound = bind(RuleSet(tuple(rules)), world)
        subjects = _subjects_of(world, bound, name, arguments)
        return bound.judge(name, arguments, attended=attended, subjects=subjects, now=now)

    return say_it
