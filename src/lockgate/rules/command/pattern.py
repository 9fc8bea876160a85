"""`git status:*`: which commands a rule means, by their first words.

| written | means |
|---|---|
| `git status:*`, `git status *` | the command `git status`, with any further arguments or none |
| `npm run build` | exactly these words |
| `*` | every command |

Words are read as the shell reads them, so `echo "two words":*` holds two. A `*` anywhere else is an
error: `git*` would be `git-evil` as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from lockgate.rules.command.command import Command
from lockgate.rules.command.plain import KEYWORDS, read_plain
from lockgate.rules.matcher import Match
from lockgate.tools.subject import SubjectKind


class CommandPatternError(ValueError):
    """A pattern that can not be read: what is wrong, and what to write."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """Which commands are meant."""

    text: str
    """As it was written."""
    words: tuple[str, ...]
    """The first words; none means every command."""
    more: bool
    """Whether further words may follow."""
    source: str | None = None
    """Where the rule stands (file and key path), for reasons."""
    base_name: str = field(init=False, repr=False, compare=False)
    """The last part of the first word; empty for every command. To look patterns up by."""

    def __post_init__(self) -> None:
        base = self.words[0].rpartition("/")[2] if self.words else ""
        object.__setattr__(self, "base_name", base)

    @classmethod
    def parse(cls, text: str, source: str | None = None) -> Self:
        """Read a pattern. Raises `CommandPatternError`."""
        if text != text.strip():
            raise CommandPatternError("begins or ends with a space", "leave the space out")
        if text == "*":
            return cls(text, (), True, source)
        more = text.endswith((":*", " *"))
        body = text[:-2] if more else text
        if not body.strip():
            raise CommandPatternError("names no command", "write a command, or * for every one")
        if body != body.strip():
            raise CommandPatternError("has a space before its end", "write `git:*` or `git *`")
        found = read_plain(body)
        if body.split()[0] in KEYWORDS:
            raise CommandPatternError(
                "begins with a keyword of the shell, which is no command",
                "write a rule for the command behind it; a keyword needs none",
            )
        if found is None or "\n" in body:
            star = "*" in body
            raise CommandPatternError(
                "has a * within a word or before its end" if star else "is not a plain command",
                "end it with :* for any arguments; a * stands nowhere else"
                if star
                else "write the command's first words, without variables, redirections or globs",
            )
        if len(found) != 1:
            raise CommandPatternError(
                "is not one command", "write a rule for each command of a line"
            )
        return cls(text, found[0], more, source)

    @property
    def kind(self) -> SubjectKind:
        """The kind of subject it is a pattern for."""
        return SubjectKind.COMMAND

    @property
    def constrains(self) -> bool:
        """False for `*`, which means every command."""
        return bool(self.words)

    def allows(self, command: Command) -> bool:
        """Whether `command` is meant for certain, by its literal words; a path is not its name."""
        words = self.words
        if not words:
            return True
        given = command.words
        if len(given) < len(words) or (len(given) > len(words) and not self.more):
            return False
        return all(
            word.closed and word.text == mine for word, mine in zip(given, words, strict=False)
        )

    def catches(self, command: Command) -> Match:
        """How far `command` is meant by a rule that has to hold: deny or ask.

        A name matches by its last part too: `rm` means `/bin/rm`. A pattern with a path may mean
        what goes by the same last part.
        """
        match = self._catches(command)
        return match if command.certain else min(match, Match.MAYBE)

    def _catches(self, command: Command) -> Match:
        words = self.words
        if not words:
            return Match.YES
        given = command.words
        sure = Match.YES
        for index, mine in enumerate(words):
            if index == len(given):
                return Match.NO
            word = given[index]
            if not word.closed:
                # A name that is open may have any path before it.
                fits = index == 0 or mine.startswith(word.text)
                return Match.MAYBE if fits else Match.NO
            if word.text == mine:
                continue
            if index or word.text.rpartition("/")[2] != mine.rpartition("/")[2]:
                return Match.NO
            if "/" in mine:
                sure = Match.MAYBE
        if self.more or len(given) == len(words):
            return sure
        return Match.MAYBE if any(not word.closed for word in given[len(words) :]) else Match.NO
