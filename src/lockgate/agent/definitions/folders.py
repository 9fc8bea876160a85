"""Which files hold definitions: the Markdown files of a directory, or one that is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Protocol, TypeVar

from lockgate.errors import ConfigError, Problem

MAX_FILES: Final = 200
"""Definitions in one directory."""


class Named(Protocol):
    """A definition, as far as telling it from others goes."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> Path | None:
        """The file it was read from; None for one that a program gave."""
        ...


_N = TypeVar("_N", bound=Named)


def files_of(place: Path, pattern: str = "*.md") -> tuple[Path, ...]:
    """The files that a configured path means: itself, or, of a directory, those of `pattern` in it
    (`*.md`, `*/SKILL.md`), in the order of their names. Hidden ones are none.

    Raises `ConfigError` for a path that is not there, a file that a link leads out of the
    directory, and more than 200 files.
    """
    if not place.is_dir():
        if not place.exists():
            raise ConfigError(Problem("there is no such file or directory", file=place))
        return (place,)
    problems: list[Problem] = []
    try:
        for below in (place, *(path for path in place.iterdir() if "/" in pattern)):
            if below.is_dir() and not below.name.startswith("."):
                next(below.iterdir(), None)  # a glob passes over what it may not look into
        found = sorted(
            path
            for path in place.glob(pattern)
            if not any(part.startswith(".") for part in path.relative_to(place).parts)
        )
        real = place.resolve()
        for path in found:
            if not path.resolve().is_relative_to(real):
                hint = "put the file itself there, or name the place where it is"
                message = "leads out of its directory by a symbolic link"
                problems.append(Problem(message, file=path, hint=hint))
    except (OSError, RuntimeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "a circle of links"
        raise ConfigError(Problem(f"can not be looked through: {reason}", file=place)) from None
    if len(found) > MAX_FILES:
        problems.append(Problem(f"has over {MAX_FILES} definitions", file=place))
    if problems:
        raise ConfigError(*problems)
    return tuple(found)


def by_name(definitions: Iterable[_N]) -> Mapping[str, _N]:
    """The definitions by name, in their order. Raises `ConfigError` that names both files for each
    name that stands twice."""
    found: dict[str, _N] = {}
    problems: list[Problem] = []
    for definition in definitions:
        first = found.setdefault(definition.name, definition)
        if first is not definition:
            where = first.path or "given by the program"
            problems.append(
                Problem(
                    f"the name {definition.name!r} stands twice",
                    "name",
                    definition.path,
                    hint=f"the first: {where}",
                )
            )
    if problems:
        raise ConfigError(*problems)
    return found
