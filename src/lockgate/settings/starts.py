"""What a configuration would start or connect to, as a person is told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from lockgate.settings.config import ApproverProgram
from lockgate.settings.entry import ServerEntry
from lockgate.settings.reading import Draft, Given
from lockgate.settings.server_keys import IDENTIFIED_BY
from lockgate.settings.telling import (
    ROOM,
    folded,
    folded_all,
    told_arguments,
    told_auth,
    told_headers,
    told_url,
    told_variables,
    word,
)
from lockgate.showing import widest

_NOWHERE = "(the address your own configuration names)"
_UNKNOWN = "(the program your own configuration names)"


class Start(msgspec.Struct, frozen=True):
    """One program that a file would start, or one server that it would connect to."""

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
    url: str | None = None
    """Where a server is that is connected to; then nothing is started."""
    headers: tuple[str, ...] = ()
    """What would be sent there of the person's environment, and names of headers."""
    through: tuple[str, ...] = ()
    """The rest that says how: proxy, certificates."""

    @property
    def sentence(self) -> str:
        """What it would do; nothing is left out."""
        return f"It would {'start' if self.url is None else 'connect to'} {self}"

    def __str__(self) -> str:
        """One line if it is short, else a line for each argument. Nothing is left out."""
        if self.url is not None:
            return self._connected()
        extras = [f"cwd: {self.cwd}"] if self.cwd else []
        if self.variables:
            extras.append(f"env: {', '.join(self.variables)}")
        line = "  ".join((f"{self.server}: {self.command}", *(f"({extra})" for extra in extras)))
        if widest(line) <= ROOM - 9:
            return line
        program = self.command.removesuffix(" ".join(("", *self.arguments)))
        count = len(self.arguments)
        told = f"{self.server}: {program}"
        if count:
            told += f", with {count} argument{'' if count == 1 else 's'}:"
        numbered = [f"{number}. {text}" for number, text in enumerate(self.arguments, 1)]
        return "\n      ".join((*folded(told, room=ROOM - 12), *folded_all((*numbered, *extras))))

    def _connected(self) -> str:
        extras = [f"header {header}" for header in self.headers] + [*self.through]
        line = "  ".join((f"{self.server}: {self.url}", *(f"({extra})" for extra in extras)))
        if widest(line) <= ROOM - 9:
            return line
        told = folded(f"{self.server}: {self.url}", room=ROOM - 12)
        return "\n      ".join((*told, *folded_all(extras)))


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
        told(
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
    """What a server that is about to be written would start or connect to."""
    if entry.url is not None:
        auth = {"type": entry.auth} if isinstance(entry.auth, str) else entry.auth
        through = [*told_auth(auth)]
        through += [f"{key}: {word(file)}" for key, file in entry.tls.items()]
        if entry.proxy is not None:
            through.append(f"proxy: {word(entry.proxy)}")
        return reached(entry.name, entry.url, entry.headers, tuple(through))
    return told(entry.name, entry.command, entry.args, entry.env, entry.cwd)


def _start(name: str, server: Draft, own: Draft) -> Start:
    merged = {key: _value(server, key, _value(own, key, None)) for key in IDENTIFIED_BY}
    if merged["url"] is not None or merged["transport"] not in (None, "stdio"):
        headers = {**_value(own, "headers", {}), **_value(server, "headers", {})}
        tls: Draft = {**_value(own, "tls", {}), **_value(server, "tls", {})}
        auth: Draft | None = merged["auth"]
        through = list(told_auth(auth and {key: given.value for key, given in auth.items()}))
        through += [f"{key}: {word(str(given.value))}" for key, given in tls.items()]
        if merged["proxy"] is not None:
            through.append(f"proxy: {word(merged['proxy'])}")
        if merged["transport"] == "sse":
            through.append("over SSE")
        return reached(name, merged["url"], headers, tuple(through))
    env = {**(_value(own, "env", {})), **(_value(server, "env", {}))}
    cwd = None if merged["cwd"] is None else str(merged["cwd"])
    return told(name, merged["command"], merged["args"] or (), env, cwd)


def reached(
    name: str, url: str | None, headers: Mapping[str, str], through: tuple[str, ...]
) -> Start:
    """What would be connected to; `url` None: what the person's own file says."""
    where = f"'{_NOWHERE}'" if url is None else told_url(url)
    return Start(
        server=name,
        command="",
        env=(),
        url=where,
        headers=told_headers(headers),
        through=through,
    )


def told(
    name: str,
    command: str | None,
    args: Sequence[str],
    env: Mapping[str, str],
    cwd: str | None,
) -> Start:
    """What would be started; `command` None: what the person's own file says."""
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
