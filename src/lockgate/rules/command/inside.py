"""What one command starts besides itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from lockgate.rules.command.command import Command
from lockgate.rules.command.doubt import Doubt
from lockgate.rules.command.words import OPEN, Word

MAX_READINGS: Final = 40
"""Words of a wrapper's arguments that are taken for a possible command."""
_UNKNOWN: Final = "$_"


@dataclass(frozen=True, slots=True)
class Inside:
    """Commands and shell lines found in the arguments of a command, and reasons to ask."""

    doubts: frozenset[Doubt] = frozenset()
    commands: tuple[Command, ...] = ()
    scripts: tuple[str, ...] = field(default=(), repr=False)
    """Lines that a shell reads once more."""


def doubtful(*doubts: Doubt) -> Inside:
    """Nothing can be said of what is inside, but to ask."""
    return Inside(frozenset(doubts))


def started(words: tuple[Word, ...], *, certain: bool = True) -> tuple[Command, ...]:
    """The command that `words` are, or none if there are none."""
    return (Command(words, certain),) if words else ()


def readings(words: tuple[Word, ...], start: int, doubt: Doubt) -> Inside:
    """A command begins at `words[start]`, for all that is known of the options before it.

    Any later word may be its name as well, where an option takes a value that is not known; each of
    these readings is only a possible one. The one doubt asks in any case.
    """
    found = started(words[start:])
    near = words if len(words) <= MAX_READINGS else (*words[:MAX_READINGS], OPEN)
    possible = tuple([Command(near[i:], certain=False) for i in range(1, len(near)) if i != start])
    return Inside(frozenset({doubt}), found + possible)


def script_of(words: tuple[Word, ...]) -> tuple[str, ...]:
    """The words joined by spaces, as `eval` does, as far as they are known.

    Where they go on unknown stands an expansion.
    """
    texts: list[str] = []
    for word in words:
        texts.append(word.text if word.closed else f"{word.seen}{_UNKNOWN}")
        if not word.closed:
            break
    return (" ".join(texts),) if texts and texts != [_UNKNOWN] else ()


def with_more(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words, and others that come from elsewhere, as `xargs` adds them."""
    return (*words, OPEN)
