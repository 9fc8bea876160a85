"""JSON as people write it into settings: with comments and trailing commas, faults with a line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from lockgate.errors import ConfigError, Problem
from lockgate.showing import visible

_GAP = r"(?:[^\S]+|//[^\n\r]*|/\*.*?\*/)*"
_PART = re.compile(
    rf'"(?:[^"\\]|\\.)*"|(?P<comment>//[^\n\r]*|/\*.*?\*/)|(?P<comma>,)(?={_GAP}[}}\]])|[^"/,]+|.',
    re.DOTALL,
)


def read_json(text: str, file: Path) -> object:
    """The decoded document.

    Raises `ConfigError` for text that is no JSON even without comments and trailing commas, for a
    key that stands twice in one object, and for nesting that Python can not follow.
    """
    duplicates: list[str] = []
    problem = Problem("is not JSON", file=file)
    for attempt in (text, None):
        duplicates.clear()
        try:
            source = "".join(_blanked(text)) if attempt is None else attempt
            document: object = json.loads(source, object_pairs_hook=_pairs(duplicates))
        except json.JSONDecodeError as error:
            problem = Problem(
                f"is not JSON: {error.msg}", file=file, line=error.lineno, column=error.colno
            )
        except RecursionError:
            problem = Problem("is nested too deeply", file=file)
        else:
            if not duplicates:
                return document
            name = visible(duplicates[0])[:60]
            problem = Problem(f"has the key {name!r} twice in one object", file=file)
            break
    # Outside the handler: the decoder's own error carries the whole text.
    raise ConfigError(problem)


def _pairs(duplicates: list[str]) -> Callable[[list[tuple[str, object]]], dict[str, object]]:
    def build(items: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in items:
            if key in found:
                duplicates.append(key)
            found[key] = value
        return found

    return build


def _blanked(text: str) -> Iterator[str]:
    """The text with comments and trailing commas as spaces: everything else keeps its place."""
    for match in _PART.finditer(text):
        if match["comment"] or match["comma"]:
            yield re.sub(r"[^\n\r]", " ", match.group())
        else:
            yield match.group()
