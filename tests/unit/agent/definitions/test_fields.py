"""The keys of a definition: kinds, bounds, unknown ones, and everything wrong told at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.agent.definitions.document import parse_document
from lockgate.agent.definitions.fields import Fields
from lockgate.errors import ConfigError


def fields(front: str, **told: str) -> Fields:
    """Fields over this front matter."""
    return Fields(parse_document(f"---\n{front}\n---\nBody\n".encode(), Path("x.md")), told=told)


def faults(read: Fields) -> str:
    """What `finish` says."""
    with pytest.raises(ConfigError) as caught:
        read.finish()
    return str(caught.value)


def test_values_of_every_kind() -> None:
    """Text, lists in both forms, switches, numbers, choices, sections; what is absent is None."""
    read = fields(
        "name: a-b2\ntext: >\n  two\n  lines\nlist: [Read, mcp__git__*]\ncommas: Read, Grep,\n"
        "none: []\non: true\nn: 5\nlevel: read-only\nlimits: {iterations: 3}"
    )
    assert read.name() == "a-b2"
    assert read.text("text") == "two lines"
    assert read.names("list") == ("Read", "mcp__git__*")
    assert read.names("commas") == ("Read", "Grep")
    assert read.names("none") == ()
    assert read.switch("on") is True
    assert read.whole("n", most=10) == 5
    assert read.choice("level", {"read-only": 1}) == 1
    limits = read.section("limits")
    assert limits is not None
    assert limits.whole("iterations", most=9) == 3
    assert read.text("absent") is None
    assert read.names("absent") is None
    read.finish()


def test_an_absent_list_and_an_empty_one_are_not_the_same() -> None:
    """A key with nothing behind it is neither: an offer of everything is never a slip."""
    read = fields("tools:")
    assert read.names("tools") is None
    assert "tools: has no value" in faults(read)


def test_everything_is_told_at_once_in_order() -> None:
    """With line and column of each; unknown keys come with the nearest that is read."""
    read = fields(
        "name: Not A Name\ndescription: 5\ntool: x\nn: 0\non: 'yes'\nlevel: reed-only\n"
        "list: [a, a, 3]\nlimits: {iteration: 1}\ncolor: red",
        color="a color has no meaning here",
    )
    read.name()
    read.text("description")
    read.names("tools")
    read.whole("n", most=5)
    read.switch("on")
    read.choice("level", {"read-only": 1, "mutating": 2})
    read.names("list")
    inner = read.section("limits")
    assert inner is not None
    inner.whole("iterations", most=5)
    read.text("body", required=True)
    said = faults(read)
    for part in (
        "x.md:2:1: body: is missing",
        "x.md:2:7: name: 'Not A Name' is no usable name",
        "x.md:3:14: description: must be text, not a number\n  put it in quotes",
        "tool: unknown key\n  did you mean tools?",
        "n: must be a whole number from 1 to 5",
        "on: must be true or false, not text",
        "level: unknown value 'reed-only'\n  did you mean read-only?",
        "list: must be a list of names; one of them is a number",
        "list: 'a' stands twice",
        "limits.iteration: unknown key\n  did you mean iterations?",
        "color: unknown key\n  a color has no meaning here",
    ):
        assert part in said


@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a--b", "a/b", "../a", "a" * 65, "ä"])
def test_names_are_small_letters_and_hyphens(name: str) -> None:
    """They stand in prompts, records and questions: nothing in them may mislead."""
    read = fields(f'name: "{name}"')
    read.name()
    assert "name:" in faults(read)


def test_texts_are_bounded() -> None:
    """A description is told to the model every time."""
    read = fields("description: " + "x" * 3000)
    assert read.text("description") is None
    assert "over 2000 characters" in faults(read)


def test_what_is_wrong_is_told_in_short() -> None:
    """A word of any length is no wall of text."""
    read = fields(f"? {'x' * 100_000}\n: 1")
    read.wrong("tools", "y" * 100_000)
    assert len(faults(read)) < 1000
