"""The last words of a program: bounded, readable, whatever it writes."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from lockgate.process.tail import LastLines


def test_lines_are_told_and_the_last_are_kept() -> None:
    """Every line that is not empty, without its end; the tail is the last of them."""
    told: list[str] = []
    lines = LastLines(told.append, kept=2)
    lines.feed(b"one\r\ntwo\n\n  \nth")
    lines.feed(b"ree\nfour")
    assert told == ["one", "two", "three"]
    assert lines.text() == "two\nthree\nfour"
    lines.end()
    assert told[-1] == "four"
    assert lines.text() == "three\nfour"


def test_a_line_without_end_is_cut_and_counted() -> None:
    """A gigabyte without a newline costs no memory, and the text says how much is missing."""
    lines = LastLines(width=10)
    for _ in range(1000):
        lines.feed(b"x" * 1_000_000)
    assert lines.text() == "x" * 10 + " … (999999990 bytes more)"


def test_what_moves_a_cursor_is_written_out() -> None:
    """Escapes, carriage returns inside, and marks that turn text around can be seen."""
    lines = LastLines()
    lines.feed("\x1b[2Ja\rb\x07 \u202egnp.exe\t한글\n".encode() + b"bad \xff\xfe\n")
    bad = "\N{REPLACEMENT CHARACTER}" * 2
    assert lines.text() == r"\x1b[2Ja\rb\x07 \u202egnp.exe\t한글" + f"\nbad {bad}"


@given(st.lists(st.binary(max_size=40)))
def test_pieces_make_no_difference(pieces: list[bytes]) -> None:
    """However the stream is cut."""
    whole, cut = LastLines(kept=3, width=8), LastLines(kept=3, width=8)
    whole.feed(b"".join(pieces))
    for piece in pieces:
        cut.feed(piece)
    whole.end()
    cut.end()
    assert whole.text() == cut.text()


def test_a_flood_is_taken_in_quickly() -> None:
    """Ten megabytes of short lines that nobody reads take well under a second."""
    lines = LastLines()
    begun = time.process_time()
    for _ in range(160):
        lines.feed(b"noise\n" * 11_000)
    assert time.process_time() - begun < 2
    assert lines.text().count("\n") == 19
