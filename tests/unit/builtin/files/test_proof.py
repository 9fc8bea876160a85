"""What was said of a file is proven by its bytes, at their places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lockgate.builtin.files.proof import Proof

CONTENTS = st.lists(st.sampled_from([b"a", b"bb", b"\n", b"\xff", b"\0"]), max_size=20).map(
    b"".join
)


def said(data: bytes, chosen: list[int]) -> Proof:
    """The lines of `data` with these numbers, as they would be reported."""
    proof, offset = Proof(), 0
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        if number in chosen:
            proof.add(offset, number, line)
        offset += len(line)
    return proof


@given(CONTENTS, st.lists(st.integers(1, 6), min_size=1))
def test_what_is_there_is_proven(data: bytes, chosen: list[int]) -> None:
    """Any lines of a file hold in it, and in nothing else if they are all of it."""
    lines = len(data.splitlines())
    some = [number for number in chosen if number <= lines]
    assert said(data, some).holds(data) is bool(some)


@given(CONTENTS, CONTENTS, st.integers(1, 6))
def test_lines_of_another_file_hold_only_where_they_stand_too(
    data: bytes, other: bytes, number: int
) -> None:
    """At the same offset, with the same number."""
    lines = other.splitlines(keepends=True)
    if number > len(lines):
        return
    offset = len(b"".join(lines[: number - 1]))
    line = lines[number - 1]
    there = data[offset:].startswith(line) and data[:offset].count(b"\n") == number - 1
    assert said(other, [number]).holds(data) is there
