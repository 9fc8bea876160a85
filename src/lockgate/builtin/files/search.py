"""What Grep was asked, as arguments of ripgrep: no value of a caller's is ever an option."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, TypeAlias

from lockgate.builtin.files.pattern import FilePattern
from lockgate.builtin.files.problem import wrong_argument

DEFAULT_LIMIT: Final = 200
"""Matches, or files, that are shown unless `limit` says otherwise."""
MAX_FILE: Final = 64 * 1024 * 1024
"""Bytes of a file that is searched; larger ones are passed over."""

Mode: TypeAlias = Literal["content", "files", "count"]

_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "ignore_case": ("--ignore-case",),
    "literal": ("--fixed-strings",),
    "multiline": ("--multiline", "--multiline-dotall"),
}
_SIMPLE: Final = r"[^:\\{}\[\]!*]"
_PLAIN: Final = re.compile(rf"(?:{_SIMPLE}|\*(?!\*))*{_SIMPLE}(?:\{{{_SIMPLE}+\}})?")
"""The last part of a glob, if ripgrep reads it as we do, and it says something."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for."""

    args: tuple[str, ...]
    """Ripgrep's, but which files there are."""
    chosen: tuple[str, ...]
    """Ripgrep's, for which of them."""
    only: FilePattern | None
    """Which of those that it finds."""
    mode: Mode
    limit: int
    ignored: bool
    """Whether what .gitignore names is searched too."""
    each: bool
    """Whether matches are counted and not lines, as they may go over several."""

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """That of a call. Raises `FileProblem`."""
        for name in ("pattern", "glob"):
            _check(name, arguments.get(name, ""))
        mode: Mode = arguments.get("mode", "content")
        args = [f"--regexp={arguments['pattern']}", f"--max-filesize={MAX_FILE}", "--no-mmap"]
        for name, options in _OPTIONS.items():
            if arguments.get(name) is True:
                args += options
        args.append("--json")  # which has what proves that a match is in a file
        if mode == "content":
            args.append(f"--context={int(arguments.get('context', 0))}")
        elif mode == "files":
            args.append("--max-count=1")
        chosen, only = _chosen(arguments.get("glob"), arguments.get("type"))
        limit = int(arguments.get("limit", DEFAULT_LIMIT))
        ignored = arguments.get("include_ignored") is True
        each = arguments.get("multiline") is True
        return cls(tuple(args), chosen, only, mode, limit, ignored, each)


def _check(name: str, text: str) -> None:
    """Raise for what can not be an argument of a program."""
    if "\0" in text:
        raise wrong_argument("pattern", f"{name}: it holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise wrong_argument("pattern", f"{name}: it has half a surrogate pair") from None


def _chosen(glob: str | None, kind: str | None) -> tuple[tuple[str, ...], FilePattern | None]:
    """Which files: ripgrep's arguments, and a pattern that it could not hold beside them.

    A glob of ripgrep's own would overrule .gitignore and the type.
    """
    args = () if kind is None else (f"--type={kind}",)
    if glob is None:
        return args, None
    if glob.startswith("!"):
        return (*args, f"--glob={glob}"), None
    last = glob.rpartition("/")[2]
    if kind is None and _PLAIN.fullmatch(last):  # spares reading files that are not shown
        args = (f"--type-add=chosen:{last}", "--type=chosen")
    return args, FilePattern.parse(glob, "glob")
