"""The shell tool itself, on its whole road, with its lines run among the recording stubs.

Rules allow each stub by its name; nobody is there to say yes to anything else.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from lockgate.builtin.shell.bash import Shell
from lockgate.testing.shell import ShellRoad, named_rule
from lockgate.tools.result import ErrorKind
from recording_shell import BASH, FOLLOWED, STUBS, Recorded, RecordingShell

NAMES: Final = frozenset((*STUBS, *FOLLOWED, "help", "times"))
"""Commands that rules allow."""
PATIENCE: Final = 0.5
"""Seconds of a line; what was started until then counts."""
_PROGRAM: Final = """#!/bin/bash -p
[[ $# == 4 && "$1 $2 $3" == '--noprofile --norc -c' ]] || exit 99
exec {bash} "$1" "$2" "$3" {prelude}"$4"
"""


class ToolShell:
    """Makes calls of the tool below `folder`. Use it in a `with`."""

    def __init__(self, folder: Path) -> None:
        self._stubs = RecordingShell(folder)
        program = folder / "shell"
        prelude = shlex.quote(self._stubs.prelude)
        program.write_text(_PROGRAM.format(bash=BASH, prelude=prelude), "utf-8")
        program.chmod(0o755)
        shell = Shell(str(program), self._stubs.path)
        self._road = ShellRoad(folder, rules=[named_rule(name) for name in NAMES], shell=shell)

    async def run(self, line: str) -> tuple[bool, Recorded]:
        """Whether the line was let through, and what has happened."""
        self._stubs.clear()
        result = await self._road.line(line, timeout=PATIENCE, attended=False)
        recorded = self._stubs.recorded()
        if result.reason == "exit_code" and "exit code 99" in result.text:
            raise AssertionError("the tool starts its shell in another way")
        ran = result.kind in {None, ErrorKind.TOOL_ERROR, ErrorKind.TIMEOUT}
        if not ran and result.reason not in {"nobody_to_ask", "schema"}:
            raise AssertionError(f"the road ended with {result.kind}, {result.reason}")
        return ran, recorded

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._road.close()
