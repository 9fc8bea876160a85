"""Words of a command as far as they are known before the shell runs it.

Quote removal follows the Bash manual, section 3.1.2 (Quoting). A word is *closed* when what the
program gets is known to the byte, and *open* when anything may follow the part that is known: more
of the word, and more words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_PIECE: Final = re.compile(
    r"(?P<plain>(?:[A-Za-z0-9_%+=:,./^!\]\-~#@]|[^\x00-\x7f])+)"
    r"|'(?P<single>[^']*)'"
    r'|"(?P<double>(?:[^"\\$`]|\\.|\$(?=["\s|)]))*)"'
    r"|\$'(?P<ansi>(?:[^'\\]|\\.)*)'"
    r"|\\(?P<escaped>[^\n])"
    r"|(?P<braces>\{\}|(?<=@)\{[A-Za-z0-9\-]+\})",
    re.DOTALL,
)
_WHOLE: Final = re.compile(r"[A-Za-z0-9_%+,./^!\]\-@][A-Za-z0-9_%+=:,./^!\]\-@#]*")
"""A word that is what it looks like. `~` is left to the slow way."""
_DOUBLE_BEGINS: Final = re.compile(r'(?:[^"\\$`]|\\.)*', re.DOTALL)
_IN_DOUBLE: Final = re.compile(r'\\(?:([$`"\\])|(\n))', re.DOTALL)
_ANSI: Final = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})|(?P<letter>[abeEfnrtv\\'\"?])|(?P<other>.))",
    re.DOTALL,
)
_LETTERS: Final[Mapping[str, str]] = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
    "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_TILDE: Final = re.compile(r"(?:^|[=:])~")


@dataclass(frozen=True, slots=True)
class Word:
    """One word after quote removal. Its text is an argument's value, so `repr` hides it."""

    text: str = field(repr=False)
    """All of the word if it is closed, else the part before the first expansion."""
    closed: bool = True
    """Whether the word is exactly `text`, one word and no other."""
    bare: bool = field(default=False, compare=False)
    """Whether it was written without any quoting: only then can it be a keyword."""
    seen: str = field(default="", repr=False)
    """Of an open word: how it begins, quotes removed, as far as can be read. For looking into it as
    a script; nothing is ruled out by it."""

    @property
    def literal(self) -> str | None:
        """The word, or None if it is not known."""
        return self.text if self.closed else None


OPEN: Final = Word("", closed=False)
"""A word of which nothing is known."""


def closed(texts: tuple[str, ...]) -> tuple[Word, ...]:
    """Known words."""
    return tuple(Word(text) for text in texts)


def unquote(raw: str) -> str | None:
    """One word of a line, as it is written, without its quotes; None if the shell would expand it.

    The result is what the program gets. Escapes of `$'...'` count as far as they are ASCII; what
    depends on the locale does not.
    """
    if _WHOLE.fullmatch(raw):
        return raw
    if raw in {"[", "{}"}:  # a lone bracket is no glob, an empty brace no list
        return raw
    found: list[str] = []
    unquoted: list[str] = []
    at = 0
    while at < len(raw):
        piece = _PIECE.match(raw, at)
        if piece is None:
            return None
        # Bash looks for ~ at the start and behind = and : of what is not quoted.
        unquoted.append(piece["plain"] or "\0")
        text = _text_of(piece)
        if text is None:
            return None
        found.append(text)
        at = piece.end()
    if not raw or raw[0] == "#" or _TILDE.search("".join(unquoted)):
        return None
    return "".join(found)


def file_named(raw: str) -> str | None:
    """The file that one word of a line names, without its quotes; None if the shell has to expand
    more than a `~` or `~/` at its beginning. Only such a one begins with `~` in the result."""
    if raw == "~":
        return raw
    if raw.startswith("~/"):
        rest = unquote(raw[1:])
        return None if rest is None else f"~{rest}"
    name = unquote(raw)
    return f"./{name}" if name is not None and name.startswith("~") else name


def beginning(raw: str) -> str:
    """How a word that the shell expands begins, without its quotes, as far as can be read."""
    found: list[str] = []
    at = 0
    while piece := _PIECE.match(raw, at):
        found.append(_text_of(piece) or "")
        at = piece.end()
    if raw[at : at + 1] == '"' and (inner := _DOUBLE_BEGINS.match(raw, at + 1)):
        found.append(_without_escapes(inner[0]))
    return "".join(found)


def _text_of(piece: re.Match[str]) -> str | None:
    """What one part of a word stands for; None if that is not known."""
    kind = piece.lastgroup
    text = piece[kind] if kind else ""
    if kind == "double":
        return _without_escapes(text)
    return unquote_ansi(text) if kind == "ansi" else text


def _without_escapes(inner: str) -> str:
    return _IN_DOUBLE.sub(lambda match: match[1] or "", inner)


def unquote_ansi(body: str) -> str | None:
    r"""What `$'body'` stands for; None if an escape is unknown, NUL, or not ASCII (`\u`, `\c`)."""
    at = 0
    found: list[str] = []
    for escape in _ANSI.finditer(body):
        found.append(body[at : escape.start()])
        at = escape.end()
        if escape["octal"] is not None:
            code = int(escape["octal"], 8)
        elif escape["hex"] is not None:
            code = int(escape["hex"], 16)
        elif escape["letter"] is not None:
            code = ord(_LETTERS[escape["letter"]])
        else:
            return None
        if not 0 < code < 128:
            return None
        found.append(chr(code))
    return "".join(found) + body[at:]
