"""What a program writes into a definition: held to the types that a file could not get wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast


def check_texts(whose: str, definition: object, names: Iterable[str]) -> None:
    """Raise `ValueError` for a field of `names` that is no text."""
    for name in names:
        if not isinstance(value := getattr(definition, name), str):
            raise ValueError(f"{name} of {whose} must be a text, not {type(value).__name__}")


def names_of(whose: str, tools: object) -> tuple[str, ...] | None:
    """The names of tools, of a tuple or a list. Raises `ValueError` for anything else."""
    if tools is None:
        return None
    if not isinstance(tools, tuple | list):
        hint = 'write tools=("Read",)'
        raise ValueError(f"tools of {whose} must be a tuple, not {type(tools).__name__}; {hint}")
    found = tuple(cast("Iterable[Any]", tools))
    for name in found:
        if not isinstance(name, str):
            raise ValueError(f"a tool of {whose} must be a name, not {type(name).__name__}")
    return found
