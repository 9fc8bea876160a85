"""Looking a path up, once, before a call is decided: an effect, whose result the tool then uses.

It asks the file system of this moment and does not wait for anything else; a file system that does
not answer (a network one whose server is gone) keeps it waiting as it would the tool.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from lockgate.calls.filesystem import FileSystem, RealFileSystem
from lockgate.calls.walk import Walked, walk
from lockgate.policy.control import control_reason
from lockgate.tools.context import Environment
from lockgate.tools.subject import Resolved, ResolvedPath

_LONGEST: Final = 4095
"""Bytes of a path, as the kernel takes it."""
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_VARIABLE: Final = re.compile(r"\$(\{|[A-Za-z_]\w*(/|$))|%\w+%")
_FILES: Final = RealFileSystem()
_DESCRIPTORS: Final = ("/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr")
"""Names of whatever the process has open. Where they are links, they lead to processes."""


def resolve_path(given: str, environment: Environment, files: FileSystem = _FILES) -> ResolvedPath:
    """What `given` is in the file system now. Never raises: see `ResolvedPath.problem`.

    Relative paths start from `environment.cwd`, `~` is `environment.home`.
    `real` is what the kernel would open: `..` behind a link leads to where the link's target lies,
    which `lexical`, folded by the letter, does not know.
    """
    text, problem = _whole(given, environment)
    if problem is not None:
        return ResolvedPath(given, "", "", None, problem=problem)
    lexical = "/" + posixpath.normpath(text).lstrip("/")
    walked = walk(text, files)
    real = walked.path
    problem = walked.problem or _unusable(real)
    if problem is not None:
        return ResolvedPath(given, lexical, "", _root_of(lexical, environment), problem=problem)
    folds = walked.folds_case
    return ResolvedPath(
        given,
        lexical,
        real,
        _root_of(real, environment),
        folds,
        walked.directory,
        _control(lexical, real, environment, folds, files),
        any(
            _lies_in(path, str(barred), folds)
            for barred in environment.barred
            for path in (real, lexical)
        ),
    )


def _root_of(path: str, environment: Environment) -> str | None:
    return next((str(root) for root in environment.roots if _lies_in(path, str(root))), None)


def real_path(path: str, files: FileSystem = _FILES) -> str:
    """Where an absolute path really leads, spelled as the file system has it; `path` itself if it
    leads nowhere. Never raises."""
    walked: Walked = walk(path, files)
    return path if walked.problem is not None else walked.path


class BarredTrees:
    """Directories that a search leaves out because no tool reaches them."""

    def __init__(self, directories: Iterable[Path]) -> None:
        self._directories = tuple(map(str, directories))

    def catches(self, resolved: Resolved) -> int:
        """Not 0 for what lies in one of them, or was not resolved."""
        if not isinstance(resolved, ResolvedPath) or resolved.problem is not None:
            return 1
        real, folds = resolved.real, resolved.folds_case
        return any(_lies_in(real, directory, folds) for directory in self._directories)


def is_relative(given: str) -> bool:
    """Whether a path starts from where someone is: not from the root, and not from a home."""
    return not given.startswith(("/", "~"))


def read_otherwise(given: str) -> str | None:
    """Why a program that is handed `given` could take it for another path than the kernel does;
    None if that is not likely."""
    if given != given.strip():
        return "begins or ends with a space, which some programs cut off"
    if _ADDRESS.match(given):
        return "looks like an address, which some programs take for a path of their own"
    if _VARIABLE.match(given):
        return "begins with a variable, which some programs replace"
    return None


def barred_below(paths: Iterable[ResolvedPath], environment: Environment) -> BarredTrees | None:
    """What a search of `paths` has to leave out; None if none of them lies above any of it."""
    above = [path.real for path in paths if path.directory]
    found = [d for d in environment.barred if any(_lies_in(str(d), path) for path in above)]
    return BarredTrees(found) if found else None


def _whole(given: str, environment: Environment) -> tuple[str, str | None]:
    """`given` from the root, nothing folded; or why it can not be looked up."""
    text = given
    if not text:
        return "", "is empty"
    if "\0" in text:
        return "", "holds a NUL character"
    if text == "~" or text.startswith("~/"):
        if environment.home is None:
            return "", "begins with ~, and there is no home directory"
        text = f"{environment.home}{text[1:]}"
    elif text.startswith("~"):
        return "", "begins with ~ and the name of a user; write ./~ for a file whose name does"
    if not text.startswith("/"):
        text = f"{environment.cwd}/{text}"
        if not text.startswith("/"):
            return "", "is relative to a directory that is not known"
    try:
        if len(text.encode()) > _LONGEST:
            return "", f"is longer than {_LONGEST} bytes"
    except UnicodeEncodeError:
        return "", "holds half a surrogate pair, which is no Unicode text"
    return text, None


def _unusable(real: str) -> str | None:
    """Why a path that was found is none to work with."""
    if any(_lies_in(real, name) for name in _DESCRIPTORS):
        return "leads to a process or an open descriptor, not to a file"
    try:
        real.encode()
    except UnicodeEncodeError:
        return "leads to a name that is no Unicode text"
    return None


def _lies_in(path: str, directory: str, folds: bool = False) -> bool:
    """Whether `path` is `directory` or below it."""
    if folds:
        path, directory = path.casefold(), directory.casefold()
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _control(
    lexical: str, real: str, environment: Environment, folds: bool, files: FileSystem
) -> str | None:
    """Why the path is a control file: it is in force, or by its name, or git would read it."""
    for configured in map(str, environment.control):
        if any(_lies_in(path, configured, folds) for path in (real, lexical)):
            return "the configuration that is in force"
    reason = control_reason(real, lexical)
    if reason is not None:
        return reason
    above, _, name = real.rpartition("/")
    if name == "config":
        repository = above
    elif posixpath.basename(above) == "hooks":
        repository = posixpath.dirname(above)
    else:
        return None
    try:
        files.look(f"{repository}/HEAD")
    except (OSError, ValueError):
        return None
    return "a file of a git repository, which can make git run programs"
