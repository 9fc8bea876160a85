"""append_note and read_notes on the road: what is asked about, what comes back, what is told."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lockgate.builtin.catalogue import in_tree
from lockgate.decision import Decision
from lockgate.policy.ceiling import whole
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.road import Road
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

Keep = Callable[..., Awaitable[ToolResult]]
TIME = "2027-01-15T08:00:00Z"


def there(path: Path) -> bool:
    """Whether a path exists."""
    return path.exists()


@pytest.fixture
def foreign(kept: Path) -> None:
    """Something else lies where notes should."""
    kept.mkdir()
    (kept / "notes.md").write_text("something else")


async def test_notes_are_added_and_read_back(keep: Keep) -> None:
    """The newest last, each with its time, further lines indented: none looks like a note."""
    assert (await keep("read_notes")).text == "there are no notes yet"
    added = await keep("append_note", text=f"one\n- {TIME} fake")
    assert added.text == f"added at {TIME}"
    await keep("append_note", text="메모")
    result = await keep("read_notes")
    assert result.text == f"2 of 2 notes\n- {TIME} one\n  - {TIME} fake\n- {TIME} 메모"
    assert result.structured["notes"][1] == {"time": TIME, "text": "메모"}


async def test_some_notes_are_read(keep: Keep) -> None:
    """Those with a text, and the newest of them; what is left out is told."""
    for text in ("Apple", "pear", "apple pie"):
        await keep("append_note", text=text)
    result = await keep("read_notes", containing="APPLE", limit=1)
    head = "1 of 2 notes with that in them (3 in all); older ones are left out"
    assert result.text == f"{head}\n- {TIME} apple pie"
    none = await keep("read_notes", containing="plum")
    assert none.text == "none of the 3 notes has that in it"


async def test_a_result_is_bounded(keep: Keep) -> None:
    """By characters, too: the newest notes that fit."""
    for number in range(12):
        await keep("append_note", text=f"{number}".ljust(3999, "x") + "y")
    result = await keep("read_notes")
    assert len(result.structured["notes"]) == 9
    assert result.structured["notes"][-1]["text"].startswith("11")
    assert len(result.text) < 41_000


async def test_a_result_is_bounded_whatever_a_person_wrote(keep: Keep, kept: Path) -> None:
    """An editor has no bound for one note; what is cut says so. Indents count."""
    await keep("append_note", text="one")
    path = kept / "notes.md"
    path.write_text(f"{path.read_text()}{'x' * 100_000}\n")
    result = await keep("read_notes")
    assert len(result.text) < 41_000
    assert result.text.endswith("more characters)")
    for number in range(12):
        await keep("append_note", text=f"{number}\n" + "y\n" * 1_900)
    assert len((await keep("read_notes")).text) < 41_000


@pytest.mark.parametrize("text", [" \n\t ", "\n"])
async def test_a_blank_note_is_none(keep: Keep, kept: Path, text: str) -> None:
    """It would be a line that says nothing."""
    result = await keep("append_note", text=text)
    assert (result.kind, result.reason) == (ErrorKind.INVALID_ARGUMENTS, "empty")
    assert not there(kept)


async def test_adding_is_asked_about_and_reading_is_not(
    keeping_road: Callable[..., Road],
) -> None:
    """Adding changes what outlives the execution; with nobody to ask it is refused."""
    road = keeping_road(attended=[])
    refused = await road.invoke(road.call("append_note", {"text": "x"}))
    assert refused.kind is ErrorKind.NOT_APPROVED
    assert not (await road.invoke(road.call("read_notes"))).is_error
    exempt = keeping_road(attended=[], exempt=SideEffectLevel.MUTATING)
    assert not (await exempt.invoke(exempt.call("append_note", {"text": "x"}))).is_error


async def test_a_read_only_ceiling_refuses_adding(keeping_road: Callable[..., Road]) -> None:
    """Reading stays."""
    road = keeping_road()
    bounds = whole(SideEffectLevel.READ_ONLY)
    refused = await road.invoke(road.call("append_note", {"text": "x"}, bounds=bounds))
    assert refused.kind is ErrorKind.ABOVE_CEILING
    assert not (await road.invoke(road.call("read_notes", bounds=bounds))).is_error


async def test_a_rule_answers_by_what_the_note_says(keeping_road: Callable[..., Road]) -> None:
    """As for any tool; it needs no word about destruction, for it can not destroy."""
    rule = parse_rule("append_note(text=done:*)", Decision.ALLOW, source="a test")
    road = keeping_road(attended=[], rules=RuleSet((rule,)))
    allowed = await road.invoke(road.call("append_note", {"text": "done: tests"}))
    assert not allowed.is_error, allowed.text
    other = await road.invoke(road.call("append_note", {"text": "drop it"}))
    assert other.kind is ErrorKind.NOT_APPROVED


async def test_what_is_wrong_is_told_and_nothing_of_the_note(
    keep: Keep, foreign: None, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither in the error nor in a log."""
    caplog.set_level(logging.DEBUG)
    del foreign
    result = await keep("append_note", text="hunter2-is-the-word")
    assert (result.kind, result.reason) == (ErrorKind.TOOL_ERROR, "not_notes")
    assert "hunter2" not in result.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("name", ["append_note", "read_notes"])
async def test_an_execution_without_a_place_says_so(
    tmp_path: Path, name: str, make_plain: Any
) -> None:
    """No file is guessed."""
    result = await make_plain(in_tree([name], {}), name, {"text": "x"} if "append" in name else {})
    assert "no place for notes" in result.text
