"""What a server says where a message was expected, in one line. Pure."""

from __future__ import annotations

import html
import re
from typing import Final

from lockgate.showing import visible

LONGEST: Final = 200
"""Characters of a server's own words that are told."""
_TITLE: Final = re.compile(r"<title[^>]{0,200}>([^<]{0,2000})", re.IGNORECASE)
_PAGE: Final = re.compile(r"\s*(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)


def summary(media_type: str, data: bytes) -> str:
    """`data` is the beginning of a body; the result is the end of a sentence about it."""
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    if not text.strip():
        return f"nothing ({media_type})" if media_type else "nothing"
    if media_type in ("text/html", "application/xhtml+xml") or _PAGE.match(text):
        title = _TITLE.search(text)
        named = one_line(html.unescape(title[1])) if title else ""
        return f"a web page, {named!r}" if named else "a web page"
    return f"{media_type or 'a body without a type'}: {one_line(text)}"


def one_line(text: str) -> str:
    """A server's own words as one line, bounded and printable."""
    line = visible(" ".join(text[: 4 * LONGEST].split()))
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
