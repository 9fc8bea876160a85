"""The last words of a program: what it wrote to standard error, line by line, within bounds."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Callable

from lockgate.process.hidden import NOTHING, Hidden

KEPT = 20
"""Lines that are kept."""
WIDTH = 500
"""Bytes of one line that are kept; the rest of it is counted."""


class LastLines:
    """Takes pieces of a stream, hands on its lines, and keeps the last few.

    Both hold readable text: bytes that are no UTF-8 are replaced, and what would move a cursor,
    change a colour or turn text around is written out (`\\x1b`, `\\u202e`). What is `hidden` is in
    neither, also where it was cut off, or wrapped over the lines that are kept.
    """

    def __init__(
        self,
        line: Callable[[str], None] | None = None,
        *,
        kept: int = KEPT,
        width: int = WIDTH,
        hidden: Hidden = NOTHING,
    ) -> None:
        """`line` is told every line that is not empty, without its end."""
        self._told = line
        self._hidden = hidden
        self._kept: deque[tuple[bytes, int]] = deque(maxlen=kept)
        """Lines as they came, and how many bytes of each are gone."""
        self._lost = False
        """Whether there were more lines than are kept."""
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
                self._lost = self._lost or len(middle) > (self._kept.maxlen or 0)
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
        lines = [self._decoded(line, dropped) for line, dropped in self._kept]
        if self._unfinished.strip():
            lines.append(self._decoded(self._unfinished, self._dropped, goes_on=True))
        return self._hidden.lines("\n".join(lines), cut_before=self._lost)

    def _grow(self, piece: bytes) -> None:
        room = self._width - len(self._unfinished)
        self._unfinished += piece[:room]
        self._dropped += max(0, len(piece) - room)

    def _line(self, line: bytes, dropped: int) -> None:
        if not line.strip():
            return
        self._lost = self._lost or len(self._kept) == self._kept.maxlen
        self._kept.append((line, dropped))
        if self._told is not None:
            # A value that is wrapped is not whole in any line.
            text = self._decoded(line, dropped, goes_on=True)
            self._told(self._hidden.lines(text, cut_before=True))

    def _decoded(self, line: bytes, dropped: int, *, goes_on: bool = False) -> str:
        # A character that was cut in two would part a value from the rest of it.
        text = getincrementaldecoder("utf-8")("replace").decode(line, final=not dropped).rstrip()
        if goes_on or dropped:
            text = self._hidden.hide(text, cut_after=True)
        return f"{text} … ({dropped} bytes more)" if dropped else text
