"""The last words of a program: what it wrote to standard error, line by line, within bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from lockgate.showing import visible

KEPT = 20
"""Lines that are kept."""
WIDTH = 500
"""Bytes of one line that are kept; the rest of it is counted."""


class LastLines:
    """Takes pieces of a stream, hands on its lines, and keeps the last few.

    Both hold readable text: bytes that are no UTF-8 are replaced, and what would move a cursor,
    change a colour or turn text around is written out (`\\x1b`, `\\u202e`).
    """

    def __init__(
        self, line: Callable[[str], None] | None = None, *, kept: int = KEPT, width: int = WIDTH
    ) -> None:
        """`line` is told every line that is not empty, without its end."""
        self._told = line
        self._kept: deque[str] = deque(maxlen=kept)
        self._width = width
        self._unfinished = b""
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Take the next piece, of any length. Costs no more memory than the bounds allow."""
        lines = data.split(b"\n")
        if len(lines) > 1:
            self._grow(lines[0])
            self.end()
            middle = lines[1:-1]
            if self._told is None:
                middle = middle[-(self._kept.maxlen or 0) :]  # nobody would see the others
            for line in middle:
                self._line(line[: self._width], max(0, len(line) - self._width))
        self._grow(lines[-1])

    def end(self) -> None:
        """The stream, or a line of it, has ended."""
        unfinished, dropped = self._unfinished, self._dropped
        self._unfinished, self._dropped = b"", 0
        self._line(unfinished, dropped)

    def text(self) -> str:
        """What is kept, the unfinished line included; empty if there was nothing."""
        lines = [*self._kept]
        if self._unfinished.strip():
            lines.append(_shown(self._unfinished, self._dropped))
        return "\n".join(lines)

    def _grow(self, piece: bytes) -> None:
        room = self._width - len(self._unfinished)
        self._unfinished += piece[:room]
        self._dropped += max(0, len(piece) - room)

    def _line(self, line: bytes, dropped: int) -> None:
        if not line.strip():
            return
        text = _shown(line, dropped)
        self._kept.append(text)
        if self._told is not None:
            self._told(text)


def _shown(line: bytes, dropped: int) -> str:
    text = visible(line.decode("utf-8", "replace").rstrip())
    return f"{text} … ({dropped} bytes more)" if dropped else text
