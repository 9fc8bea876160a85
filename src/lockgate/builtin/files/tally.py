"""Which files ripgrep found, and how often, when their lines are not asked for."""

from __future__ import annotations

import os

from lockgate.builtin.files.matches import MAX_CHARACTERS, Naming, Shows


class Tally:
    """Takes ripgrep's `--files-with-matches` or `--count`, up to `limit` files.

    A file that `shows` does not let through leaves no trace.
    """

    def __init__(
        self,
        shows: Shows,
        name: Naming,
        limit: int,
        *,
        counted: bool,
    ) -> None:
        """`shows` and `name` are given a file's path from the searched directory; `name` makes of
        it what is shown. `counted`: each has a number of lines."""
        self._shows = shows
        self._name = name
        self._limit = limit
        self._counted = counted
        self._begun = b""
        self._room = MAX_CHARACTERS
        self.lines: list[str] = []
        self.paths: list[str] = []
        """Files that are shown, by path from the searched directory."""
        self.count = 0
        """Lines that match in them; of files that are not counted, one each."""
        self.full = False
        """Whether there was no room, or are more than the limit."""

    def take(self, piece: bytes) -> bool:
        """One file. False: no more is wanted."""
        if not piece:
            return True
        count = 1
        if self._counted and b"\0" not in piece:  # a name with a line feed in it
            self._begun += piece + b"\n"
            return True
        if self._counted:
            piece, self._begun = self._begun + piece, b""
            piece, _, number = piece.rpartition(b"\0")
            count = int(number)
        path = os.fsdecode(piece).removeprefix("./")
        if not self._shows(path):
            return True
        line = f"{self._name(path)}: {count}" if self._counted else self._name(path)
        self._room -= len(line) + 1
        if len(self.paths) == self._limit or self._room < 0:
            self.full = True
            return False
        self.lines.append(line)
        self.paths.append(path)
        self.count += count
        return True
