"""JSON texts of strangers into values: the one decoder, and the rules where JSON is vague.

The rules, for every frame and every value (PB-111, PB-126):

- Integers are exact, up to 4,300 digits. Other numbers are doubles.
- A number no double can hold (`1e999`, a longer integer) reads as null, and so do `NaN`,
  `Infinity` and `-Infinity`, which are no JSON but what careless serialisers write.
- Half a surrogate pair (`"\\ud800"`) reads as U+FFFD, so that every string can be written again.
- Of members with equal names the last one counts.
- A text nested deeper than the decoder can go (about 900 levels) is refused with that reason;
  parts that others will have to walk through are refused past `MAX_DEPTH`.
- Everything else that is not JSON in UTF-8 is refused, with the offset where it is known.

The first try is one pass in C; the rules cost something only where it fails.
"""

from __future__ import annotations

import codecs
import re
from typing import Any

import msgspec

TOO_DEEP = "nested too deep to be read (over about 900 levels)"
MAX_DEPTH = 128
"""Levels that a tool's definition or a structured result may have, itself counted."""


class Unreadable(ValueError):
    """A text that can not be read as what it should be. The message says why, in a clause."""

    def __init__(self, reason: str, *, offset: int | None = None, cut: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset
        """Where in the text, in bytes, if that is known."""
        self.cut = cut
        """Whether it is the beginning of one that goes on: what it was to say, it does not."""


class Unwritable(ValueError):
    """A value that JSON has no form for. The message says why, and holds no part of the value."""


_decode_any = msgspec.json.Decoder().decode
_CUT = "Input data was truncated"
"""How the decoder says that a text ends too early."""

_PIECE = 1024 * 1024
_SURROGATES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""Every escape, pairs as one; group 1 is half a pair."""
_NUMBERS = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
    rb"|(NaN|-?Infinity|-?\d++(?:\.\d++)?+[eE]\+?\d{3,}+|-?\d{309,}+(?:\.\d++)?+(?:[eE][+-]?\d++)?+)",
    re.DOTALL,
)
"""Every string, to step over it; group 1 is a number that may be out of range."""


def decode_value(raw: bytes | msgspec.Raw) -> Any:
    """Decode one JSON text by the rules of this module. Raises `Unreadable`."""
    return decode_noted(raw)[0]


def decode_noted(raw: bytes | msgspec.Raw) -> tuple[Any, tuple[str, ...]]:
    """The same, and a remark for each rule that changed what was written."""
    try:
        return _decode_any(raw), ()
    except RecursionError:
        raise Unreadable(TOO_DEEP) from None
    except msgspec.MsgspecError as error:
        failure = error
    text = bytes(raw)
    offset = first_bad_byte(text)
    if offset is not None:
        raise Unreadable(f"not valid UTF-8 at byte {offset}", offset=offset)
    mended, remarks = mend(text)
    if not remarks:
        raise Unreadable(_reason(failure), cut=_CUT in str(failure))
    try:
        return _decode_any(mended), remarks
    except RecursionError:
        raise Unreadable(TOO_DEEP) from None
    except msgspec.MsgspecError as error:
        raise Unreadable(_reason(error), cut=_CUT in str(error)) from None


def mend(text: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Rewrite what the rules read as something else; one remark for each rule that was needed."""
    remarks: list[str] = []
    surrogates = 0
    numbers = 0

    def halves(match: re.Match[bytes]) -> bytes:
        nonlocal surrogates
        if match.group(1) is None:
            return match.group()
        surrogates += 1
        return b"\\ufffd"

    def outside(match: re.Match[bytes]) -> bytes:
        nonlocal numbers
        number = match.group(1)
        if number is None or _fits(number):
            return match.group()
        numbers += 1
        return b"null"

    if b"\\u" in text:
        text = _SURROGATES.sub(halves, text)
    text = _NUMBERS.sub(outside, text)
    if surrogates:
        remarks.append("half a surrogate pair was read as U+FFFD")
    if numbers:
        remarks.append("a number that is not finite, or out of range, was read as null")
    return text, tuple(remarks)


def first_bad_byte(text: bytes) -> int | None:
    """The offset of the first byte that is not UTF-8; None if all of it is."""
    if text.isascii():
        return None
    view = memoryview(text)
    start = 0
    # In pieces: the string of a whole frame could take four times its size.
    while start < len(text):
        piece = view[start : start + _PIECE]
        try:
            read = codecs.utf_8_decode(piece, "strict", start + _PIECE >= len(text))[1]
        except UnicodeDecodeError as error:
            return start + error.start
        start += read
    return None


def ends_within_a_character(text: bytes, offset: int) -> bool:
    """Whether what is not UTF-8 from `offset` on is a character whose end is missing."""
    try:
        return codecs.utf_8_decode(text[offset:], "strict", False)[1] == 0
    except UnicodeDecodeError:
        return False


def deeper_than(value: Any, limit: int) -> bool:
    """Whether a decoded value has more than `limit` levels of objects and arrays. No recursion."""
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        below: list[Any] = []
        for parent in level:
            below += parent.values() if type(parent) is dict else parent
        level = [child for child in below if isinstance(child, dict | list)]
        if not level:
            return False
    return bool(level)


def kind_of(value: Any) -> str:
    """What a decoded value is, in JSON's words with an article: `a string`, `null`, `an array`."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "a boolean"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, int | float):
        return "a number"
    return "an array" if isinstance(value, list) else "an object"


def _fits(number: bytes) -> bool:
    if number.endswith((b"NaN", b"y")):
        return False
    try:
        _decode_any(number)
    except msgspec.MsgspecError:
        return False
    return True


def _reason(error: msgspec.MsgspecError) -> str:
    text = str(error)
    return f"not JSON ({text.removeprefix('JSON is malformed: ')})"
