"""A shell line, analysed: every command in it, and every reason to ask about it.

The rules of the analysis:

- A line is what `/bin/bash --noprofile --norc -c` is given, with a fixed PATH, a UTF-8 or C locale,
  and neither `BASH_ENV`, exported functions, `GIT_*` nor loader variables. There are no aliases and
  there is no history.
- Two readers look at it: the grammar (`grammar`), which finds commands wherever they hide, and a
  small one of our own (`plain`). A line without a doubt is one that both read, with the same
  commands found.
- A command is its words after quote removal. A word that an expansion decides is open, which is a
  doubt, and what it may become counts for deny and ask rules.
- A command that starts others (`wrappers`, `git_command`, `shell_builtins`) is analysed with what
  it starts, as deep as it goes.
- What is not understood is a doubt, never nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from lockgate.rules.command.command import Command
from lockgate.rules.command.doubt import Doubt
from lockgate.rules.command.grammar import read_grammar
from lockgate.rules.command.plain import read_plain
from lockgate.rules.command.words import OPEN, Word, closed
from lockgate.rules.command.wrappers import inside

MAX_LENGTH: Final = 16_384
"""Characters of a line that is read; a longer one is asked about."""
MAX_SIGNS: Final = 300
"""As many of each sign in `_SIGNS` are read: with more, the parser can take the square of their
number in time, and a stranger would stop the program for seconds."""
MAX_NESTING: Final = 6
"""Shell lines inside shell lines, and commands inside commands."""
MAX_COMMANDS: Final = 500
"""Commands, possible readings included, after which the rest is not looked for."""

_SIGNS: Final = "|()$?`{[<"
_ODD: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    "\u3000\ufeff\ufff9-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Controls but tab and newline, spaces but the plain one, marks that hide or turn text, and what is
no character."""
_MISREAD: Final = frozenset({Doubt.UNPLACED, Doubt.READINGS, Doubt.EVALUATION})
"""Where the grammar may have taken commands for something else: `((rm x); ls)` is no arithmetic."""
_NAME: Final = re.compile(r"[^\s;|&(){}<>`$'\"\\!]+")
_SETS_HOME: Final = re.compile(r"(?<![$\w])(?<!\$\{)HOME\b")
"""A line that may set it, or take it away."""
_UNREADABLE: Final = re.compile("[\x00\ud800-\udfff]")
"""No argument can hold it."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a line does, as far as it can be read. Without doubts, it is all of it."""

    commands: tuple[Command, ...] = field(repr=False)
    """Every command that it runs or may run, each once, those inside of others included."""
    doubts: frozenset[Doubt]
    """Why it has to be asked about, whatever its commands are."""
    writes: tuple[str, ...] = field(default=(), repr=False)
    """Files that its redirections write to, as far as that is known, as they are named: a `~` at
    the beginning is the home directory."""
    reads: tuple[str, ...] = field(default=(), repr=False)
    """The same of those that they read from."""
    unknown: tuple[str, ...] = field(default=(), repr=False)
    """What its redirections name and only the shell will know, as it is written."""

    @property
    def certain(self) -> tuple[Command, ...]:
        """The commands that are no mere possibility."""
        return tuple([command for command in self.commands if command.certain])


def analyse(line: str) -> Analysis:
    """Read a shell line. Never fails: what can not be read is a doubt."""
    gathered = _Gathered()
    gathered.line(line, 0)
    if not gathered.commands:
        gathered.doubts.add(Doubt.NOTHING)
    writes, reads = dict.fromkeys(gathered.writes), dict.fromkeys(gathered.reads)
    unknown = dict.fromkeys(gathered.unknown)
    if _SETS_HOME.search(line):
        unknown.update(dict.fromkeys(name for name in (*writes, *reads) if name.startswith("~")))
    return Analysis(
        tuple(gathered.commands),
        frozenset(gathered.doubts),
        tuple([name for name in writes if name not in unknown]),
        tuple([name for name in reads if name not in unknown]),
        tuple(unknown),
    )


class _Gathered:
    """Commands and doubts of a line and of the lines inside it."""

    def __init__(self) -> None:
        self.commands: dict[Command, None] = {}
        self.doubts: set[Doubt] = set()
        self.writes: list[str] = []
        self.reads: list[str] = []
        self.unknown: list[str] = []

    def line(self, text: str, depth: int) -> None:
        if depth > MAX_NESTING or len(text) > MAX_LENGTH or _signs(text) > MAX_SIGNS:
            self.doubts.add(Doubt.LENGTH)
            return
        if not text.isascii() or not text.isprintable():
            if _ODD.search(text):
                self.doubts.add(Doubt.CHARACTERS)
            if _UNREADABLE.search(text):
                return
        grammar = read_grammar(text)
        plain = read_plain(text)
        self.doubts |= grammar.doubts
        self.writes += grammar.writes
        self.reads += grammar.reads
        self.unknown += grammar.unknown
        found = grammar.commands
        if plain is None:
            if not grammar.doubts:
                self.doubts.add(Doubt.UNPLACED)
        elif [command.literal for command in found] != list(plain):
            seen = [command.literal for command in found]
            if None in seen or sorted(plain) != sorted(words for words in seen if words):
                self.doubts.add(Doubt.READINGS)
                found = [*found, *(Command(closed(words)) for words in plain if words)]
        for command in found:
            self.command(command, depth)
        if not _MISREAD.isdisjoint(self.doubts):
            self.strays(text)
        for script in grammar.scripts:
            self.line(script, depth + 1)

    def strays(self, text: str) -> None:
        """Any word of a line that is not understood may be the name of a command in it."""
        for name in dict.fromkeys(_NAME.findall(text)):
            if len(self.commands) >= MAX_COMMANDS:
                return
            self.commands.setdefault(Command((Word(name), OPEN), certain=False))

    def command(self, command: Command, depth: int) -> None:
        if command in self.commands:
            return
        if depth > MAX_NESTING or len(self.commands) >= MAX_COMMANDS:
            self.doubts.add(Doubt.LENGTH)
            return
        self.commands[command] = None
        if not command.certain:
            return  # what it may start is among the other possible ones, and it is asked about
        found = inside(command)
        self.doubts |= found.doubts
        for inner in found.commands:
            self.command(inner, depth + 1)
        for script in found.scripts:
            self.line(script, depth + 1)


def _signs(text: str) -> int:
    return max([text.count(sign) for sign in _SIGNS]) if len(text) > MAX_SIGNS else 0
