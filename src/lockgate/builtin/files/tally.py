"""Which files ripgrep found, and how often, when their lines are not asked for."""

from __future__ import annotations

from lockgate.builtin.files.matches import DECODER, MAX_CHARACTERS, Data, Found, Naming, Shows


class Tally:
    """Takes ripgrep's messages and keeps the files, up to `limit`, and how many lines match.

    A file that `shows` does not let through leaves no trace.
    """

    def __init__(
        self,
        shows: Shows,
        name: Naming,
        limit: int,
        *,
        counted: bool,
        each: bool = False,
    ) -> None:
        """`shows` and `name` are given a file's path from the searched directory; `name` makes of
        it what is shown. `counted`: each has a number of lines, or, with `each`, of matches."""
        self._shows = shows
        self._name = name
        self._limit = limit
        self._counted = counted
        self._each = each
        self._file: Found | None = None
        self._room = MAX_CHARACTERS
        self.found: list[Found] = []
        """Files that are shown, with their lines that match; one each if they are not counted."""
        self.full = False
        """Whether there was no room, or are more than the limit."""

    def take(self, piece: bytes) -> bool:
        """One message. False: no more is wanted. Raises `msgspec.DecodeError`."""
        if not piece:
            return True
        message = DECODER.decode(piece)
        data = message.data
        match message.type:
            case "begin":
                self._file = Found(data.name) if self._shows(data.name) else None
            case "match" if self._file is not None:
                data.prove(self._file.proof)
                self._file.count += len(data.submatches) if self._each else 1
            case "end" if self._file is not None:
                return self._end(self._file, data)
            case _:
                pass
        return True

    def _end(self, file: Found, data: Data) -> bool:
        self._file = None
        if data.binary_offset is not None:  # it is no text after all
            return True
        name = self._name(file.path)
        line = f"{name}: {file.count}" if self._counted else name
        self._room -= len(line) + 1
        if len(self.found) == self._limit or self._room < 0:
            self.full = True
            return False
        file.lines.append(line)
        self.found.append(file)
        return True
