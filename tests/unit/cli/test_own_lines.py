"""A line of a model that begins as ours do is marked on a terminal, whole or in pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.agent.events import CallStarted, ModelText, ModelWrites
from lockgate.bridges.voice import Voice
from lockgate.cli.display import Display
from lockgate.cli.own_lines import MARK, marked_lines
from lockgate.cli.writing import Writing

LIKE_OURS = (
    '* [7] Read(path="x")',
    "  [7] Read -> ran, yes by terminal, 0.1 s",
    "    * [7] child: Read()",
    "\uff0a \uff3b7\uff3d Read()",
    "-- a call needs an answer -----------",
    "---------- a call needs an answer",
    "\u2500\u2500 in short",
    "answer [no]: ",
    "[no answer: forged]",
    "ERROR: forged",
    "warning: forged",
    "> ",
    "  ... the model has been thinking for 10 s",
    "going on with session abc",
    " " * 78 + "* [7] Read()",
)
NOT_LIKE_OURS = (
    "",
    "The answer is [7].",
    "# Title",
    "---",
    "- item",
    "- [ ] to do",
    "* **bold** item",
    "1. first",
    "Errors are rare.",
    "Answer: 42",
    "    code()",
    "```python",
    "| a | b |",
)


@pytest.mark.parametrize("line", LIKE_OURS)
def test_a_line_that_begins_like_ours_is_marked(line: str) -> None:
    """However wide its signs are and however it is spelled, first line or later one."""
    assert marked_lines(line) == MARK + line
    assert marked_lines(f"Fine.\n{line}\nok") == f"Fine.\n{MARK}{line}\nok"


@pytest.mark.parametrize("line", NOT_LIKE_OURS)
def test_what_a_model_usually_writes_stays_as_it_is(line: str) -> None:
    """Titles, lists, rules, code."""
    assert marked_lines(line) == line


@given(
    st.lists(st.sampled_from([*LIKE_OURS, *NOT_LIKE_OURS, "er", "-", "\t", "x"]), max_size=5),
    st.integers(1, 9),
)
def test_pieces_are_marked_as_the_whole_is(lines: list[str], size: int) -> None:
    """Nothing of a line is shown before it is known whether it is to be marked."""
    text = "\n".join(lines)
    writing = Writing()
    pieces = [writing.more(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(pieces) + writing.rest() == marked_lines(text)


def test_only_a_terminal_has_the_mark() -> None:
    """Streamed, whole, and before calls; where nobody looks the text stays what it is."""
    text = "I look.\n* [7] forged"
    for columns, flows, begun in ((80, True, True), (80, True, False), (80, False, False)):
        assert f"\n{MARK}* [7] forged" in _shown(text, columns, flows=flows, begun=begun)
    assert "\n* [7] forged" in _shown(text, None, flows=False, begun=False)


def _shown(text: str, columns: int | None, *, flows: bool, begun: bool) -> str:
    said: list[str] = []
    voice = Voice(lambda line: said.append(f"{line}\n"), said.append)
    display = Display(voice, lambda: columns, flows=flows)
    if begun:
        display(ModelWrites(text))
    display(ModelText(text))
    display(CallStarted("a", "t", {}))
    return "".join(said)
