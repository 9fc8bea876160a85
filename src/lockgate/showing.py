"""What a person is shown of a stranger's text: everything, with nothing that deceives the eye.

A terminal obeys control characters, reorders text at bidi marks and draws many characters as
nothing at all; all of these are shown as escapes. Values under names that usually hold secrets are
shown by their length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
"""Categories that are escaped, the plain space excepted."""
_DRAWN_AS_NOTHING: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks by category, blanks by sight: fillers of Hangul, Khmer and Braille."""
_NAMED: Final[Mapping[str, str]] = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MAX_MARKS: Final = 3
"""Combining marks in a row that writing needs; more of them pile up over the lines around."""

_LONG_RUN: Final = re.compile(r"(.)\1{24,}", re.DOTALL)

_SECRET_NAME: Final = re.compile(
    r"token|secret|passw|passphrase|(?:^|[^a-z])(?:pwd|pw|pass|pat|auth|key|keys|sid|dsn|otp|cookie)"
    r"(?:$|[^a-z])|apikey|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|credential|authorization"
    r"|bearer|session|signature|connection[-_ ]?string|(?:database|db|redis|mongo\w*)[-_ ]?ur[il]",
    re.IGNORECASE,
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def visible(text: str) -> str:
    """`text` on one line, with every character that a terminal hides or obeys as an escape.

    Line feed, return and tab become `\\n`, `\\r`, `\\t`, the others `\\x1b`, `\\u202e` or
    `\\U000e0041`. A backslash stays one: whoever has to tell the two apart doubles it before.
    """
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    marks = 0
    for char in text:
        category = unicodedata.category(char)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        shown.append(_escaped(char) if _hides(char, category) or marks > _MAX_MARKS else char)
    return "".join(shown)


def quoted(text: str) -> str:
    """`text` as a JSON-like string: in quotes, nothing in it hidden, nothing ambiguous.

    A run of more than 24 equal characters is written `\\{400 times " "}`, so that no tail is pushed
    out of sight; a real backslash is doubled, so this can not be mistaken for text.
    """
    parts: list[str] = []
    at = 0
    for run in _LONG_RUN.finditer(text):
        parts.append(_doubled(text[at : run.start()]))
        parts.append(f'\\{{{len(run[0])} times "{visible(_doubled(run[1]))}"}}')
        at = run.end()
    parts.append(_doubled(text[at:]))
    return visible(f'"{"".join(parts)}"')


def _doubled(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def width_of(text: str) -> int:
    """The columns that visible text takes on a terminal: wide characters two, marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(char)
        else 2
        if unicodedata.east_asian_width(char) in ("W", "F")
        else 1
        for char in text
    )


def looks_secret(name: str) -> bool:
    """Whether a key, variable or header of this name usually holds a secret."""
    return _SECRET_NAME.search(_CAMEL.sub("-", name)) is not None


def masked(value: object) -> str:
    """What is shown in place of a secret: its length in characters."""
    length = len(value if isinstance(value, str) else str(value))
    return f"[masked, {length} character{'' if length == 1 else 's'}]"


def _hides(char: str, category: str) -> bool:
    if category in _INVISIBLE:
        return char != " "
    return char in _DRAWN_AS_NOTHING or "\ufe00" <= char <= "\ufe0f" or char >= "\U000e0000"


def _escaped(char: str) -> str:
    named = _NAMED.get(char)
    if named is not None:
        return named
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
