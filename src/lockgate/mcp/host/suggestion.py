"""What the name and the schema of a server's tool suggest that it does: a guess, for a reviewer.

Nothing is decided by it (PB-132): it is shown to a person, who may make a verdict of it. A word
that destroys counts wherever it stands, one that reads only in front, and what is not known is
taken for the worst. The description can make a guess stricter, never laxer: whoever wrote it wants
the tool to be used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, cast

from lockgate.traits import DestructiveBehavior, SideEffectLevel


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_READS: Final = _set(
    "get list read search find show describe fetch view query count check status diff log lookup"
    " inspect peek stat ls cat head tail preview explain compare summarize analyze calculate"
    " convert measure estimate ping whoami history browse retrieve resolve detect validate verify"
    " is has tree info details"
)
_ADDS: Final = _set(
    "add create append insert post send comment publish upload register subscribe schedule notify"
    " invite tag mkdir new reply enqueue book commit"
)
_DESTROYS: Final = _set(
    "delete remove drop destroy erase purge wipe truncate overwrite reset clear kill terminate stop"
    " cancel exec execute run eval write set put update edit patch replace rename move merge rebase"
    " revert checkout push restore uninstall disable revoke close archive format sync apply"
    " deploy import migrate modify upsert save shutdown ban unsubscribe transfer pay rm rmdir"
    " unlink mv prune discard rollback force shell command"
)
_RUNS: Final = _set(
    "sql statement command cmd code script shell expression program javascript python"
)
"""Words of parameters that hold something to be carried out."""
_FORCES: Final = _set(
    "force overwrite recursive hard delete purge truncate prune replace clobber cascade"
)
"""Words of parameters that make a tool destroy more than it would."""
_TARGETS: Final = _set(
    "path file filename filepath destination dest target output directory folder uri url"
)
"""Words of parameters that name what may be written over."""
_PLACES: Final = _set("repo repository project workspace root cwd working")
"""Words that make of such a parameter the place where a tool works, not what it writes."""
_SAVES: Final = _set("output destination dest save download")
"""Of those, the ones that even a tool which reads writes to."""
_TELLS: Final = re.compile(
    r"\b(delet|remov|drop|destroy|eras|purg|wip|truncat|overwrit|kill|terminat|replac)(?:e?s|ing)\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

_MAX_PARAMETERS: Final = 200
"""Parameters that are looked at; a tool with more is taken for the worst."""
_MAX_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a tool seems to do, and what speaks for it."""

    level: SideEffectLevel
    destructive: DestructiveBehavior
    """NON_DESTRUCTIVE whenever `level` is READ_ONLY."""
    reasons: tuple[str, ...]
    """One clause each, never empty."""
    known: bool = True
    """Whether anything speaks for it; if not, the worst is assumed."""


def suggest(
    name: str, schema: Mapping[str, Any], description: str = "", *, server: str = ""
) -> Suggestion:
    """Guess what a tool does by its original name and input schema.

    `server` is the configured name of its server, which often stands in front of the tool's own.
    Pure, and never raises, whatever a server has written.
    """
    words = words_of(name)
    if len(words) > 1 and words[0] in words_of(server):
        words = words[1:]
    parameters = tuple(_parameters(schema))
    against = tuple(_against(words, parameters, description))
    if against:
        return Suggestion(SideEffectLevel.MUTATING, DestructiveBehavior.DESTRUCTIVE, against)
    verb = words[0] if words else ""
    added = next((word for word in words if word in _ADDS), None)
    if verb in _READS and added is None:
        saves = _first(parameters, _SAVES)
        if saves is not None:
            why = f'the parameter "{saves}" may name what it writes'
            return Suggestion(SideEffectLevel.MUTATING, DestructiveBehavior.DESTRUCTIVE, (why,))
        why = f'"{verb}" reads, and no parameter says otherwise'
        return Suggestion(SideEffectLevel.READ_ONLY, DestructiveBehavior.NON_DESTRUCTIVE, (why,))
    if added is not None:
        target = _first(parameters, _TARGETS)
        if target is not None:
            why = f'"{added}" adds, and the parameter "{target}" may name what is there already'
            return Suggestion(SideEffectLevel.MUTATING, DestructiveBehavior.DESTRUCTIVE, (why,))
        why = f'"{added}" adds, and no parameter says that it replaces'
        return Suggestion(SideEffectLevel.MUTATING, DestructiveBehavior.NON_DESTRUCTIVE, (why,))
    why = "no word of its name says what it does"
    return Suggestion(SideEffectLevel.MUTATING, DestructiveBehavior.DESTRUCTIVE, (why,), False)


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in small letters: `readTextFile`, `read_text_file`, `read-text.file`."""
    return tuple(word.lower() for word in _WORD.findall(name[:200]))


def _against(
    words: tuple[str, ...], parameters: tuple[str, ...], description: str
) -> Iterator[str]:
    """What speaks for the worst."""
    # The thing that is acted upon is not the act: list_commands, get_update_history.
    acts = words if not words or words[0] not in _READS else words[:1] + _joined_acts(words)
    destroys = [word for word in acts if word in _DESTROYS]
    if destroys:
        yield f'its name says "{destroys[0]}"'
    runs = _first(parameters, _RUNS)
    if runs is not None:
        yield f'the parameter "{runs}" holds something that is carried out'
    forces = _first(parameters, _FORCES)
    if forces is not None:
        yield f'the parameter "{forces}" can make it destroy'
    told = _TELLS.search(description[:20_000])
    if told is not None:
        yield f'its description says "{told.group().lower()}"'
    if len(parameters) > _MAX_PARAMETERS:
        yield f"it has more than {_MAX_PARAMETERS} parameters"


def _joined_acts(words: tuple[str, ...]) -> tuple[str, ...]:
    """Of a name that begins with reading, the further acts: what follows "and", "or", "then"."""
    return tuple(
        word
        for before, word in pairwise(words)
        if before in ("and", "or", "then") or word in _ALWAYS
    )


_ALWAYS: Final = _set("delete remove drop destroy erase purge wipe truncate overwrite")
"""Acts that count even where they may be a thing: nobody lists what they do not mean."""


def _first(parameters: tuple[str, ...], wanted: frozenset[str]) -> str | None:
    """The first parameter one of whose words is wanted."""
    for name in parameters:
        words = words_of(name)
        if wanted.intersection(words) and not (wanted is _TARGETS and _PLACES.intersection(words)):
            return name
    return None


def _parameters(schema: Mapping[str, Any]) -> Iterator[str]:
    """The names of the parameters, those inside of others included."""
    level: list[Any] = [schema]
    found = 0
    for _ in range(_MAX_DEPTH):
        below: list[Any] = []
        for node in level:
            if not isinstance(node, dict):
                continue
            properties: object = cast("dict[str, Any]", node).get("properties")
            if not isinstance(properties, dict):
                continue
            for name, inside in cast("dict[str, Any]", properties).items():
                yield name[:100]
                found += 1
                if found > _MAX_PARAMETERS:
                    return
                below.append(inside)
                if isinstance(inside, dict):
                    below.append(cast("dict[str, Any]", inside).get("items"))
        level = below
