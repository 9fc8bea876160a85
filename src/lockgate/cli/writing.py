"""The text of a reply while it is being written, piece by piece, harmless on a terminal."""

from __future__ import annotations

from typing import Final

from lockgate.cli.own_lines import MARK, passes
from lockgate.showing import visible

_MAX_LINE: Final = 2_000
"""Characters of one line that are looked at together."""


class Writing:
    """Turns the pieces of one text into what may be shown of it, as `own_lines.marked_lines`.

    The beginning of a line that may be going to look like one of ours is held back until that
    shows: some characters.
    """

    def __init__(self) -> None:
        self._line = ""
        self._shown = 0
        self._begun = False
        """Whether anything of the line was shown."""
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
            self._line, self._shown, self._begun = "", 0, False
        shown.append(self._grown(rest, ended=False))
        return "".join(shown)

    def rest(self) -> str:
        """What was held back and is to be shown now, since nothing follows."""
        return "" if self._begun else self._grown("", ended=True)

    def _grown(self, part: str, *, ended: bool) -> str:
        """What is new to be shown of the line, which `part` is added to.

        What a character is shown as depends on those before it alone, but for a return, which is
        nothing at the end of a line.
        """
        self._line += part
        held = self._line.endswith("\r")
        whole = self._line[:-1] if held else self._line
        shown = visible(whole.expandtabs())
        mark = ""
        if not self._begun:
            like_ours = passes(shown, whole=ended)
            if like_ours is None:
                return ""
            self._begun, mark = True, MARK if like_ours else ""
        new, self._shown = shown[self._shown :], len(shown)
        if not ended and len(self._line) > _MAX_LINE:
            self._line, self._shown = "\r" if held else "", 0
        return mark + new
