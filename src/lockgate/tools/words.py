"""The words a declaration is written in, and what is said to whoever uses another's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NoReturn

from lockgate.schema.spelling import nearest
from lockgate.traits import SideEffectLevel

LevelWord = Literal["read-only", "mutating"]

_OURS: Final[Mapping[str, str]] = {
    "readonlyhint": 'level="read-only"',
    "readonly": 'level="read-only"',
    "destructivehint": "destructive",
    "idempotenthint": "idempotent",
    "openworldhint": "nothing: no trait follows from it",
    "annotations": "level, destructive and idempotent",
    "sideeffectlevel": "level",
    "concurrencysafe": "concurrent",
    "cooperative": "interruptible",
}
"""What to say instead, by the word in lower case without underscores."""

_WORDS: Final = (
    *("level", "destructive", "idempotent", "concurrent", "interruptible"),
    *("name", "title", "category"),
)


def level_of(level: object, name: str = "level") -> SideEffectLevel:
    """The level that a word means; `name` is what it was given as.

    Raises `ValueError`, with the nearest word there is.
    """
    if isinstance(level, SideEffectLevel):
        return level
    for known in SideEffectLevel:
        if level == known.value:
            return known
    words = [known.value for known in SideEffectLevel]
    near = nearest(level, words) if isinstance(level, str) else ()
    hint = f"did you mean {near[0]!r}?" if near else f"it is one of {', '.join(map(repr, words))}"
    raise ValueError(f"{name} is {level!r}: {hint}")


def refuse_words(words: Mapping[str, object]) -> NoReturn:
    """Raise `TypeError` for words that `@tool` does not take: MCP's are told ours."""
    word = next(iter(words))
    ours = _OURS.get(word.replace("_", "").casefold())
    if ours is not None:
        raise TypeError(
            f"@tool takes no {word}: that is a hint, which is what a stranger gives; declare {ours}"
        )
    near = nearest(word, _WORDS)
    hint = f"did you mean {near[0]}?" if near else f"it takes {', '.join(_WORDS)}"
    raise TypeError(f"@tool takes no {word}: {hint}")
