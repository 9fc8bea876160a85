"""The kinds of `builtin` and `roots`: tools that come with lockgate, and where they reach."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from lockgate.rules.in_tree import IN_TREE
from lockgate.settings.findings import spelling_hint
from lockgate.settings.kinds import Directory
from lockgate.settings.nodes import Listing, Node, Scalar, is_null, kind_of
from lockgate.settings.reading import MISSING, At, Missing

_ALL = "all"


class InTreeNames(msgspec.Struct, frozen=True):
    """A list of names of tools of ours, or the word `all` for every one; never expanded."""

    words: str = f"list of {', '.join(f'`{name}`' for name in IN_TREE)}, or `all`"

    def read(self, node: Node, at: At) -> tuple[str, ...] | Missing:
        """The names in order; of `all`, every one."""
        if is_null(node):
            return ()
        if isinstance(node, Scalar) and node.text == _ALL:
            return tuple(IN_TREE)
        if not isinstance(node, Listing):
            word = node.text if isinstance(node, Scalar) else ""
            hint = f"write [{word}]" if word in IN_TREE else "write [Read, Glob], or the word all"
            return at.fault(node, f"must be a list or all, not {kind_of(node)}", hint)
        names: list[str] = []
        for index, item in enumerate(node.items):
            inner = at.item(index)
            if not isinstance(item, Scalar) or is_null(item):
                inner.fault(item, f"must be the name of a tool, not {kind_of(item)}")
            elif item.text == _ALL:
                inner.fault(item, "all stands in the place of the list", "write builtin: all")
            elif item.text not in IN_TREE:
                hint = spelling_hint(item.text, IN_TREE, what="the tools are")
                inner.fault(item, f"no tool of lockgate's is called {item.text!r}", hint)
            elif item.text in names:
                inner.fault(item, "stands twice in the list")
            else:
                names.append(item.text)
        return tuple(names)

    def merge(self, earlier: Any, later: Any) -> Any:
        """The later."""
        del earlier
        return later


class Roots(msgspec.Struct, frozen=True):
    """A list of directories, relative to the file, each once."""

    words: str = "list of paths"

    def read(self, node: Node, at: At) -> tuple[Path | str, ...] | Missing:
        """The paths, made absolute; as they were written while nothing is expanded."""
        if not isinstance(node, Listing):
            return at.fault(node, f"must be a list, not {kind_of(node)}", "write [., ../shared]")
        if not node.items:
            hint = "name a directory; for no file tools at all leave them out of builtin"
            return at.fault(node, "names no directory", hint)
        roots: list[Path | str] = []
        for index, item in enumerate(node.items):
            inner = at.item(index)
            found = Directory().read(item, inner)
            if isinstance(found, Missing):
                continue
            if found in roots:
                inner.fault(item, "stands twice in the list")
            roots.append(found)
        return tuple(roots) or MISSING

    def merge(self, earlier: Any, later: Any) -> Any:
        """The later."""
        del earlier
        return later
