"""Definitions of sub-agents: from Markdown, and by a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lockgate.agent.definitions.document import parse_document
from lockgate.agent.subagents.definition import GENERAL, AgentDefinition
from lockgate.agent.subagents.reading import read_definition
from lockgate.errors import ConfigError
from lockgate.traits import SideEffectLevel


def read(front: str, body: str = "You review.") -> AgentDefinition:
    """The definition with this front matter."""
    text = f"---\n{front}\n---\n{body}\n"
    return read_definition(parse_document(text.encode(), Path("/p/agents/x.md")))


def test_a_whole_definition() -> None:
    """Every key, those that people know from other programs among them."""
    found = read(
        "name: reviewer\ndescription: Reviews\n  changes.\ntools: Read, mcp__git__*\n"
        "model: scripted:r.yaml\nceiling: read-only\n"
        "limits: {iterations: 5, seconds: 60, tokens: 9}"
    )
    assert found == AgentDefinition(
        "reviewer",
        "Reviews changes.",
        "You review.",
        ("Read", "mcp__git__*"),
        SideEffectLevel.READ_ONLY,
        "scripted:/p/agents/r.yaml",
        5,
        60,
        9,
        Path("/p/agents/x.md"),
    )
    assert "You review" not in repr(found)


def test_what_is_left_out_is_its_parents() -> None:
    """Two keys and a text are enough; `inherit` is what leaving the model out means."""
    for front in ("name: a\ndescription: b", "name: a\ndescription: b\nmodel: inherit"):
        found = read(front)
        assert (found.tools, found.ceiling, found.model) == (None, None, None)
        assert (found.iterations, found.seconds, found.tokens) == (None, None, None)
    assert read("name: a\ndescription: b\ntools: []").tools == ()


def test_everything_wrong_is_told_at_once() -> None:
    """Also what another program would take, with what to write here."""
    with pytest.raises(ConfigError) as caught:
        read(
            "name: A\ndescripton: b\ntools: [Bash(git:*), mcp__]\nmodel: sonnet\nceiling: reading\n"
            "permissionMode: bypassPermissions\ndisallowedTools: Bash\nlimits: {iterations: -1}",
            "",
        )
    said = str(caught.value)
    for part in (
        "'A' is no usable name",
        "descripton: unknown key\n  did you mean description?",
        "description: is missing",
        "tools: 'Bash(git:*)' at character",
        "tools: 'mcp__' at character",
        "model: names no usable model",
        "ceiling: unknown value 'reading'",
        "permissionMode: unknown key\n  answers are given by rules and people",
        "disallowedTools: unknown key\n  name the tools",
        "limits.iterations: must be a whole number",
        "has no instructions",
    ):
        assert part in said


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "A b"},
        {"description": " "},
        {"description": "x" * 2001},
        {"instructions": ""},
        {"tools": ("a(",)},
        {"iterations": 0},
        {"seconds": float("nan")},
        {"tokens": -1},
    ],
)
def test_a_program_can_say_no_more_than_a_file(wrong: dict[str, Any]) -> None:
    """The value checks itself."""
    good: dict[str, Any] = {"name": "a", "description": "b", "instructions": "c"}
    AgentDefinition(**good)
    with pytest.raises(ValueError, match=r"."):
        AgentDefinition(**{**good, **wrong})


def test_the_one_that_is_there_anyway() -> None:
    """It wishes for nothing, and so has what its parent has."""
    assert (GENERAL.name, GENERAL.tools, GENERAL.ceiling) == ("general", None, None)
