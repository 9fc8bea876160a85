"""`Bash`: one command line, run by a shell that brings nothing of its own.

The rules that let a line through read it as `rules.command.line` says, so the shell is started just
as that is written: no start-up files, no functions or options from outside, a fixed PATH, a locale
in which a byte of ASCII is itself, no input. Nothing lasts from one call to the next; where a line
runs is an argument (docs/decisions/0025).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lockgate.builtin.declaration import BuiltinTool, Declaration
from lockgate.builtin.files.stamp import NotOpened
from lockgate.builtin.shell.line import GRACE, Ended, run_line
from lockgate.builtin.shell.place import entered
from lockgate.content import JSONObject, Text
from lockgate.errors import Fate, LocalError, PeerError
from lockgate.process.environment import PREFIX, child_environment
from lockgate.process.program import Program
from lockgate.tools.context import ToolContext
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.tools.subject import ResolvedPath, Subject, SubjectKind
from lockgate.traits import SideEffectLevel

DEFAULT_SECONDS: Final = 120
"""Seconds that a line may take if the call does not say."""
MAX_SECONDS: Final = 600
MAX_CHARACTERS: Final = 30_000
"""Characters of a line: what the system takes as one argument, whatever their length in UTF-8."""
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are looked for, whatever the PATH of the host is: no directory of the user's or of
a project decides what the `git` of a rule is."""
LANE: Final = "shell"

_DESCRIPTION: Final = (
    "Run one command line with bash and return what it prints. Each call starts anew in "
    "`directory`: a cd, variables and background jobs do not last. There is no input and no "
    f"terminal. After `timeout` seconds the line is ended. Programs are found in {PATH}, others by "
    "their path. One plain command without redirections, variables or substitutions is the "
    "likeliest to be allowed without a question."
)
_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {
        "command": {
            "type": "string",
            "description": "The command line, as for bash -c.",
            "minLength": 1,
            "maxLength": MAX_CHARACTERS,
            "pattern": "^[^\\u0000]*$",
        },
        "directory": {
            "type": "string",
            "description": "The directory it runs in. Relative paths start from the project's.",
            "default": ".",
        },
        "timeout": {
            "type": "number",
            "description": "Seconds it may take.",
            "exclusiveMinimum": 0,
            "maximum": MAX_SECONDS,
            "default": DEFAULT_SECONDS,
        },
    },
    "required": ["command"],
    "additionalProperties": False,
}
_DECLARATION: Final = Declaration(
    level=(SideEffectLevel.MUTATING, "a command line can change anything that its user can"),
    destructive=(True, "a command line can overwrite and remove anything that its user can"),
    idempotent=(False, "the same line can do more each time it runs"),
    concurrent=(False, "two lines can work on the same files, so one runs at a time"),
    interruptible=(True, "its process group can be ended at any moment"),
)


@dataclass(frozen=True, slots=True)
class Shell:
    """What runs a line. Another one than `SHELL` is for tests: no configuration names it."""

    program: str
    """Takes the line after `--noprofile --norc -c`."""
    path: str
    """The PATH it gets."""


SHELL: Final = Shell("/bin/bash", PATH)


class Bash(BuiltinTool):
    """Runs a command line in a process group of its own, bounded in time and in what it prints.

    Made by `builtin.catalogue`. An exit code other than 0 is an error result, with all that was
    printed: a model has to see that something failed, and what. Interrupted or cancelled, the line
    is ended at once, and what became of it is not known.
    """

    def __init__(self, environ: Mapping[str, str], shell: Shell = SHELL) -> None:
        """`environ` is the host's environment, of which a line sees the few names that it needs."""
        super().__init__(
            "Bash",
            _DESCRIPTION,
            _SCHEMA,
            _DECLARATION,
            title="Run a command line",
            category="shell",
            subjects=(
                Subject(SubjectKind.COMMAND, "command"),
                Subject(SubjectKind.PATH, "directory", default="."),
            ),
        )
        self._shell = shell
        self._environment = line_environment(environ, shell.path)

    @property
    def lane(self) -> str:
        """One for all tools that run command lines."""
        return LANE

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        directory = context.subjects.get("directory")
        if not isinstance(directory, ResolvedPath):
            raise LocalError("the directory of the call was not resolved")
        seconds = _seconds(arguments.get("timeout", DEFAULT_SECONDS), context.deadline)
        try:
            with entered(directory) as cwd:
                ended = await run_line(self._program(arguments["command"], cwd), seconds)
        except NotOpened as error:
            return _not_run(f"nothing was run: the directory: {error}", "directory")
        except PeerError as error:
            return _not_run(f"nothing was run: bash {error}", "not_started")
        fate = Fate.UNKNOWN if ended.status is None else Fate.ANSWERED
        return Outcome(_result(ended, seconds), fate)

    def _program(self, line: str, cwd: Path) -> Program:
        arguments = ("--noprofile", "--norc", "-c", line)
        return Program(
            "bash", self._shell.program, arguments, self._environment, cwd, reads=False
        )  # fmt: skip


def line_environment(environ: Mapping[str, str], path: str = PATH) -> Mapping[str, str]:
    """The whole environment of a line: who and where the user is, and what is the same everywhere.

    No variable that a shell, a loader, an interpreter, git or a pager takes orders from, and no
    secret of the host: what is not named in `process.environment` does not get in. The locale is
    ours, because in some of them a byte of ASCII can be a part of another character.
    """
    host = {name: value for name, value in environ.items() if not name.startswith(PREFIX)}
    fixed = {
        "PATH": path,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "SHELL": "/bin/bash",
        "TERM": "dumb",  # so that programs leave colours and cursor movements out
    }
    return child_environment(host, fixed, windows=False)


def _seconds(wanted: float, deadline: float | None) -> float:
    """The time that a line has; less than its caller waits, so that the caller hears the end."""
    if deadline is None:
        return wanted
    left = deadline - asyncio.get_running_loop().time()
    return max(0.0, min(wanted, max(left - 2 * GRACE.terminate, left / 2)))


def _not_run(why: str, reason: str) -> Outcome:
    return Outcome(ToolResult.error(ErrorKind.TOOL_ERROR, why, reason=reason), Fate.NOT_SENT)


def _result(ended: Ended, seconds: float) -> ToolResult:
    """What is told of an ended line: how it ended if not well, both streams, what was left."""
    failure = _failure(ended, seconds)
    parts = [failure[2]] if failure else []
    if ended.output:
        parts.append(ended.output)
    if ended.errors:
        parts.append(f"standard error:\n{ended.errors}")
    if not ended.output and not ended.errors:
        parts.append("It printed nothing.")
    parts += _notes(ended)
    content = tuple(Text(part) for part in parts)
    status = ended.status
    facts = {"exitCode": status and status.code, "signal": status and status.signal}
    if failure is None:
        return ToolResult(content, structured=facts)
    kind, reason, text = failure
    return ToolResult.error(kind, text, reason=reason, content=content, structured=facts)


def _failure(ended: Ended, seconds: float) -> tuple[ErrorKind, str, str] | None:
    """Kind, reason and first words, unless all went well."""
    status = ended.status
    if ended.timed_out:
        text = (
            f"It was ended after {seconds:.3g} seconds, which was its time, and may have done a "
            f"part of its work: look before you run it again. `timeout` can be up to {MAX_SECONDS}."
        )
        return ErrorKind.TIMEOUT, "time_limit", text
    if status is None:
        return ErrorKind.TOOL_ERROR, "not_ended", "It could not be ended, and may still run."
    if status.signal is not None:
        return ErrorKind.TOOL_ERROR, "signal", f"It was ended by {status.signal}."
    if status.code:
        return ErrorKind.TOOL_ERROR, "exit_code", f"It ended with {status}."
    return None


def _notes(ended: Ended) -> list[str]:
    notes: list[str] = []
    if ended.left_jobs:
        notes.append("What it left running in the background was ended: jobs do not last.")
    if ended.held:
        notes.append(
            "Something that it started has cleaned its environment, could not be found, and still "
            "holds its output; that was not ended."
        )
    status = ended.status
    if status is not None and status.code == 127 and not ended.timed_out:
        notes.append(f"Programs are looked for in {PATH} alone; others are called by their path.")
    return notes
