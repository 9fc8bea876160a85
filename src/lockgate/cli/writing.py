"""The text of a reply while it is being written, piece by piece, harmless on a terminal."""

from __future__ import annotations

from typing import Final

from lockgate.showing import visible

_MAX_LINE: Final = 2_000
"""Characters of one line that are looked at together."""


class Writing:
    """Turns the pieces of one text into what may be shown of it, as `showing.visible_lines`."""

    def __init__(self) -> None:
        self._line = ""
        self._shown = 0
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        """Everything that was written, as it came."""
        return "".join(self._pieces)

    def more(self, piece: str) -> str:
        """What to show for a further piece."""
        self._pieces.append(piece)
        *ended, rest = piece.split("\n")
        shown: list[str] = []
        for part in ended:
            shown += (self._grown(part, ended=True), "\n")
            self._line, self._shown = "", 0
        shown.append(self._grown(rest, ended=False))
        return "".join(shown)

    def _grown(self, part: str, *, ended: bool) -> str:
        """What is new to be shown of the line, which `part` is added to.

        What a character is shown as depends on those before it alone, but for a return, which is
        nothing at the end of a line.
        """
        self._line += part
        held = self._line.endswith("\r")
        whole = self._line[:-1] if held else self._line
        shown = visible(whole.expandtabs())
        new, self._shown = shown[self._shown :], len(shown)
        if not ended and len(self._line) > _MAX_LINE:
            self._line, self._shown = "\r" if held else "", 0
        return new
