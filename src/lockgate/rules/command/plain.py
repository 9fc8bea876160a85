"""The second reader: commands of a line that needs nothing but words and connectives.

A grammar written for editors guesses where the shell would not. So a line is only ever allowed
when this reader, which knows little and refuses the rest, finds the same commands in it. It knows
literal words, `;` `&&` `||` `|` and newlines, comments, `( )`, `{ }`, `!`, `time`, `if`, `while`
and `until`. Bash manual, sections 3.2 (Shell Commands) and 3.1.1 (Shell Operation).
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from lockgate.rules.command.words import unquote

PlainCommands: TypeAlias = tuple[tuple[str, ...], ...]
"""The words of each command, in the order in which they are written."""

_TOKEN: Final = re.compile(
    r"(?P<blank>[ \t]+(?:\\\n[ \t]*)*)"
    r"|(?P<comment>#[^\n]*)"
    r"|(?P<end>\n|;(?!;)|&&|\|\|)"
    r"|(?P<pipe>\|(?![&|]))"
    r"|(?P<open>\((?!\())"
    r"|(?P<close>\))"
    r"|(?P<word>(?:[A-Za-z0-9_%+=:,./^!\]\-~#@{}\[]|[^\x00-\x7f]|\\[^\n]|'[^']*'"
    r"|\"(?:[^\"\\$`]|\\.|\$(?=[\"\s|)]))*\"|\$'(?:[^'\\]|\\.)*')+)",
    re.DOTALL,
)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_OPENS: Final = frozenset({"if", "then", "elif", "else", "while", "until", "do", "{"})
"""Keywords behind which a command begins."""
_CLOSES: Final = frozenset({"fi", "done", "}"})
"""Keywords behind which none does."""
_REFUSED: Final = frozenset(
    {"case", "esac", "for", "select", "function", "coproc", "[[", "]]", "in"}
)
KEYWORDS: Final = _OPENS | _CLOSES | _REFUSED | {"time", "!"}
"""Words that name no command where one could stand."""


def is_assignment(raw: str) -> bool:
    """Whether a word that stands before a command's name sets a variable."""
    return _ASSIGNMENT.match(raw) is not None


def read_plain(text: str) -> PlainCommands | None:
    """The commands of `text`, or None if there is anything in it that this reader does not know.

    Whether the keywords and brackets fit together is left to the grammar.
    """
    reader = _Reader()
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or not reader.take(token.lastgroup or "", token[0]):
            return None
        at = token.end()
    return reader.commands()


class _Reader:
    """Words until now, and whether a command may begin here."""

    def __init__(self) -> None:
        self._done: list[tuple[str, ...]] = []
        self._words: list[str] = []
        self._closed = False
        """A compound command ended: only a connective may follow."""
        self._prefixed = False
        """`!` or `time` stands before the command, which has to be a simple one."""
        self._piped = False
        """A connective wants a command."""
        self._in_pipe = False
        """Behind a `|`: there `time` is a program, and `!` is no keyword."""

    def take(self, kind: str, raw: str) -> bool:
        if kind in {"blank", "comment"}:
            return True
        if kind == "word":
            return self._word(raw)
        if kind == "open":
            if self._words or self._closed or self._prefixed:
                return False
            self._piped = self._in_pipe = False
            return True
        if not self._end(raw):
            return False
        if kind == "close":
            self._closed = True
        elif kind == "pipe" or raw in {"&&", "||"}:
            self._piped = True
        if raw != "\n":
            self._in_pipe = kind == "pipe"
        return True

    def commands(self) -> PlainCommands | None:
        if self._prefixed or (self._piped and not self._words):
            return None
        if self._words:
            self._done.append(tuple(self._words))
        return tuple(self._done)

    def _end(self, raw: str) -> bool:
        if self._words:
            self._done.append(tuple(self._words))
            self._words.clear()
        elif self._prefixed:
            return False
        elif not self._closed and raw not in {"\n", ")"}:
            return False  # a connective without a command before it
        elif self._piped and raw != "\n":
            return False
        self._closed = False
        if raw != "\n":
            self._piped = False
        return True

    def _word(self, raw: str) -> bool:
        if self._closed and raw not in _CLOSES | _OPENS:
            return False
        if not self._words:
            if raw in _REFUSED or is_assignment(raw):
                return False
            if raw in _OPENS or raw in _CLOSES:
                if self._prefixed:
                    return False
                self._closed = raw in _CLOSES
                self._piped = self._in_pipe = False
                return True
            if raw in {"!", "time"}:
                if self._prefixed or self._in_pipe:
                    return False
                self._prefixed = True
                return True
            if self._prefixed and raw.startswith("-"):
                return False  # an option of the keyword `time`
            if "{" in raw and raw != "{}" and "@{" not in raw:
                return False
        word = unquote(raw)
        if word is None:
            return False
        self._words.append(word)
        self._prefixed = self._piped = False
        return True
