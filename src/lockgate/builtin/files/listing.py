"""The files below a directory, as ripgrep finds them, less what the call may not see."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from lockgate.builtin.files.blocking import Stop
from lockgate.builtin.files.directory import Directory
from lockgate.builtin.files.near import inside
from lockgate.builtin.files.problem import FileProblem
from lockgate.builtin.files.ripgrep import WALKING, program_in, run
from lockgate.tools.context import ToolContext
from lockgate.tools.subject import ResolvedPath, Subjects

MAX_LISTED: Final = 200_000
"""Files of one directory tree that are looked at; a larger one is to be searched in parts."""
LOOK: Final = 1000
"""Files between two looks at whether anyone still waits."""


@dataclass(frozen=True, slots=True)
class View:
    """What a call may see below one directory."""

    root: ResolvedPath
    subjects: Subjects
    barred: tuple[str, ...]
    """Real directories that no tool reaches."""

    @classmethod
    def of(cls, root: ResolvedPath, context: ToolContext) -> View:
        """That of a call."""
        barred = tuple(map(str, context.execution.environment.barred))
        return cls(root, context.subjects, barred)

    @property
    def partial(self) -> bool:
        """Whether anything may be hidden from it."""
        above = f"{_folded(self.root.real, self.root).rstrip('/')}/"
        return bool(self.subjects.withheld) or any(
            _folded(directory, self.root).startswith(above) for directory in self.barred
        )

    def shows(self, name: str) -> bool:
        """Whether a file is there for it; `name` is from the root, with `/` between its parts."""
        path = inside(self.root, name)
        if self.barred:
            real = _folded(path.real, self.root)
            for directory in self.barred:
                if f"{real}/".startswith(f"{_folded(directory, self.root).rstrip('/')}/"):
                    return False
        return not self.subjects.withholds(path)


async def listed(
    rg: str,
    directory: Directory,
    root: ResolvedPath,
    deadline: float,
    *,
    ignored: bool,
) -> list[bytes]:
    """The files below `directory`, from there, by path; `ignored`: those too that .gitignore names.

    Raises `FileProblem` if there are too many, or listing them takes too long.
    """
    names: list[bytes] = []

    def take(name: bytes) -> bool:
        names.append(name)
        return len(names) <= MAX_LISTED

    args = ("--files", "--null", *WALKING, *(("--no-ignore",) if ignored else ()))
    ran = await run(program_in(rg, args, directory, root), take, separator=b"\0", deadline=deadline)
    if not ran.whole:
        what = "listing its files takes too long" if ran.late else f"it has over {MAX_LISTED} files"
        raise FileProblem("too_many", f"{root.given}: {what}: look into a directory below it")
    return names


def _folded(path: str, root: ResolvedPath) -> str:
    return path.casefold() if root.folds_case else path


def parted(names: list[bytes], view: View, stop: Stop) -> tuple[list[str], list[str]]:
    """Which of them a call may see, and which not."""
    seen: list[str] = []
    hidden: list[str] = []
    for number, name in enumerate(names):
        if number % LOOK == 0:
            stop.check()
        text = os.fsdecode(name.removeprefix(b"./"))
        (seen if view.shows(text) else hidden).append(text)
    return seen, hidden
