"""Server-sent events: the standard's examples, every way to cut a stream, what is bounded."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.framing import HEAD, Oversized
from lockgate.mcp.protocol.sse import EventStream, ServerEvent


def events(stream: bytes, limit: int = 1_000) -> list[ServerEvent]:
    """What a stream holds, fed whole."""
    found = EventStream(limit).feed(stream)
    assert all(isinstance(event, ServerEvent) for event in found)
    return [event for event in found if isinstance(event, ServerEvent)]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\n", [("message", b"a")]),
        (b"data:a\n\n", [("message", b"a")]),
        (b"data:  a\n\n", [("message", b" a")]),
        (b"data: a\r\n\r\n", [("message", b"a")]),
        (b"data: a\r\r", [("message", b"a")]),
        (b"data: a\ndata: b\n\n", [("message", b"a\nb")]),
        (b"data\ndata\n\n", [("message", b"\n")]),
        (b"data\n\n", []),
        (b"data:\n\n", []),
        (b": a comment\n\n", []),
        (b":\r\n\r\ndata: a\n\n", [("message", b"a")]),
        (b"event: endpoint\ndata: /m\n\ndata: x\n\n", [("endpoint", b"/m"), ("message", b"x")]),
        (b"event: e\n\ndata: x\n\n", [("message", b"x")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("message", b"a")]),
        (b"data: \xef\xbb\xbf\n\n", [("message", b"\xef\xbb\xbf")]),
        (b"database: a\nDATA: b\n data: c\n\n", []),
        (b"data: unfinished", []),
        (b"data: unfinished\n", []),
        (b"data: a:b\n\n", [("message", b"a:b")]),
        (b"data: \xff\x00\n\n", [("message", b"\xff\x00")]),
        (b"\n\n\n", []),
        (b"", []),
    ],
)
def test_what_a_stream_holds(stream: bytes, expected: list[tuple[str, bytes]]) -> None:
    """WHATWG HTML, 9.2.6; names of fields are exact, one space after the colon is dropped."""
    assert [(event.type, event.data) for event in events(stream)] == expected


def test_an_id_is_kept_once_its_event_is_whole() -> None:
    """Also of an event without data, which is how a legacy server primes a client."""
    stream = EventStream()
    stream.feed(b"id: 1\ndata:\n")
    assert stream.last_id is None
    stream.feed(b"\nid: 2\nretry: 250\n")
    assert (stream.last_id, stream.retry) == ("1", 0.25)
    stream.feed(b"\n")
    assert stream.last_id == "2"
    stream.feed(b"id: 3\0\nretry: soon\nretry: -1\nretry: 99999999\n\n")
    assert (stream.last_id, stream.retry) == ("2", 0.25)
    stream.feed(b"id\n\n")
    assert stream.last_id == ""


LINES = st.lists(
    st.sampled_from(
        [b"data: a", b"data:bc", b"data", b"data: " + b"x" * 30, b"", b"", b": c", b"event: e",
         b"id: 7", b"id:", b"retry: 10", b"what", b"data: d\xc3\xa9", b"datum: 1"]
    ),
    max_size=25,
)  # fmt: skip
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


def plainly(stream: bytes) -> list[tuple[str, bytes]]:
    """The same, written as the standard reads, over a stream that is here in whole."""
    lines = re.split(rb"\r\n|\n|\r", stream)[:-1]
    found: list[tuple[str, bytes]] = []
    kind, data = "", list[bytes]()
    for line in lines:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            text = b"\n".join(data)
            if text or (data and kind not in ("", "message")):
                found.append((kind or "message", text))
            kind, data = "", []
        elif name == b"data":
            data.append(value)
        elif name == b"event":
            kind = value.decode()
    return found


@given(LINES, st.data(), st.booleans())
def test_how_it_is_cut_does_not_matter(lines: list[bytes], data: st.DataObject, mark: bool) -> None:
    """Whole, byte by byte, or anywhere: the same events, the ones a plain reading finds."""
    body = b"".join(line + data.draw(ENDS) for line in lines)
    # Which line ends meet at random may make one of two: the plain reading sees the same bytes.
    stream = (b"\xef\xbb\xbf" if mark else b"") + body
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    expected = plainly(body)
    for fed in ([stream], pieces, [bytes([byte]) for byte in stream]):
        parser = EventStream(200)
        found = [event for piece in fed for event in parser.feed(piece)]
        assert [(e.type, e.data) for e in found if isinstance(e, ServerEvent)] == expected


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_an_event_over_the_limit_passes_by(size: int) -> None:
    """Its beginning and its length are told, its neighbours arrive."""
    body = b"x" * 9_000
    stream = b"data: a\n\ndata: " + body + b"\ndata: y\n\ndata: b\n\n"
    parser = EventStream(100)
    found = [e for i in range(0, len(stream), size) for e in parser.feed(stream[i : i + size])]
    first, over, last = found
    assert (first, last) == (ServerEvent("message", b"a"), ServerEvent("message", b"b"))
    assert over == Oversized(over.head if isinstance(over, Oversized) else b"", 9_002, 100)
    assert isinstance(over, Oversized)
    assert body.startswith(over.head.rstrip(b"\ny"))
    assert len(over.head) <= HEAD


def test_many_lines_count_together() -> None:
    """The limit is for the event, however many lines it comes in."""
    parser = EventStream(10)
    assert parser.feed(b"data: 12345\ndata: 1234\n\n") == [ServerEvent("message", b"12345\n1234")]
    (over,) = parser.feed(b"data: 12345\ndata: 12345\n\n")
    assert isinstance(over, Oversized)
    assert over.size == 11


def test_a_long_event_costs_its_length() -> None:
    """Four times the length in small pieces is not sixteen times the time."""

    def spent(length: int) -> float:
        stream = b"data: " + b"x" * length + b"\n\n"
        parser = EventStream()
        before = time.process_time()
        for start in range(0, len(stream), 1_000):
            parser.feed(stream[start : start + 1_000])
        return time.process_time() - before

    small = min(spent(1_000_000) for _ in range(3))
    assert min(spent(4_000_000) for _ in range(3)) < 10 * small + 0.02


@given(st.binary(max_size=300))
def test_anything_can_be_fed(data: bytes) -> None:
    """Whatever comes, it is read or passed over."""
    parser = EventStream(20)
    for byte in data:
        parser.feed(bytes([byte]))
