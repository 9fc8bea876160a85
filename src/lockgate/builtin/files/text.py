"""Bytes as text and back, so that nothing changes which nobody meant to change.

Three encodings are known: UTF-8, with or without a byte order mark, and UTF-16 with one. All else
is no text: guessing an encoding would write other bytes back than were read.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

STAMP_DIGITS: Final = 16
"""Hex digits of a stamp: 64 bits tell apart all versions that one file will ever have."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file's text is written."""

    label: str
    """For people and models."""
    codec: str
    """Python's name, without any mark."""
    mark: bytes
    """The byte order mark that the file begins with; empty if none."""


UTF_8: Final = Encoding("UTF-8", "utf-8", b"")
_MARKED: Final = (
    Encoding("UTF-8 with a byte order mark", "utf-8", codecs.BOM_UTF8),
    Encoding("UTF-16 LE", "utf-16-le", codecs.BOM_UTF16_LE),
    Encoding("UTF-16 BE", "utf-16-be", codecs.BOM_UTF16_BE),
)


class NotText(ValueError):
    """The bytes are no text in an encoding that is known; says why."""


def encoding_of(head: bytes) -> Encoding:
    """The encoding that a file beginning with `head` (4 bytes or all of it) would have."""
    if head.startswith(codecs.BOM_UTF32_LE):
        raise NotText("it is UTF-32, which is not supported")
    return next((e for e in _MARKED if head.startswith(e.mark)), UTF_8)


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file, its line ends as they are."""

    text: str
    encoding: Encoding

    def encode(self, text: str) -> bytes:
        """Other text, written as this one was. Raises `NotText` for what can not be written."""
        return encode(text, self.encoding)


def decode(data: bytes) -> Decoded:
    """Read all of a file as text. Raises `NotText`."""
    encoding = encoding_of(data)
    try:
        text = data[len(encoding.mark) :].decode(encoding.codec)
    except UnicodeDecodeError as error:
        raise undecodable(encoding, len(encoding.mark) + error.start) from None
    if "\0" in text:
        raise NotText("it holds NUL characters")
    return Decoded(text, encoding)


def undecodable(encoding: Encoding, at: int) -> NotText:
    """Why bytes from `at` on are not what `encoding` says."""
    return NotText(f"it is not valid {encoding.label} at byte {at}")


def encode(text: str, encoding: Encoding) -> bytes:
    """The bytes of a file with this text. Raises `NotText` for half a surrogate pair."""
    try:
        return encoding.mark + text.encode(encoding.codec)
    except UnicodeEncodeError as error:
        raise NotText(
            f"it has half a surrogate pair at character {error.start}, which no file can hold"
        ) from None


def stamp_of(content: bytes) -> str:
    """A short word that is another one for any other content."""
    return short_stamp(hashlib.sha256(content).hexdigest())


def short_stamp(digest: str) -> str:
    """The same, from the hex SHA-256 of the content."""
    return digest[:STAMP_DIGITS]


@dataclass(frozen=True, slots=True)
class LineEnds:
    """How lines end in a text."""

    crlf: int
    lf: int
    """Those without a carriage return before them."""

    @property
    def label(self) -> str:
        """For people and models; empty for what is usual."""
        if not self.crlf:
            return ""
        return "CRLF line ends" if not self.lf else "mixed line ends"

    @property
    def all_crlf(self) -> bool:
        """Whether every line that ends, ends in CRLF, and there is one."""
        return self.crlf > 0 and self.lf == 0


def line_ends(text: str) -> LineEnds:
    """Count them."""
    crlf = text.count("\r\n")
    return LineEnds(crlf, text.count("\n") - crlf)


class Unified:
    """A text with every line end as `\\n`, and where each place of it is in the text itself."""

    __slots__ = ("_returns", "raw", "text")

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.text = raw.replace("\r\n", "\n")
        self._returns: Sequence[int] = ()
        """Places in `text` of line ends that are CRLF, in order."""
        if len(self.text) != len(raw):
            found = re.finditer("\r\n", raw)
            self._returns = [match.start() - before for before, match in enumerate(found)]

    def place(self, at: int) -> int:
        """Where the place `at` of `text` is in `raw`; never between the two halves of a CRLF."""
        return at + bisect_left(self._returns, at)

    def line(self, at: int) -> int:
        """The number, from 1, of the line that `at` of `text` is in."""
        return self.text.count("\n", 0, at) + 1
