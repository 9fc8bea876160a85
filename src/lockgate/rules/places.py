"""Where the paths in rules start from, and where they lead."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

import msgspec

from lockgate.decision import Decision
from lockgate.rules.path import PathPattern
from lockgate.tools.subject import ResolvedPath


class Places(msgspec.Struct, frozen=True):
    """Real, absolute directories."""

    base: str
    """What relative patterns start from: the project's directory."""
    home: str | None = None
    """What `~` stands for; None: a rule with one is an error."""
    real: Callable[[str], str] | None = None
    """Tells where a directory really is, now, and never raises: a deny or ask rule that names one
    also means its files by that name. None: nothing is looked up."""

    def pattern(self, text: str, decision: Decision, source: str | None) -> PathPattern:
        """Read a path pattern of a rule. Raises `rules.path.PathPatternError`."""
        real = None if decision is Decision.ALLOW else self.real
        return PathPattern.parse(text, base=self.base, home=self.home, source=source, real=real)

    def resolved(self, text: str) -> ResolvedPath:
        """An example of a path, by the letter alone: nothing is looked up. Inside of the file roots
        is what lies in `base`; a directory is what ends in a slash."""
        whole = text
        if self.home is not None and (text == "~" or text.startswith("~/")):
            whole = self.home + text[1:]
        path = posixpath.normpath(posixpath.join(self.base, whole))
        path = "/" + path.lstrip("/")
        inside = path == self.base or path.startswith(self.base.rstrip("/") + "/")
        root = self.base if inside else None
        return ResolvedPath(text, path, path, root, directory=text.endswith("/"))
