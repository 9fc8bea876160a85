"""A skill's text with the arguments of one invocation put in, as data.

One pass over the text: what stands for an argument is replaced by it, and what is put in is not
looked at again. Nothing is executed, read or looked up: commands that other programs run while they
render (`` !`date` ``), variables (`${HOME}`) and files to be included (`@notes.md`) stay as they
are, for the model to see (docs/decisions/0047).
"""

from __future__ import annotations

import re
from typing import Final

_PLACE: Final = re.compile(
    r"\$(?:ARGUMENTS(?:\[(?P<index>[0-9]{1,2})\])?(?![A-Za-z0-9_])"
    r"|(?P<number>[1-9])(?![A-Za-z0-9_]|[.,][0-9]))"
)
"""`$ARGUMENTS`, `$ARGUMENTS[0]`, `$1`; not `$10`, `$1.50` or `$ARGUMENTS_LIST`."""
_QUOTES: Final = frozenset("'\"")
MAX_RENDERED: Final = 200_000
"""Characters of a text with its arguments in it."""


class RenderedTooLong(ValueError):
    """The arguments, in all their places, make the text longer than a model could be shown."""


def render(text: str, arguments: str) -> str:
    """`text` with `arguments` in the place of `$ARGUMENTS`, and the first, second, ... of them in
    that of `$1`, `$2`, ... and `$ARGUMENTS[0]`, `$ARGUMENTS[1]`, ...

    A place whose argument was not given stays as it is. Where the text has no place for arguments,
    those that were given are told below it. Raises `RenderedTooLong`.
    """
    words = split_arguments(arguments)
    places, length = 0, len(text)

    def put(match: re.Match[str]) -> str:
        nonlocal places, length
        value = value_of(match)
        places, length = places + 1, length + len(value)
        if length > MAX_RENDERED:
            raise RenderedTooLong(f"over {MAX_RENDERED:,} characters")
        return value

    def value_of(match: re.Match[str]) -> str:
        if (number := match["number"]) is not None:
            at = int(number) - 1
        elif (index := match["index"]) is not None:
            at = int(index)
        else:
            return arguments
        return words[at] if at < len(words) else match[0]

    rendered = _PLACE.sub(put, text)
    if places or not arguments.strip():
        return rendered
    return f"{rendered.rstrip()}\n\nArguments: {arguments}"


def split_arguments(arguments: str) -> tuple[str, ...]:
    """The single arguments: words, and what stands in single or double quotes as one, without them.

    A quote that is never closed, or that stands inside a word, is a character like any other.
    """
    words: list[str] = []
    at = 0
    while at < len(arguments):
        first = arguments[at]
        if first.isspace():
            at += 1
            continue
        end = arguments.find(first, at + 1) if first in _QUOTES else -1
        if end != -1 and (end + 1 == len(arguments) or arguments[end + 1].isspace()):
            words.append(arguments[at + 1 : end])
            at = end + 1
            continue
        end = at
        while end < len(arguments) and not arguments[end].isspace():
            end += 1
        words.append(arguments[at:end])
        at = end
    return tuple(words)
