"""What a person is shown of a stranger's text: everything, with nothing that deceives the eye.

A terminal obeys control characters, reorders text at bidi marks and draws many characters as
nothing at all; all of these are shown as escapes. Values under names that usually hold secrets are
shown by their length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from lockgate.errors import ConfigError, LockgateError, Problem

_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
"""Categories that are escaped, the plain space excepted."""
_DRAWN_AS_NOTHING: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2065\u2800\u3164\uffa0"
    "\ufff0\ufff1\ufff2\ufff3\ufff4\ufff5\ufff6\ufff7\ufff8"
)
"""Letters and marks by category, blanks by sight: fillers of Hangul, Khmer and Braille, what varies
a Mongolian letter, and what is kept free for more of them."""
_SEEN: Final = frozenset({"Co", "Cn", "Zs"})
"""Of the invisible categories those that a reader sees: blanks, and boxes for what has no letter
here, newer emoji among them."""
_JOINING: Final = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""What emoji and several scripts need behind a sign of theirs, one or two of them."""
_KEYS: Final = frozenset("0123456789#*")
"""What an emoji of a key is made of, with U+FE0F behind it."""
_UNUSUAL: Final = re.compile(r"[^\t\n\x20-\x7e]")
_NAMED: Final[Mapping[str, str]] = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MAX_STACKED: Final = 3
"""Marks on one letter that writing puts above or below it; more pile up over the lines around."""
_MAX_MARKS: Final = 6
"""Marks of any kind on one letter, those that stand beside it included."""

_LONG_RUN: Final = re.compile(r"(.)\1{24,}", re.DOTALL)

_SECRET_NAME: Final = re.compile(
    r"token|secret|passw|passphrase|(?:^|[^a-z])(?:pwd|pw|pass|pat|auth|key|keys|sid|dsn|otp|cookie)"
    r"(?:$|[^a-z])|apikey|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|credential|authorization"
    r"|bearer|session|signature|connection[-_ ]?string|(?:database|db|redis|mongo\w*)[-_ ]?ur[il]",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(
    r"(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[a-z]|npm|pypi|hf|dop_v1|shpat|lin_api|ntn"
    r"|secret|tvly|fc|ctx7sk|figd|AKIA|ASIA|AIza|ya29|eyJ)[-_.A-Za-z0-9]{8,}"
)
_LONG_WORD: Final = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_+=]{20,200}")
_WORD: Final = re.compile(r"[A-Za-z0-9_.+=-]{9,}")
_ASSIGNED: Final = re.compile(r"([A-Za-z_][\w.-]*+)(?=[\"']?\s*[=:]\s*[\"']?[^\s\"'])")
_OPTION: Final = re.compile(r"(?<![\w-])--?([A-Za-z][\w.-]*+)(?=\s+[\"']?[^\s\"'-])")
_CARRIED: Final = re.compile(
    r"://[^/\s@]+@|\b(?:bearer|basic)\s+[\w.~+/=-]{8,}|-u\s*[^\s:]+:\S|-----BEGIN"
    r"|\b(?:mysql|mariadb|sshpass|docker|podman)[^;|&]*\s-p\s*\S"
    r"|[_-](?:secret|token|password|passphrase|key)s?[\"']?\s+\S",
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
    marks = stacked = 0
    for char in text:
        category = unicodedata.category(char)
        if category[0] == "M":
            marks += 1
            stacked += category != "Mc"
        else:
            marks = stacked = 0
        piled = marks > _MAX_MARKS or stacked > _MAX_STACKED
        shown.append(_escaped(char) if piled or _hides(char, category) else char)
    return "".join(shown)


def visible_lines(text: str) -> str:
    """`text` for a terminal: its lines stay lines, tabs become blanks, all else as `visible`."""
    lines = (line.removesuffix("\r").expandtabs() for line in text.split("\n"))
    return "\n".join(map(visible, lines))


def visible_error(error: LockgateError) -> str:
    """What an error says, for a terminal: as `visible_lines`; no name of a file or of a key in the
    place of a problem makes a line of its own."""
    if isinstance(error, ConfigError):
        return visible_lines("\n".join(map(_visible_problem, error.problems)))
    return visible_lines(str(error))


def _visible_problem(problem: Problem) -> str:
    file = None if problem.file is None else Path(visible(str(problem.file)))
    return str(replace(problem, file=file, path=visible(problem.path)))


def hidden_at(text: str) -> int | None:
    """Where `text` has the first character that no reader sees, though a model does; None: nowhere.

    One that joins or varies signs counts behind an ASCII character, and as the third in a row:
    there it writes nothing, and may spell a message. Line feeds and tabs are seen, and so are
    blanks of any width.
    """
    for found in _UNUSUAL.finditer(text):
        at, char = found.start(), found.group()
        if char in _JOINING:
            before = text[max(0, at - 2) : at]
            keyed = char == "\ufe0f" and before[-1:] in _KEYS
            if (before[-1:].isascii() and not keyed) or (
                len(before) == 2 and _JOINING.issuperset(before)
            ):
                return at
        elif _hides(char, category := unicodedata.category(char)) and not (
            category in _SEEN and char < "\U000e0000" and char not in _DRAWN_AS_NOTHING
        ):
            return at
    return None


def visible_json(document: str) -> str:
    """A JSON document for a terminal: the same one, what is hidden or obeyed as JSON's escapes."""
    if document.isascii() and "\x7f" not in document:
        return document
    return "".join(
        char
        if char == "\n" or not _hides(char, unicodedata.category(char))
        else "".join(f"\\u{unit:04x}" for unit in _units(char))
        for char in document
    )


def _units(char: str) -> Iterator[int]:
    """The UTF-16 code units of a character, which JSON's escapes are made of."""
    coded = char.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(coded[at : at + 2]) for at in range(0, len(coded), 2))


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
    """The columns that visible text takes on a terminal: wide characters two, marks none.

    Marks that stand beside their letter (Mc) take columns as letters do.
    """
    return len(text) if text.isascii() else sum(_columns(char, "WF") for char in text)


def widest(text: str) -> int:
    """The columns that visible text takes at most: what some terminals draw wide counts as wide."""
    return len(text) if text.isascii() else sum(_columns(char, "WFA") for char in text)


def folded(text: str, width: int, first: str = "", further: str = "") -> list[str]:
    """Visible `text` in lines of at most `width` columns: the first after `first`, then `further`.

    Broken at a blank; within a word only if no line holds it. A character that some terminals draw
    wide counts as wide, so that no terminal breaks a line of its own accord. `width` has to leave
    two columns beside `first` and `further`.
    """
    lines: list[str] = []
    narrow = text.isascii()
    at = 0
    while at < len(text) or not lines:
        margin = further if lines else first
        cut = _fitting(text, at, width - width_of(margin), narrow=narrow)
        lines.append(margin + text[at:cut])
        at = cut
    return lines


def _fitting(text: str, at: int, room: int, *, narrow: bool) -> int:
    """Where the line that begins at `at` ends, if it has `room` columns; at least one further."""
    if narrow:
        end = at + room if len(text) - at > room else None
    else:
        columns, end = 0, None
        for index in range(at, len(text)):
            columns += _columns(text[index], "WFA")
            if columns > room:
                end = index
                break
    if end is None:
        return len(text)
    space = text.rfind(" ", at + 1, end)
    if space < 0:
        return max(end, at + 1)
    # A word that no line holds goes on here, unless little of it would.
    room = end - at
    whole = text.find(" ", space + 1, space + 1 + room) >= 0 or len(text) - space <= room
    return space + 1 if whole or space >= (at + end) // 2 else end


def _columns(char: str, wide: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    # Half a flag is one column, or two where there is no other half beside it.
    flag = "A" in wide and "\U0001f1e6" <= char <= "\U0001f1ff"
    return 2 if flag or unicodedata.east_asian_width(char) in wide else 1


def looks_secret(name: str) -> bool:
    """Whether a key, variable or header of this name usually holds a secret."""
    return _SECRET_NAME.search(_CAMEL.sub("-", name)) is not None


def is_token(word: str) -> bool:
    """Whether a word looks like a secret by itself: a known kind of token, or random to the eye."""
    return _TOKEN.fullmatch(word) is not None or _LONG_WORD.fullmatch(word) is not None


def holds_secret(text: str) -> bool:
    """Whether anything in a text, such as a command line, looks like a secret.

    A token; a value behind a name that usually holds one (`PASSWORD=x`, `--token x`); what an
    address or a header carries. For what must not be written: it rather says yes too often.
    """
    if _CARRIED.search(text):
        return True
    words = (part for word in _WORD.findall(text) for part in (word, *re.split(r"[.=-]", word)))
    if any(map(is_token, words)):
        return True
    named = (*_ASSIGNED.finditer(text), *_OPTION.finditer(text))
    return any(looks_secret(found[1]) for found in named)


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
