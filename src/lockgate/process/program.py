"""What to start, and where it is: each way of not being there is an error of its own (PB-026).

The search is done here and not left to `exec`, which gives one error for four causes and looks in
the PATH of the host. No message holds an argument or a value of the environment.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lockgate.errors import Fate, Fault, PeerError, Phase


@dataclass(frozen=True, slots=True)
class Program:
    """A program with all that it is started with."""

    name: str
    """What messages call it; the `peer` of its errors."""
    command: str
    """A path, or a bare name that is looked up in the PATH of `env`."""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Its whole environment; see `environment.child_environment`."""
    cwd: Path | None = None
    """None: that of the host."""
    reads: bool = True
    """Whether it has a standard input that is written to; else that is `/dev/null`."""
    starts_others: bool = True
    """Whether it may start programs that have to end with it. If not, they are not looked for."""


def expand_home(path: str, env: Mapping[str, str]) -> str:
    """`~` and `~/...` with the HOME of `env`, `~user/...` by the system's own list of users.

    What can not be expanded is returned as it is, and will not be found.
    """
    if path == "~" or path.startswith(("~/", "~" + os.sep)):
        home = env.get("USERPROFILE" if sys.platform == "win32" else "HOME")
        return home + path[1:] if home else path
    return os.path.expanduser(path) if path.startswith("~") else path  # noqa: PTH111 - Path changes more than the ~


def find(program: Program) -> str:
    """The file that `program` means, after the working directory was looked at too.

    A path that is not absolute starts from the working directory; so would a PATH entry that is
    not absolute, and is not searched: a project's directory may not decide what a bare name means.
    Raises `PeerError` (SPAWN, NOT_STARTED, NOT_SENT).
    """
    if program.cwd is not None:
        _check_directory(program, program.cwd)
    command = program.command
    if not command or "\0" in command:
        raise not_started(program, "its command is empty or holds a NUL character")
    if os.sep in command or (os.altsep is not None and os.altsep in command):
        path = str((program.cwd or Path()).absolute() / command)
        _check_file(program, path)
        return path
    if sys.platform == "win32":
        found = shutil.which(command, path=program.env.get("PATH", ""))
        if found is None:
            raise not_started(program, f"`{command}` was not found in the PATH that it gets")
        return found
    return _search(program)


def not_started(program: Program, why: str) -> PeerError:
    """The error for a program that never ran: `why` completes "can not be started: "."""
    return PeerError(
        f"can not be started: {why}",
        peer=program.name,
        phase=Phase.SPAWN,
        fault=Fault.NOT_STARTED,
        fate=Fate.NOT_SENT,
    )


def _search(program: Program) -> str:
    """Look for a bare name in the PATH, as a shell does."""
    forbidden: PeerError | None = None
    for directory in program.env.get("PATH", "").split(os.pathsep):
        if not os.path.isabs(directory):  # noqa: PTH117 - a plain question about a string
            continue
        path = str(Path(directory) / program.command)
        if not os.path.isfile(path):  # noqa: PTH113 - asked once per PATH entry; Path costs more
            continue
        try:
            _check_file(program, path)
        except PeerError as error:
            forbidden = forbidden or error
            continue
        return path
    raise forbidden or not_started(
        program,
        f"`{program.command}` was not found in the PATH that it gets; "
        "give its full path, or set PATH in its environment",
    )


def _check_file(program: Program, path: str) -> None:
    """Tell apart what `exec` does not."""
    try:
        mode = Path(path).stat().st_mode
    except PermissionError:
        raise not_started(
            program, f"permission denied: a directory on the way to `{path}` can not be entered"
        ) from None
    except OSError:
        hint = ""
        if path.startswith("~") or "/~" in path:
            hint = "; its `~` could not be expanded"
        raise not_started(program, f"`{path}` was not found{hint}") from None
    if stat.S_ISDIR(mode):
        raise not_started(program, f"`{path}` is a directory, not a program")
    if not os.access(path, os.X_OK):
        raise not_started(
            program, f"permission denied: `{path}` is not executable (chmod +x makes it so)"
        )


def _check_directory(program: Program, cwd: Path) -> None:
    try:
        mode = cwd.stat().st_mode
    except PermissionError:
        raise not_started(
            program, f"permission denied: its working directory `{cwd}` can not be reached"
        ) from None
    except OSError:
        raise not_started(program, f"its working directory (cwd) `{cwd}` does not exist") from None
    if not stat.S_ISDIR(mode):
        raise not_started(program, f"its working directory (cwd) `{cwd}` is not a directory")
    if not os.access(cwd, os.X_OK):
        raise not_started(
            program, f"permission denied: its working directory `{cwd}` can not be entered"
        )
