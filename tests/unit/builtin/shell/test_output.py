"""What is kept of a command's output, and what is said of the rest."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.builtin.shell.output import Output


def kept(data: bytes, *, head: int = 8, tail: int = 8, piece: int = 3) -> str:
    """The text of an output that came in pieces."""
    output = Output(head, tail)
    for at in range(0, len(data), piece):
        output.feed(data[at : at + piece])
    return output.text


def test_all_of_a_short_output_is_kept() -> None:
    """Up to both bounds together nothing is left out; the last line end is no line."""
    assert kept(b"0123456789abcdef") == "0123456789abcdef"
    assert kept(b"one\ntwo\n") == "one\ntwo"
    assert kept(b"") == ""


def test_of_a_long_output_both_ends_are_kept() -> None:
    """How many bytes are gone stands where they were."""
    data = b"begin..." + b"x" * 1000 + b"...the-end"[-8:]
    assert kept(data) == "begin...\n[... 1000 bytes are left out here ...]\n.the-end"


@given(st.binary(max_size=400), st.integers(1, 50), st.integers(1, 20), st.integers(1, 20))
def test_pieces_make_no_difference(data: bytes, piece: int, head: int, tail: int) -> None:
    """However it comes, the same is kept, and what is kept and what is gone add up."""
    text = kept(data, head=head, tail=tail, piece=piece)
    assert text == kept(data, head=head, tail=tail, piece=max(1, len(data)))
    note = re.search(r"\[\.\.\. (\d+) bytes are left out here", text)
    gone = max(0, len(data) - head - tail)
    assert (int(note[1]) if note else 0) == gone or b"[..." in data


def test_no_character_is_cut_in_two() -> None:
    """What is left out begins and ends between two characters, as far as it can be seen."""
    text = kept("ééééé".encode() + "ü".encode() * 100 + "ééééé".encode(), head=7, tail=7)
    assert text.startswith("ééé\n[... ")
    assert text.endswith("]\nééé")
    assert "\ufffd" not in text


def test_what_is_no_utf_8_is_replaced() -> None:
    """Any bytes can be shown."""
    assert kept(b"a\xff\xfeb") == "a\ufffd\ufffdb"


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[2J\x1b[1;1Hclear", "clear"),
        ("\x1b(Bplain\x1b=", "plain"),
        ("\x1b]never ended", "never ended"),
        ("tab\tand\rreturn\x00", "tab\tand\rreturn\x00"),
        ("zero\u200bwidth \u202eturned", "zero\u200bwidth \u202eturned"),
    ],
)
def test_what_a_terminal_obeys_is_taken_out(printed: str, shown: str) -> None:
    """Colours and cursor movements say nothing to a model; all other characters are data."""
    assert kept(printed.encode(), head=100) == shown
