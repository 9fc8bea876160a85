"""The kind of `agent.skills` and its like: where definitions in Markdown are."""

from __future__ import annotations

from pathlib import Path

import msgspec

from lockgate.settings.kinds import Directory
from lockgate.settings.nodes import Listing, Node, Place, kind_of
from lockgate.settings.reading import At, Missing


class DefinitionPlace(msgspec.Struct, frozen=True):
    """One path as a file gives it."""

    path: Path | str
    """Absolute; the text as it was written while nothing is expanded."""
    place: Place
    """Whose file gives it, and where."""
    key: str
    """Key path in that file."""


class DefinitionPlaces(msgspec.Struct, frozen=True):
    """A list of directories and files, relative to the file; the lists of all layers are joined."""

    words: str = "list of paths"

    def read(self, node: Node, at: At) -> tuple[DefinitionPlace, ...] | Missing:
        """The paths in order."""
        if not isinstance(node, Listing):
            hint = "write [./name], or one path a line, each after a dash"
            return at.fault(node, f"must be a list, not {kind_of(node)}", hint)
        found: list[DefinitionPlace] = []
        for index, item in enumerate(node.items):
            inner = at.item(index)
            path = Directory(noun="directory or file").read(item, inner)
            if isinstance(path, Missing):
                continue
            if any(path == other.path for other in found):
                inner.fault(item, "stands twice in the list")
            found.append(DefinitionPlace(path, item.place, inner.path))
        return tuple(found)

    def merge(
        self, earlier: tuple[DefinitionPlace, ...], later: tuple[DefinitionPlace, ...]
    ) -> tuple[DefinitionPlace, ...]:
        """Both, each path once: a project adds to what a person has."""
        known = {place.path for place in earlier}
        return (*earlier, *(place for place in later if place.path not in known))
