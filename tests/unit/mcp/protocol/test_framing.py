"""Frames out of a byte stream."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.framing import HEAD, TAIL, Frame, LineFramer, Oversized

LINES = st.lists(
    st.one_of(
        st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"")),
        st.sampled_from([b"", b" ", b"\r", b"{}", b"{}\r", b"x" * 33, b"x" * 32 + b"\r", b"\r\r"]),
    ),
    max_size=8,
)


def cut(data: bytes, at: list[int]) -> list[bytes]:
    """The pieces of `data` between the given offsets."""
    edges = [0, *sorted(min(offset, len(data)) for offset in at), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def frames_of(pieces: list[bytes], limit: int) -> list[Frame]:
    """All frames of a stream that comes in these pieces."""
    framer = LineFramer(limit)
    found = [frame for piece in pieces for frame in framer.feed(piece)]
    last = framer.rest()
    return found if last is None else [*found, last]


@given(LINES, st.booleans(), st.lists(st.integers(0, 400), max_size=12), st.integers(1, 40))
def test_any_split_gives_the_same_frames(
    lines: list[bytes], ended: bool, at: list[int], limit: int
) -> None:
    """Where a stream is cut into pieces makes no difference, at any limit."""
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    assert frames_of(cut(data, at), limit) == frames_of([data], limit)


@given(st.integers(HEAD - 5, HEAD + 2000), st.lists(st.integers(0, HEAD + 2000), max_size=6))
def test_any_split_keeps_the_same_ends_of_a_huge_frame(size: int, at: list[int]) -> None:
    """What is kept of a frame over the limit does not depend on the pieces either."""
    data = bytes(33 + i % 90 for i in range(size)) + b"\r\n"
    assert frames_of(cut(data, at), 100) == frames_of([data], 100)


@given(LINES)
def test_frames_are_the_lines(lines: list[bytes]) -> None:
    """Each line is one frame in order, its carriage return stripped; blank ones are dropped."""
    stripped = [line[:-1] if line.endswith(b"\r") else line for line in lines]
    expected = [line for line in stripped if line and not line.isspace()]
    assert frames_of([b"\n".join(lines)], 1000) == expected


def test_two_frames_in_one_piece_and_one_frame_in_two() -> None:
    """Frames come out as soon as their newline is there, and not before."""
    framer = LineFramer()
    assert framer.feed(b'{"a":1}\n{"b":2}\n{"c"') == [b'{"a":1}', b'{"b":2}']
    assert framer.feed(b":3}") == []
    assert framer.feed(b"\n") == [b'{"c":3}']


def test_a_carriage_return_alone_stays_in_the_frame() -> None:
    """Only the one before the newline belongs to the line end; others are JSON white space."""
    assert LineFramer().feed(b"{\r}\r\n") == [b"{\r}"]


def test_an_unterminated_last_frame_is_delivered_once() -> None:
    """A server that exits without the last newline has still answered (PB-008)."""
    framer = LineFramer()
    assert framer.feed(b'{"id":1}') == []
    assert framer.rest() == b'{"id":1}'
    assert framer.rest() is None


def test_every_kind_of_buffer_is_taken() -> None:
    """A bytearray that is used again afterwards does not change the frames."""
    framer = LineFramer()
    buffer = bytearray(b"abc")
    assert framer.feed(buffer) == []
    buffer[:] = b"xyz"
    assert framer.feed(memoryview(b"\n")) == [b"abc"]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("size", [99, 100, 101, 102, 5000])
def test_the_limit_counts_the_frame_without_its_line_end(size: int, ending: bytes) -> None:
    """A frame of exactly the limit passes, one byte more is refused with its true size."""
    (frame,) = LineFramer(100).feed(b"x" * size + ending)
    if size <= 100:
        assert frame == b"x" * size
    else:
        assert isinstance(frame, Oversized)
        assert frame.size == size


def test_an_oversized_frame_keeps_both_ends_and_the_next_frame_is_whole() -> None:
    """Its beginning and its end are kept (an id may stand in either), then all goes on."""
    framer = LineFramer(10_000)
    for _ in range(20):
        assert framer.feed(b"a" * 1000) == []
    frames = framer.feed(b"END\nnext\n")
    assert isinstance(frames[0], Oversized)
    assert frames[0].size == 20_003
    head, tail = frames[0].head.split(b"\n")
    assert head == b"a" * (HEAD - TAIL - 1)
    assert tail == b"a" * (TAIL - 3) + b"END"
    assert frames[1:] == [b"next"]


def test_memory_of_an_endless_line_is_bounded() -> None:
    """Past the limit a line is counted and not kept."""
    framer = LineFramer(100_000)
    for _ in range(1000):
        framer.feed(b"x" * 10_000)
    kept = framer.rest()
    assert isinstance(kept, Oversized)
    assert kept.size == 10_000_000
    assert len(kept.head) == HEAD


def test_long_lines_cost_linear_time() -> None:
    """32 MB in pieces of 1 KiB take a fraction of a second; copying what is there each time or
    searching it again would move 500 GB.
    """
    piece = b"x" * 1024
    framer = LineFramer()
    start = time.perf_counter()
    for _ in range(32_000):
        framer.feed(piece)
    (frame,) = framer.feed(b"\n")
    assert time.perf_counter() - start < 5
    assert frame == piece * 32_000


def test_a_limit_below_one_byte_is_refused() -> None:
    """A framer that could never deliver a frame is a mistake of ours."""
    with pytest.raises(ValueError, match="at least 1 byte"):
        LineFramer(0)
