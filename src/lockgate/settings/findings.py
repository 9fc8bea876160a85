"""Everything that is wrong with a configuration, collected and told at once (S0-14)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from lockgate.errors import ConfigError, Problem
from lockgate.schema.spelling import nearest
from lockgate.settings.nodes import Place
from lockgate.showing import visible

_NONE: Mapping[str, str] = MappingProxyType({})


class Findings:
    """The findings of one reading, in the order in which they were made."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def add(self, place: Place, path: str, message: str, hint: str | None = None) -> None:
        """Note one. Neither text may hold the value of a secret-bearing key.

        Control characters of a hostile file are made visible, and its long words cut.
        """
        message, path = (_bounded(visible(text)) for text in (message, path))
        hint = "\n  ".join(_bounded(visible(line)) for line in (hint or "").split("\n")) or None
        self._problems.append(Problem(message, path, place.file, place.line, place.column, hint))

    def include(self, error: ConfigError) -> None:
        """Note the findings of an error that ended the reading of one file."""
        self._problems.extend(error.problems)

    def include_all(self, other: Findings) -> None:
        """Note the findings of another reading."""
        self._problems.extend(other.problems)

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(self._problems)

    def __bool__(self) -> bool:
        return bool(self._problems)

    def raise_any(self) -> None:
        """Raise `ConfigError` with all of them, if there is one; sorted by place, file by file."""
        if not self._problems:
            return
        files = list(dict.fromkeys(problem.file for problem in self._problems))
        ordered = sorted(
            self._problems,
            key=lambda p: (files.index(p.file), p.line or 0, p.column or 0),
        )
        raise ConfigError(*ordered)


def spelling_hint(
    word: str,
    valid: Iterable[str],
    *,
    also_called: Mapping[str, str] = _NONE,
    what: str = "valid here",
) -> str:
    """What to write instead of `word`.

    The nearest of `valid`; else what another program's word (`also_called`: that word to ours)
    stands for; else the whole list.
    """
    valid = tuple(valid)
    squeezed = _squeeze(word)
    for ours in valid:
        if _squeeze(ours) == squeezed:
            return f"did you mean {ours}?"
    if word in also_called:
        return f"write {also_called[word]}"
    # Of two spellings that differ in case, the first is the one to write.
    distinct = {ours.casefold(): ours for ours in reversed(valid)}
    if near := nearest(word, distinct.values()):
        return f"did you mean {' or '.join(near)}?"
    if near := nearest(word, also_called):
        return f"did you mean {also_called[near[0]]}?"
    return f"{what}: {', '.join(valid)}"


def _squeeze(word: str) -> str:
    return word.replace("_", "").replace("-", "").casefold()


def _bounded(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."
