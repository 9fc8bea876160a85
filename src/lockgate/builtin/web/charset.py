"""Bytes to text: by the byte order mark, the header, or what the document says of itself.

The order is that of browsers (HTML standard, 13.2.3.2). A name stands for a list of known encodings
and never for whatever codec Python has: some of those are no encodings of text.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})"
    rb"|^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)
_LOOKED_AT: Final = 1024
_SUPERSETS: Final[Mapping[str, str]] = {
    # What pages mean by these names (Encoding standard): the first holds in the second.
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
    "utf-16": "utf-16-le",
}
_KNOWN: Final = frozenset(
    {"utf-8", "utf-16-le", "utf-16-be", "cp949", "johab", "gb18030", "hz", "cp932"}
    | {"euc_jp", "iso2022_jp", "shift_jisx0213", "euc_jis_2004", "big5hkscs", "cp950"}
    | {"koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "cp866", "cp437", "cp850", "cp852", "cp874"}
    | {f"cp125{number}" for number in range(9)}
    | {f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)}
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body as text."""

    text: str
    charset: str
    """The encoding that was used, by Python's name for it."""
    damaged: int
    """Characters that could not be read and stand as U+FFFD."""


def decode(data: bytes, declared: str | None, *, whole: bool = True) -> Decoded:
    """Read `data`; never fails. `declared` is the charset of the header.

    Without any word on it, it is UTF-8 if it can be, and else what most old pages are in. Data that
    is not `whole` may end in the middle of a character.
    """
    for mark, charset in _MARKS:
        if data.startswith(mark):
            return _read(data[len(mark) :], charset, whole)
    charset = _known(declared)
    if charset is None and (found := _DECLARED.search(data[:_LOOKED_AT])):
        charset = _known((found[1] or found[2]).decode("ascii"))
        if charset is not None and charset.startswith("utf-16"):
            charset = "utf-8"  # it could not have been read as it was
    if charset is not None:
        return _read(data, charset, whole)
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data, whole)
    except UnicodeDecodeError:
        return _read(data, "cp1252", whole)
    return Decoded(text, "utf-8", 0)


def _known(label: str | None) -> str | None:
    if label is None:
        return None
    try:
        name = codecs.lookup(label.strip()).name
    except (LookupError, ValueError):
        return None
    name = _SUPERSETS.get(name, name)
    return name if name in _KNOWN else None


def _read(data: bytes, charset: str, whole: bool) -> Decoded:
    decoder = codecs.getincrementaldecoder(charset)(errors="replace")
    text = decoder.decode(data, whole)
    own = data.count("\ufffd".encode()) if charset == "utf-8" else 0
    return Decoded(text, charset, max(0, text.count("\ufffd") - own))
