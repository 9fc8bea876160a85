"""The real shell among stubs: which commands does a line start, and which files does it make?

The shell is `/bin/bash --noprofile --norc -c` with an empty environment, in an empty folder. Every
name it can find is a stub that writes its arguments down; builtins that are harmless are turned
off, so that they are written down too, and so is a name that is not found. Wrappers that the
analysis follows (`env`, `nice`, `sh -c`) are written down and then run, among the same stubs.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

Argv: TypeAlias = tuple[str, ...]

BASH: Final = "/bin/bash"
SECONDS: Final = 2
"""After which a line is killed; loops without an end are among them."""
FOLLOWED: Final = ("bash", "sh", "env", "nice", "nohup", "timeout", "stdbuf")
STUBS: Final = (
    "git", "ls", "cat", "grep", "head", "tee", "touch", "rm", "find", "xargs", "sudo", "npm",
    "echo", "pwd", "kill", "printf", "test", "[", "true", "false", "time", "a", "b", "c", "x", "if",
    "then", "fi", "do", "done", "{", "}", "!", "in", "while", "case", "esac", "else", "for",
    "-p", "-x",
)  # fmt: skip
_TURNED_OFF: Final = "echo pwd kill printf test [ true false help times"
_FAILS: Final = frozenset({"false"})
_PRELUDE: Final = """command_not_found_handle() {{
enable printf; printf '%s\\0' "$#" "$@" >>{log}/$BASHPID; return 127; }}
enable -n {off}
"""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What happened."""

    commands: tuple[Argv, ...]
    """The arguments of every program that was started, names first, in no particular order."""
    files: tuple[str, ...]
    """What stands in the folder afterwards, where nothing should."""


class RecordingShell:
    """Runs lines below `folder`, which it fills."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "log"
        self._work = folder / "work"
        self._bin = folder / "bin"
        self._bin.mkdir()
        write = f'printf \'%s\\0\' "$(($#+1))" "${{0##*/}}" "$@" >>{self._log}/$BASHPID\n'
        for name in STUBS:
            end = "exit 1\n" if name in _FAILS else ""
            self._stub(name, write + end)
        for name in FOLLOWED:
            real = shutil.which(name)
            if real is not None:
                self._stub(name, f'{write}exec {real} "$@"\n')

    def _stub(self, name: str, body: str) -> None:
        file = self._bin / name
        file.write_text(f"#!{BASH}\n{body}", "utf-8")
        file.chmod(0o755)

    @property
    def path(self) -> str:
        """The PATH that holds the stubs alone."""
        return str(self._bin)

    @property
    def prelude(self) -> str:
        """What is run before the line."""
        return _PRELUDE.format(log=self._log, off=_TURNED_OFF)

    def clear(self) -> None:
        """Make what is recorded next all that there is."""
        shutil.rmtree(self._work, ignore_errors=True)
        self._work.mkdir()
        shutil.rmtree(self._log, ignore_errors=True)
        self._log.mkdir()

    def recorded(self) -> Recorded:
        """What has happened since."""
        made = sorted(file.name for file in self._work.iterdir())
        # A file for each process: bash writes what it prints line by line, and pipes run at once.
        logs = [file.read_bytes() for file in sorted(self._log.iterdir())]
        return Recorded(tuple([argv for log in logs for argv in _parse(log)]), tuple(made))

    def run(self, line: str) -> Recorded:
        """Run `line`; after two seconds it is killed, and what it did until then counts."""
        self.clear()
        child = subprocess.Popen(
            [BASH, "--noprofile", "--norc", "-c", self.prelude + line],
            cwd=self._work,
            env={"PATH": self.path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            child.wait(SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
        return self.recorded()


def _parse(log: bytes) -> Iterable[Argv]:
    fields = log.decode("utf-8", "surrogateescape").split("\0")[:-1]
    at = 0
    while at < len(fields):
        count = int(fields[at])
        yield tuple(fields[at + 1 : at + 1 + count])
        at += 1 + count
