"""What ripgrep found, read from its JSON (grep-printer, `jsont`) and laid out within bounds."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import msgspec

from lockgate.builtin.files.proof import Proof

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


@dataclass(slots=True)
class Found:
    """What was found in one file: nothing that may be told before its proof holds."""

    path: str
    """From the searched directory."""
    lines: list[str] = field(default_factory=list[str])
    """What is shown of it."""
    count: int = 0
    """How many matches that are."""
    proof: Proof = field(default_factory=Proof)


class Written(msgspec.Struct):
    """Text, or bytes in base64 where it is no UTF-8."""

    text: str | None = None
    bytes: str | None = None

    @property
    def data(self) -> bytes:
        """As bytes."""
        if self.text is not None:
            return self.text.encode("utf-8", "surrogatepass")
        return base64.b64decode(self.bytes or "")


class Part(msgspec.Struct):
    """A match in it."""

    start: int
    """Bytes from the beginning of what matched."""


class Data(msgspec.Struct):
    """What a message says."""

    path: Written | None = None
    lines: Written | None = None
    line_number: int | None = None
    absolute_offset: int = 0
    """Bytes from the beginning of the file, as it was searched."""
    binary_offset: int | None = None
    """Where a byte was met that is in no text, which ends the search of the file."""
    submatches: list[Part] = []

    @property
    def name(self) -> str:
        """The file, by its path from the searched directory."""
        return os.fsdecode(self.path.data if self.path else b"").removeprefix("./")

    def prove(self, proof: Proof) -> bytes:
        """Take down what it says of lines, and give them."""
        written = self.lines.data if self.lines else b""
        proof.add(self.absolute_offset, self.line_number or 0, written)
        return written


class Message(msgspec.Struct):
    """One of ripgrep's."""

    type: str
    data: Data


DECODER: Final = msgspec.json.Decoder(Message)
"""Of one message."""


class Matches:
    """Takes ripgrep's messages and keeps lines until `limit` of them match, or there is no room.

    A file that `shows` does not let through leaves no trace: neither a line nor a number.
    """

    def __init__(self, shows: Shows, name: Naming, limit: int) -> None:
        self._shows = shows
        self._name = name
        self._limit = limit
        self._file: Found | None = None
        """The one that is being reported, if it is shown."""
        self._number = 0
        self._count = 0
        self._room = MAX_CHARACTERS
        self.found: list[Found] = []
        """Files of which a line is shown; several matches in one line count as one."""
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
                if self._count == self._limit:
                    self.full = True
                    return False
                self._lines(self._file, data, ":")
                self._file.count += 1
                self._count += 1
            case "context" if self._file is not None:
                self._lines(self._file, data, "-")
            case _:
                pass
        return not self.full

    def _lines(self, file: Found, data: Data, mark: str) -> None:
        written = data.prove(file.proof)
        first = data.line_number or 0
        text = written.decode("utf-8", "backslashreplace").removesuffix("\n")
        start = data.submatches[0].start if data.submatches else 0
        if len(text) > MAX_WIDTH:
            start = len(written[:start].decode("utf-8", "backslashreplace"))
        if not file.lines:
            self.found.append(file)
            self._room -= 1 if len(self.found) > 1 else 0  # the empty line between two files
            self._put(file, self._name(file.path))
        elif first > self._number + 1:
            self._put(file, "--")
        for number, line in enumerate(text.split("\n"), first):
            self._put(file, f"{number}{mark}{_cut(line.removesuffix(chr(13)), start)}")
            start = max(0, start - len(line) - 1)
            self._number = number

    def _put(self, file: Found, line: str) -> None:
        self._room -= len(line) + 1
        if self._room < 0:
            self.full = True
        else:
            file.lines.append(line)


def _cut(line: str, start: int) -> str:
    """A line within its width, around what matched."""
    if len(line) <= MAX_WIDTH:
        return line
    first = max(0, min(start, len(line)) - BEFORE)
    last = first + MAX_WIDTH
    head = f"[{first} characters ...] " if first else ""
    tail = f" [... {len(line) - last} more characters]" if last < len(line) else ""
    return f"{head}{line[first:last]}{tail}"
