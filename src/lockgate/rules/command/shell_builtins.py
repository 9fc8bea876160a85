"""Builtins of Bash: which only do what they say, and what the others do to the rest of the line.

Bash manual, chapter 4 (Shell Builtin Commands). Several evaluate an operand as arithmetic or as the
name of a variable, and a subscript in it is expanded once more, even out of single quotes:
`printf -v 'a[$(cmd)]'` runs cmd.
"""

from __future__ import annotations

import re
from typing import Final

from lockgate.rules.command.doubt import Doubt
from lockgate.rules.command.inside import Inside, doubtful, readings, script_of, started
from lockgate.rules.command.words import Word

_HARMLESS: Final = frozenset(
    {":", "true", "false", "echo", "pwd", "exit", "kill", "times", "help"} | {"type"}
)
_STATE: Final = frozenset(
    {"alias", "unalias", "bind", "caller", "complete", "compopt", "declare", "typeset", "dirs"}
    | {"disown", "enable", "export", "fc", "getopts", "hash", "history", "local", "readonly", "set"}
    | {"shopt", "suspend", "ulimit", "umask", "unset", "shift", "return", "break", "continue"}
    | {"logout", "bg", "fg"}
)
_EVALUATES: Final = frozenset({"let", "read", "mapfile", "readarray", "wait", "compgen"})
_DIRECTORY: Final = frozenset({"cd", "chdir", "pushd", "popd"})
_SOURCES: Final = frozenset({"source", "."})

BUILTINS: Final = (
    _HARMLESS
    | _STATE
    | _EVALUATES
    | _DIRECTORY
    | _SOURCES
    | {"eval", "exec", "command", "builtin", "trap", "jobs", "printf", "test", "["}
)
"""Every builtin of Bash 5.2, and `chdir`, which is one of dash."""

_COUNTS: Final = re.compile(r"(?:^|[^%])(?:%%)*%[^%A-Za-z]*[hlLjzt]*n")
"""`%n` of printf sets a variable, even PATH, to the number of characters printed until there."""


def inside_builtin(words: tuple[Word, ...]) -> Inside | None:
    """What the builtin named by the first word does besides; None if it is no builtin."""
    name = words[0].literal
    if name is None or name not in BUILTINS:
        return None
    if name in _HARMLESS:
        return Inside()
    if name in _STATE:
        return doubtful(Doubt.SHELL_STATE)
    if name in _EVALUATES:
        return doubtful(Doubt.EVALUATION)
    if name in _DIRECTORY:
        return doubtful(Doubt.DIRECTORY)
    if name in _SOURCES:
        return doubtful(Doubt.UNSEEN)
    return _special(name, words)


def _special(name: str, words: tuple[Word, ...]) -> Inside:
    rest = words[1:]
    first = rest[0].literal if rest else None
    if name in {"test", "["}:
        return _evaluation(any(word.literal in {"-v", "-R", None} for word in rest))
    if name == "printf":
        options = first is None or (first.startswith("-") and first != "--")
        return _evaluation(options or any(_COUNTS.search(word.text) for word in rest))
    if name == "eval":
        return Inside(frozenset({Doubt.UNSEEN}), (), script_of(rest[first == "--" :]))
    if name == "trap":
        return Inside(frozenset({Doubt.UNSEEN}), (), script_of(rest[first == "--" :][:1]))
    if name == "jobs":
        found = started(rest[1:]) if first == "-x" else ()
        return Inside(frozenset({Doubt.SHELL_STATE}), found)
    if name == "command" and first in {"-v", "-V"}:
        return Inside() if all(word.closed for word in rest) else doubtful(Doubt.EXPANSION)
    skip = next((i for i, word in enumerate(rest) if not word.text.startswith("-")), len(rest))
    return readings(words, 1 + skip, Doubt.WRAPPER)


def _evaluation(found: bool) -> Inside:
    return doubtful(Doubt.EVALUATION) if found else Inside()
