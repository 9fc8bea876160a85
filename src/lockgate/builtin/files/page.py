"""Some lines of a text that comes in pieces, numbered, within bounds; the others are counted."""

from __future__ import annotations

from typing import Final

from lockgate.builtin.files.text import LineEnds, line_ends

MAX_LINE: Final = 2000
"""Characters of one line that are shown: whole lines of prose and code, and no minified program."""
MAX_CHARACTERS: Final = 100_000
"""Characters of a page: about 25000 tokens, a good part of what a model takes in at once."""


class Page:
    """Takes a text piece by piece and keeps the lines from `first` on, at most `limit`.

    Costs no more memory than what is kept and one piece.
    """

    def __init__(self, first: int, limit: int) -> None:
        """`first` is a line number, from 1."""
        self._first = first
        self._last = first + limit - 1
        self._lines: list[str] = []
        self._room = MAX_CHARACTERS
        self._number = 1
        """Of the line that the next character belongs to."""
        self._begun = False
        """Whether that line has any character."""
        self._kept = ""
        self._length = 0
        self._held = ""
        """A carriage return that may be half of a line's end."""
        self._crlf = self._lf = 0
        self.cut_lines = 0
        """How many of the lines are longer than is shown."""
        self.full = False
        """Whether there was no room for all that was asked for."""

    def feed(self, piece: str) -> None:
        """Take what follows."""
        piece = self._held + piece
        self._held = "\r" if piece.endswith("\r") else ""
        self._take(piece.removesuffix("\r"))

    def end(self) -> None:
        """The text is at its end."""
        self._take(self._held)
        if self._begun and self._wanted:
            self._finish()

    @property
    def text(self) -> str:
        """The lines, each after its number and a tab."""
        return "\n".join(self._lines)

    @property
    def shown(self) -> int:
        """How many lines there are in `text`."""
        return len(self._lines)

    @property
    def total(self) -> int:
        """How many lines there were; one without an end counts."""
        return self._number if self._begun else self._number - 1

    @property
    def ends(self) -> LineEnds:
        """How they ended."""
        return LineEnds(self._crlf, self._lf)

    @property
    def ended(self) -> bool:
        """Whether the last line had an end."""
        return not self._begun

    @property
    def _wanted(self) -> bool:
        return not self.full and self._first <= self._number <= self._last

    def _take(self, piece: str) -> None:
        ends = line_ends(piece)
        self._crlf += ends.crlf
        self._lf += ends.lf
        if ends.crlf:
            piece = piece.replace("\r\n", "\n")
        at = 0
        while at < len(piece):
            at = self._keep(piece, at) if self._wanted else self._skip(piece, at)

    def _skip(self, piece: str, at: int) -> int:
        """Pass over lines that are not wanted; where the first wanted one begins, or the end."""
        missing = self._first - self._number
        ahead = piece.count("\n", at)
        if not 0 < missing <= ahead:
            self._number += ahead
            self._begun = not piece.endswith("\n")
            return len(piece)
        for _ in range(missing):
            at = piece.index("\n", at) + 1
        self._number += missing
        self._begun = False
        return at

    def _keep(self, piece: str, at: int) -> int:
        """Take the rest of a wanted line, or as much of it as there is."""
        end = piece.find("\n", at)
        stop = len(piece) if end < 0 else end
        self._kept += piece[at : min(stop, at + MAX_LINE - len(self._kept))]
        self._length += stop - at
        self._begun = True
        if end < 0:
            return stop
        self._finish()
        self._number += 1
        self._begun = False
        return end + 1

    def _finish(self) -> None:
        """A wanted line is complete."""
        more = self._length - len(self._kept)
        line = f"{self._number:>6}\t{self._kept}"
        if more:
            line += f" [... {more} more characters]"
        self._kept, self._length = "", 0
        if len(line) >= self._room and self._lines:
            self.full = True
            return
        self.cut_lines += more > 0
        self._room -= len(line) + 1
        self._lines.append(line)
