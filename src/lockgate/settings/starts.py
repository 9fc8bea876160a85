"""The programs that a configuration would start, as a person is told of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockgate.settings.config import ApproverProgram
from lockgate.settings.entry import ServerEntry
from lockgate.settings.reading import Draft, Given
from lockgate.settings.telling import (
    ROOM,
    folded,
    folded_all,
    told_arguments,
    told_variables,
    word,
)
from lockgate.showing import width_of

_STARTED_BY = ("command", "args", "env", "cwd")
_UNKNOWN = "(the program your own configuration names)"


@dataclass(frozen=True, slots=True)
class Start:
    """One program that a file would start."""

    server: str
    """The server it is, or what else it is for."""
    command: str
    """With its arguments on one line, as `telling` shows them."""
    env: tuple[str, ...]
    """Names of the variables it would get."""
    arguments: tuple[str, ...] = ()
    """As they may be shown, one for one."""
    variables: tuple[str, ...] = ()
    """The same as `env`, with the values of those that decide what runs."""
    cwd: str | None = None
    """Where it would run; None: the project's directory."""

    def __str__(self) -> str:
        """One line if it is short, else a line for each argument. Nothing is left out."""
        extras = [f"cwd: {self.cwd}"] if self.cwd else []
        if self.variables:
            extras.append(f"env: {', '.join(self.variables)}")
        line = "  ".join((f"{self.server}: {self.command}", *(f"({extra})" for extra in extras)))
        if width_of(line) <= ROOM - 9:
            return line
        program = self.command.removesuffix(" ".join(("", *self.arguments)))
        count = len(self.arguments)
        told = f"{self.server}: {program}"
        if count:
            told += f", with {count} argument{'' if count == 1 else 's'}:"
        numbered = [f"{number}. {text}" for number, text in enumerate(self.arguments, 1)]
        return "\n      ".join((*folded(told, room=ROOM - 12), *folded_all((*numbered, *extras))))


def starts_of(servers: Mapping[str, Given], own: Mapping[str, Given]) -> tuple[Start, ...]:
    """What the servers of a found file would start, with what it takes from the person's `own`."""
    return tuple(
        _start(name, given.value, own[name].value if name in own else {})
        for name, given in servers.items()
    )


def approver_starts(draft: Draft) -> tuple[Start, ...]:
    """The programs of a found file that would answer questions: they say yes in the person's
    place."""
    approvals: Draft = _value(draft, "approvals", {})
    return tuple(
        _told(
            f"a program that answers in your place (approvals.{who})",
            approver.command[0],
            approver.command[1:],
            {},
            None,
        )
        for who in ("attended", "unattended")
        for approver in _value(approvals, who, ())
        if isinstance(approver, ApproverProgram)
    )


def start_of(entry: ServerEntry) -> Start:
    """What a server that is about to be written would start."""
    return _told(entry.name, entry.command, entry.args, entry.env, entry.cwd)


def _start(name: str, server: Draft, own: Draft) -> Start:
    merged = {key: _value(server, key, _value(own, key, None)) for key in _STARTED_BY}
    env = {**(_value(own, "env", {})), **(_value(server, "env", {}))}
    cwd = None if merged["cwd"] is None else str(merged["cwd"])
    return _told(name, merged["command"], merged["args"] or (), env, cwd)


def _told(
    name: str,
    command: str | None,
    args: Sequence[str],
    env: Mapping[str, str],
    cwd: str | None,
) -> Start:
    program = f"'{_UNKNOWN}'" if command is None else word(command)
    arguments = told_arguments(command or "", args)
    return Start(
        server=name,
        command=" ".join((program, *arguments)),
        env=tuple(map(word, env)),
        arguments=arguments,
        variables=told_variables(env),
        cwd=None if cwd is None else word(cwd),
    )


def _value(draft: Draft, name: str, default: Any) -> Any:
    return draft[name].value if name in draft else default
