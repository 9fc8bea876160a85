"""Globs that keep files out of a search, by their exact names."""

from __future__ import annotations

from typing import Final

from lockgate.builtin.files.problem import FileProblem

MAX_EXCLUDED: Final = 2000
"""Globs: a program's arguments are bounded, and each is tried on every file."""
MAX_CHARACTERS: Final = 500_000
"""Characters of all of them; Linux takes 2 MB of arguments and variables."""


def exclusions(seen: list[str], hidden: list[str]) -> tuple[str, ...]:
    """Ripgrep's arguments that leave out `hidden` and nothing of `seen`; names have `/` in them.

    Directories of which nothing is seen are left out as wholes. Raises `FileProblem` if that is
    still too much to tell it.
    """
    if not hidden:
        return ()
    kept = {""}
    for name in seen:
        above = name
        while (above := above.rpartition("/")[0]) not in kept:
            kept.add(above)
    tops = dict.fromkeys(_top(name, kept) for name in hidden)
    args = tuple(f"--glob=!/{_escaped(top)}" for top in tops)
    if len(args) > MAX_EXCLUDED or sum(map(len, args)) > MAX_CHARACTERS:
        raise FileProblem(
            "too_many",
            f"permission rules withhold files at over {MAX_EXCLUDED} places below it: search a "
            "directory below it",
        )
    return args


def _top(name: str, kept: set[str]) -> str:
    """The highest directory on the way to a file of which nothing is seen, or the file itself."""
    at = name.find("/")
    while at >= 0:
        if name[:at] not in kept:
            return name[:at]
        at = name.find("/", at + 1)
    return name


def _escaped(name: str) -> str:
    """A glob that means this name, and no more than can be helped.

    Blanks at the end would be taken off: an ASCII one stands in a class, and behind another comes
    a `*`, as classes are of bytes. A byte that is no text becomes `?`, which is any byte.
    """
    parts: list[str] = []
    for character in name:
        if "\udc80" <= character <= "\udcff":
            parts.append("?")
        elif character.isspace() and character.isascii():
            parts.append(f"[{character}]")
        elif character in "*?[]{}\\!,#":
            parts.append(f"\\{character}")
        else:
            parts.append(character)
    if name[-1].isspace() and not name[-1].isascii():
        parts.append("*")
    return "".join(parts)
