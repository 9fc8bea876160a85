"""The files that a command line runs or reads, as far as it names them.

Who writes to the program of a hook, of an approver or of a server decides what it says, and has
code run with the trust that it was given (B-13): so each of these files is a control file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lockgate.hooks.declared.plan import CommandHandler
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.process.environment import child_environment
from lockgate.process.program import expand_home
from lockgate.settings.config import ApproverProgram, Config

if TYPE_CHECKING:
    from lockgate.rules.command.command import Command

MAX_DIRECTORIES: Final = 16
"""Directories that a line changes to which are followed."""
_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*(?:\.exe)?")
_MODULE: Final = re.compile(r"\w+(?:\.\w+)*")
_VALUE: Final = re.compile(r"(?:-{0,2}[\w-]+=|-\w)(.+)", re.DOTALL)
"""What an option has behind its `=` or its letter, and a variable behind its `=`."""
_CODE: Final = re.compile(r"-(?:c|e|-eval|p|-print)")
"""Options of interpreters whose value is code."""
_INTERPRETER: Final = re.compile(r"(?:python|pypy|node|deno|bun|perl|ruby|php|lua)[\d.]*")


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A program that a configuration starts, and with what."""

    of: str
    """What it is, for messages: `the hook check`."""
    source: str | None
    """Where the configuration says so."""
    words: tuple[str, ...] = field(repr=False)
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    """Its whole environment."""
    guards: bool = True
    """Whether it decides about calls; else it is a server."""


@dataclass(frozen=True, slots=True)
class ProgramFiles:
    """What a command line names."""

    files: tuple[Path, ...] = ()
    """Each as it is named, from the directories that it runs in. Some may not be there."""
    whole: bool = True
    """False if what it runs is decided by more than its words: an expansion, or code in it."""


def command_lines(
    config: Config, project: Path, environ: Mapping[str, str]
) -> Iterator[CommandLine]:
    """Every program that `config` starts: hooks, those of its skills, approvers, servers."""
    for hook in config.declared_hooks:
        handler = hook.handler
        if isinstance(handler, CommandHandler):
            words = (handler.command, *handler.args)
            env = child_environment(environ, handler.env)
            yield CommandLine(f"the hook {hook.name}", hook.source, words, project, env)
    approvals, plain = config.approvals, child_environment(environ, {})
    for approver in dict.fromkeys([*approvals.attended, *approvals.unattended]):
        if isinstance(approver, ApproverProgram):
            yield CommandLine("the approver", "approvals", approver.command, project, plain)
    for server in config.servers:
        endpoint = server.endpoint
        if isinstance(endpoint, StdioEndpoint):
            where = project
            if endpoint.cwd is not None:
                where = project / expand_home(str(endpoint.cwd), environ)
            env = child_environment(environ, endpoint.env)
            words = (expand_home(endpoint.command, env), *endpoint.args)
            yield CommandLine(f"the server {server.name}", None, words, where, env, guards=False)


def config_files(config: Config, project: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The files that the programs of `config` are, and those that they are handed.

    Of a server no directory counts, which is mostly what it is to serve; of what guards calls no
    directory that the whole project is in.
    """
    found: dict[Path, None] = {}
    for line in command_lines(config, project, environ):
        for path in program_files(line).files:
            if _decides(path, project, line):
                found[path] = None
    return tuple(found)


def _decides(path: Path, project: Path, line: CommandLine) -> bool:
    if _is_file(path):
        return True
    if _is_dir(path):
        return line.guards and not _holds(path, project)
    # Not there, and it would be run once it is; a device is nobody's to change. What a server is
    # to serve may not be there yet either: of its words, what looks like a file counts.
    program = path.name == Path(line.words[0]).name
    return not os.path.lexists(path) and (line.guards or program or bool(path.suffix))


def program_files(line: CommandLine) -> ProgramFiles:
    """What `line` names: paths, files that are there, `python -m` modules, programs by PATH, and
    the same inside of what a wrapper or a shell is handed. Never fails."""
    from shlex import join

    from lockgate.rules.command.line import analyse

    found = dict.fromkeys(_named(line.words, (line.cwd,), line.env))
    read = analyse(join(line.words))
    commands = [command for command in read.commands if command.words]
    bases = _directories(commands, line.cwd)
    for command in commands:
        words = [word.text for word in command.words if word.closed]
        if words and command.words[0].closed:
            found.update(dict.fromkeys(_named(words, bases, line.env)))
        else:
            found.update(dict.fromkeys(_handed(words, bases, line.env)))
    found.update(dict.fromkeys(_handed(read.reads, bases, line.env)))
    whole = not read.unknown and all(map(_told, commands)) and bool(commands)
    return ProgramFiles(tuple(found), whole)


def _told(command: Command) -> bool:
    """Whether the words of a command say what it runs."""
    if not command.certain:
        return True  # another reading of words that are looked at anyway
    if any(not word.closed for word in command.words) or command.name in {"eval", "trap"}:
        return False
    base, words = command.base_name or "", [word.text for word in command.words[1:]]
    return not (_INTERPRETER.fullmatch(base) and any(_CODE.fullmatch(word) for word in words))


def _directories(commands: Iterable[Command], cwd: Path) -> tuple[Path, ...]:
    """Where the commands of a line may run: an operand that is a directory is gone to."""
    found = {cwd: None}
    for command in commands:
        if command.base_name not in {"cd", "pushd", "env", "git", "make"}:
            continue
        for word in command.words[1:]:
            for base in tuple(found):
                if word.closed and word.text and len(found) < MAX_DIRECTORIES:
                    path = base / word.text
                    if _is_dir(path):
                        found[path] = None
    return tuple(found)


def _named(words: Sequence[str], bases: Sequence[Path], env: Mapping[str, str]) -> Iterator[Path]:
    """What one command names: its program, and what it is handed."""
    program, *rest = words
    yield from _handed(words, bases, env)
    if "/" not in program and "\0" not in program:
        yield from _in_path(program, bases[0], env)
    if _PYTHON.fullmatch(program.rpartition("/")[2]):
        for name in _modules(rest):
            for base in (*bases, *_python_path(bases[0], env)):
                yield from _of_module(base, name)


def _handed(words: Iterable[str], bases: Sequence[Path], env: Mapping[str, str]) -> Iterator[Path]:
    """Words that are paths, or files that are there; an option's value, too."""
    for word in words:
        value = _VALUE.fullmatch(word)
        texts = [text for text in (word, value and value[1]) if text]
        for text in texts:
            if "\n" in text or "\0" in text or "://" in text or text.startswith("-"):
                continue
            told = "/" in text and text == texts[-1] and not any(map(str.isspace, text))
            for base in bases:
                path = base / expand_home(text, env)
                if told or _is_file(path):
                    yield path


def _in_path(program: str, cwd: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Where a bare name is found, and before that in the project, where it would be found first."""
    for directory in env.get("PATH", "").split(os.pathsep):
        path = cwd / directory / program
        if not directory:
            continue
        if _is_file(path) and os.access(path, os.X_OK):
            yield path
            return
        if _holds(cwd, path):
            yield path


def _modules(words: Sequence[str]) -> Iterator[str]:
    for at, word in enumerate(words):
        name = word[2:] or "".join(words[at + 1 : at + 2]) if word.startswith("-m") else ""
        if _MODULE.fullmatch(name):
            yield name
            return


def _python_path(cwd: Path, env: Mapping[str, str]) -> Iterator[Path]:
    for entry in env.get("PYTHONPATH", "").split(os.pathsep):
        if entry:
            yield cwd / entry


def _of_module(base: Path, name: str) -> Iterator[Path]:
    """The files that are run for a module, there or not: a name here hides one elsewhere."""
    at = base
    for part in name.split("."):
        at /= part
        yield at.with_name(f"{part}.py")
        yield at / "__init__.py"
    yield at / "__main__.py"


def _holds(directory: Path, path: Path) -> bool:
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(directory))  # noqa: PTH100 - takes `..` out, and follows no link


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # no name that a file could have
        return False


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
