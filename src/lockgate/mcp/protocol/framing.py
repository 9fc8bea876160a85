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


@dataclass(frozen=True, slots=True)
class Oversized:
    """A frame over the limit, thrown away as it came in."""

    head: bytes = field(repr=False)
    """Its beginning, at most `HEAD` bytes."""
    size: int
    """Its whole length in bytes."""


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

    def feed(self, data: bytes | bytearray | memoryview) -> list[Frame]:
        """Take the next piece of the stream, of any length; return the frames it completes."""
        first, *others = bytes(data).split(b"\n")
        if not others:
            self._keep(first)
            return []
        frames: list[Frame] = []
        last = others.pop()
        if self._size:
            self._keep(first)
            first_frame = self.rest()
            if first_frame is not None:
                frames.append(first_frame)
        else:
            others.insert(0, first)
        for line in others:
            frame = self._whole(line, len(line))
            if frame is not None:
                frames.append(frame)
        self._keep(last)
        return frames

    def rest(self) -> Frame | None:
        """What came after the last newline, as a frame; None if that is nothing. Resets."""
        if not self._size:
            return None
        line = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        size = self._size
        self._pieces = []
        self._size = 0
        return self._whole(line, size)

    def _keep(self, piece: bytes) -> None:
        """Add to the unfinished line; past the limit only its head and its length are kept."""
        if not piece:
            return
        before = self._size
        self._size += len(piece)
        # One byte more than the limit may be the carriage return of the line end.
        if self._size <= self._limit + 1:
            self._pieces.append(piece)
        elif before <= self._limit + 1:
            self._pieces = [_head([*self._pieces, piece])]

    def _whole(self, line: bytes, size: int) -> Frame | None:
        """Judge one finished line of `size` bytes, of which `line` is all, or the head."""
        if size <= self._limit + 1 and line.endswith(b"\r"):
            line = line[:-1]
            size -= 1
        if size > self._limit:
            return Oversized(line[:HEAD], size)
        if not line or line.isspace():
            return None
        return line


def _head(pieces: list[bytes]) -> bytes:
    head = b""
    for piece in pieces:
        head += piece[: HEAD - len(head)]
        if len(head) == HEAD:
            break
    return head
