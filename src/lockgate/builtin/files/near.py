"""Names that may have been meant by one that is not there."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import Final

from lockgate.builtin.files import door
from lockgate.builtin.files.stamp import NotOpened
from lockgate.showing import visible
from lockgate.tools.subject import ResolvedPath, Subjects

MAX_NAMES: Final = 3
"""Names that are told."""
MAX_LOOKED_AT: Final = 2000
"""Names of a directory that are compared: comparing takes some microseconds each."""


def absent(path: ResolvedPath, subjects: Subjects, what: str = "file") -> str:
    """What to say of a file that is not there: what there is instead, but nothing withheld."""
    text = f"{path.given}: there is no such {what}"
    if path.root is None:  # a rule let this name through, and not those beside it
        return text
    above, _, name = path.real.rpartition("/")
    parent = replace(path, real=above or "/", lexical=above or "/", directory=True)
    try:
        entries, _ = door.listed(parent, limit=MAX_LOOKED_AT)
    except NotOpened as refusal:
        if refusal.reason == "absent":
            return f"{text}, and no directory that could hold it"
        return text
    near = [
        found
        for found in _nearest(name, [entry.name for entry in entries])
        if not subjects.withholds(inside(parent, found))
    ]
    if near:
        text += f"; its directory has {', '.join(map(visible, near[:MAX_NAMES]))}"
    return text


def inside(directory: ResolvedPath, name: str) -> ResolvedPath:
    """What `name`, one or several joined by `/` and no link among them, is in a directory."""
    real = f"{directory.real.rstrip('/')}/{name}"
    return replace(directory, given=name, lexical=real, real=real, directory=False, control=None)


def _nearest(name: str, names: list[str]) -> list[str]:
    """The most alike first, without regard to case; more than are told, as some may be withheld."""
    by_folded = {found.casefold(): found for found in sorted(names)}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=4 * MAX_NAMES)
    return [by_folded[folded] for folded in found]
