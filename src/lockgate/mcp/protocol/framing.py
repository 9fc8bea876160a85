"""Newline-delimited frames out of a byte stream, in linear time for lines of any length. No I/O.

Rules (2026-07-28, basic/transports/stdio): a frame ends at a newline; a carriage return before it
belongs to the line end; a line of nothing but white space is no frame. A last line without its
newline is still a frame (`rest`), and one over the limit is counted, not kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

LIMIT = 64 * 1024 * 1024
"""Bytes in one frame, its line end not counted."""
HEAD = 4096
"""Bytes kept of a frame over the limit, for messages and to find whom it answers."""
TAIL = 512
"""Of them, those from its end: many servers write the id last."""


@dataclass(frozen=True, slots=True)
class Oversized:
    """A frame over the limit, thrown away as it came in."""

    head: bytes = field(repr=False)
    """Its beginning, a newline (which no frame holds) and its end: at most `HEAD` bytes in all.
    One that is no longer than that is here whole. What `salvage.addressee` takes."""
    size: int
    """Its whole length in bytes."""
    limit: int
    """The bytes that one frame may have."""


Frame: TypeAlias = bytes | Oversized


class LineFramer:
    """Collects pieces of a stream and hands out whole frames, each once and in order."""

    def __init__(self, limit: int = LIMIT) -> None:
        """`limit` is the most bytes that one frame may have; at least 1."""
        if limit < 1:
            raise ValueError("the limit of a frame must be at least 1 byte")
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._tail: bytes | None = None
        """Not None while a frame over the limit passes by; `_pieces` is then its head alone."""

    def feed(self, data: bytes | bytearray | memoryview) -> list[Frame]:
        """Take the next piece of the stream, of any length; return the frames it completes."""
        data = bytes(data)
        end = data.find(b"\n")
        if end == len(data) - 1 and end > 0 and not self._size:
            # One whole line, as most pieces are.
            frame = self._judge(data[:-1])
            return [] if frame is None else [frame]
        if end < 0:
            # The pieces of a long line: kept as they are, looked at once.
            if data:
                self._keep(data)
            return []
        lines = data.split(b"\n")
        unfinished = lines.pop()
        frames: list[Frame] = []
        if lines and self._size:
            self._keep(lines[0])
            lines[0] = b""
            frame = self.rest()
            if frame is not None:
                frames.append(frame)
        limit = self._limit
        for line in lines:
            if line.endswith(b"}") and len(line) <= limit:
                frames.append(line)  # as nearly all end: there is nothing to be cut off or skipped
            elif (frame := self._judge(line)) is not None:
                frames.append(frame)
        if unfinished:
            self._keep(unfinished)
        return frames

    def rest(self) -> Frame | None:
        """What came after the last newline, as a frame; None if that is nothing. Resets."""
        if not self._size:
            return None
        pieces, size, tail = self._pieces, self._size, self._tail
        self._pieces, self._size, self._tail = [], 0, None
        line = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if tail is None:
            return self._judge(line)
        if tail.endswith(b"\r"):
            tail = tail[:-1]
            size -= 1
        return Oversized(excerpt(line[:size], tail, size), size, self._limit)

    def _keep(self, piece: bytes) -> None:
        """Add to the unfinished line; past the limit only its two ends and its length are kept."""
        self._size += len(piece)
        if self._tail is None:
            self._pieces.append(piece)
            # One byte more than the limit may be the carriage return of the line end.
            if self._size > self._limit + 1:
                line = b"".join(self._pieces)
                self._pieces = [line[:HEAD]]
                self._tail = line[-TAIL - 1 :]
            return
        self._tail = (self._tail + piece[-TAIL - 1 :])[-TAIL - 1 :]
        missing = HEAD - len(self._pieces[0])
        if missing:
            self._pieces[0] += piece[:missing]

    def _judge(self, line: bytes) -> Frame | None:
        """One finished line, which is here in whole."""
        if line.endswith(b"\r"):
            line = line[:-1]
        if len(line) > self._limit:
            return Oversized(excerpt(line, line, len(line)), len(line), self._limit)
        return line if line and not line.isspace() else None


def excerpt(head: bytes, tail: bytes, size: int) -> bytes:
    """The two ends of a frame of `size` bytes, for `Oversized.head`; all of it if that is short.

    `head` is its beginning and `tail` its end, each at least as long as is kept of it.
    """
    if size <= HEAD:
        return head
    return head[: HEAD - TAIL - 1] + b"\n" + tail[-TAIL:]
