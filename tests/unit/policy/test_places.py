"""Where a call reaches: which allow rules say so, and which say nothing of it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from lockgate.decision import Decision
from lockgate.policy.places import unspoken
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.matcher import Match, Parameter
from lockgate.rules.rule import Rule
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.subject import Resolved, ResolvedPath, Subject, SubjectKind, Subjects


@dataclass(frozen=True)
class AnyPath:
    """A pattern of a path."""

    text: str = "/etc/**"
    kind: SubjectKind = SubjectKind.PATH
    constrains: bool = True

    def allows(self, resolved: Resolved) -> bool:
        return True

    def catches(self, resolved: Resolved) -> Match:
        return Match.YES


@dataclass(frozen=True)
class AnyArgument:
    """A pattern of an argument that is a path."""

    text: str = "path:/etc/**"
    kind: SubjectKind | None = SubjectKind.PATH
    constrains: bool = True

    def allows(self, value: object, resolved: Resolved | None) -> bool:
        return True

    def catches(self, value: object, resolved: Resolved | None) -> Match:
        return Match.YES


SHELL = ScriptedTool(
    "sh", subjects=(Subject(SubjectKind.COMMAND, "line"), Subject(SubjectKind.PATH, "dir"))
)
READER = ScriptedTool("read", subjects=(Subject(SubjectKind.PATH, "dir"),))
OUTSIDE = Subjects({"dir": ResolvedPath("/etc", "/etc", "/etc", None)})
INSIDE = Subjects({"dir": ResolvedPath("x", "/w/x", "/w/x", "/w")})
NAME = Rule(Decision.ALLOW, "read", None, "read")
COMMAND = Rule(Decision.ALLOW, "sh(ls)", None, "sh", subject=CommandPattern.parse("ls"))
PATH = Rule(Decision.ALLOW, "read(/etc/**)", None, "read", subject=AnyPath())
WHERE = Rule(
    Decision.ALLOW, "x(dir=path:/etc)", None, "x", parameters=(Parameter("dir", AnyArgument()),)
)


@pytest.mark.parametrize(
    ("tool", "rules", "expected"),
    [
        (READER, (NAME,), True),
        (READER, (PATH,), False),
        (READER, (WHERE,), False),
        (SHELL, (COMMAND,), True),
        (SHELL, (COMMAND, WHERE), False),
        (SHELL, (), True),
    ],
)
def test_a_rule_answers_for_a_place_outside_only_if_it_names_it(
    tool: ScriptedTool, rules: tuple[Rule, ...], expected: bool
) -> None:
    """A rule for a name or a command says nothing of where; a path, or that argument, does."""
    assert unspoken(tool, OUTSIDE, rules) is expected
    assert not unspoken(tool, INSIDE, rules)
