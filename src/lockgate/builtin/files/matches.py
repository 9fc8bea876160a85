"""What ripgrep found, read from its JSON (grep-printer, `jsont`) and laid out within bounds."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

MAX_WIDTH: Final = 500
"""Characters of a line that are shown; of a longer one, those around the match."""
BEFORE: Final = 100
"""Characters of a long line that are shown before its match."""
MAX_CHARACTERS: Final = 40_000
"""Characters of a result: about 10000 tokens; more is better asked for more narrowly."""

Shows: TypeAlias = Callable[[str], bool]
"""Whether a file, by its path from the searched directory, is there for the caller."""
Naming: TypeAlias = Callable[[str], str]
"""What is shown of that path."""


class _Written(msgspec.Struct):
    """Text, or bytes in base64 where it is no UTF-8."""

    text: str | None = None
    bytes: str | None = None

    @property
    def data(self) -> bytes:
        if self.text is not None:
            return self.text.encode("utf-8", "surrogatepass")
        return base64.b64decode(self.bytes or "")


class _Part(msgspec.Struct):
    start: int
    """Bytes from the beginning of what matched."""


class _Data(msgspec.Struct):
    path: _Written | None = None
    lines: _Written | None = None
    line_number: int | None = None
    submatches: list[_Part] = []


class _Message(msgspec.Struct):
    type: str
    data: _Data


_DECODER: Final = msgspec.json.Decoder(_Message)


class Matches:
    """Takes ripgrep's messages and keeps lines until `limit` of them match, or there is no room.

    A file that `shows` does not let through leaves no trace: neither a line nor a number.
    """

    def __init__(self, shows: Shows, name: Naming, limit: int) -> None:
        self._shows = shows
        self._name = name
        self._limit = limit
        self._file: str | None = None
        """The one that is being reported, if it is shown."""
        self._named = False
        self._number = 0
        self._room = MAX_CHARACTERS
        self.lines: list[str] = []
        self.paths: list[str] = []
        """Files of which a line is shown, by path from the searched directory."""
        self.count = 0
        """Matches that are shown; several in one line count as one."""
        self.full = False
        """Whether there was no room, or are more than the limit."""

    def take(self, piece: bytes) -> bool:
        """One message. False: no more is wanted. Raises `msgspec.DecodeError`."""
        if not piece:
            return True
        message = _DECODER.decode(piece)
        data = message.data
        match message.type:
            case "begin":
                self._begin(data)
            case "match" if self._file is not None:
                if self.count == self._limit:
                    self.full = True
                    return False
                self._lines(data, ":")
                self.count += 1
            case "context" if self._file is not None:
                self._lines(data, "-")
            case _:
                pass
        return not self.full

    def _begin(self, data: _Data) -> None:
        path = os.fsdecode(data.path.data if data.path else b"").removeprefix("./")
        self._file = path if self._shows(path) else None
        self._named = False

    def _lines(self, data: _Data, mark: str) -> None:
        written = data.lines.data if data.lines else b""
        first = data.line_number or 0
        text = written.decode("utf-8", "backslashreplace").removesuffix("\n")
        start = data.submatches[0].start if data.submatches else 0
        if len(text) > MAX_WIDTH:
            start = len(written[:start].decode("utf-8", "backslashreplace"))
        if self._file is not None and not self._named:
            self._named = True
            self.paths.append(self._file)
            self._put(("\n" if self.lines else "") + self._name(self._file))
        elif first > self._number + 1:
            self._put("--")
        for number, line in enumerate(text.split("\n"), first):
            self._put(f"{number}{mark}{_cut(line.removesuffix(chr(13)), start)}")
            start = max(0, start - len(line) - 1)
            self._number = number

    def _put(self, line: str) -> None:
        self._room -= len(line) + 1
        if self._room < 0:
            self.full = True
        else:
            self.lines.append(line)


def _cut(line: str, start: int) -> str:
    """A line within its width, around what matched."""
    if len(line) <= MAX_WIDTH:
        return line
    first = max(0, min(start, len(line)) - BEFORE)
    last = first + MAX_WIDTH
    head = f"[{first} characters ...] " if first else ""
    tail = f" [... {len(line) - last} more characters]" if last < len(line) else ""
    return f"{head}{line[first:last]}{tail}"
