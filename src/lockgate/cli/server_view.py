"""How configured servers are shown: control characters visible, secrets masked.

Of a file that nobody has accepted, and of another program's, a command is told whole: there only a
secret's own value is masked (`settings.telling`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from lockgate.cli.options import short
from lockgate.mcp.host.settings import Verdict
from lockgate.settings.entry import ServerEntry
from lockgate.settings.masking import (
    mask,
    shown_arguments,
    shown_auth,
    shown_command,
    shown_header,
    shown_url,
)
from lockgate.settings.reading import Draft
from lockgate.settings.survey import Survey, WrittenServer
from lockgate.settings.telling import masked_arguments, told_command, told_url
from lockgate.settings.writing import Written
from lockgate.showing import visible


def command_line(server: WrittenServer, waiting: Path | None) -> str:
    """What starts it, or where it is, on one line; `waiting` is the file that is not accepted."""
    command = server["command"]
    if server["url"] is not None:
        return _address(server, waiting)
    if command is None:
        return "(none)"
    if waiting in server.files:
        return told_command(command, server["args"])
    return shown_command(command, server["args"])


def server_data(server: WrittenServer, waiting: Path | None) -> dict[str, Any]:
    """One configured server, for JSON and for display; `waiting` is the file not accepted."""
    command, cwd = server["command"], server["cwd"]
    args: tuple[str, ...] = server["args"]
    told = _told_args(command or "", args) if waiting in server.files else shown_arguments(args)
    return {
        "name": server.name,
        "transport": server["transport"],
        "command": None if command is None else visible(command),
        "args": list(told),
        "env": {visible(key): mask(value) for key, value in server["env"].items()},
        "cwd": None if cwd is None else visible(cwd),
        "url": None if server["url"] is None else _address(server, waiting),
        "headers": {visible(k): shown_header(v) for k, v in server["headers"].items()},
        "tls": {key: visible(str(given.value)) for key, given in server["tls"].items()},
        "auth": None if server["auth"] is None else _auth(server["auth"]),
        "proxy": None if server["proxy"] is None else shown_url(server["proxy"]),
        "requestTimeout": server["requestTimeout"],
        "progressExtends": server["progressExtends"],
        "annotationTrust": server["annotationTrust"].value,
        "required": server["required"],
        "expectTools": [visible(tool) for tool in server["expectTools"]],
        "lane": server["lane"],
        "elicitation": server["elicitation"].value,
        "roots": [visible(str(root)) for root in server["roots"]],
        "sampling": None if server["sampling"] is None else _sampling(server["sampling"]),
        "verdicts": {
            visible(tool): _verdict(given.value) for tool, given in server["verdicts"].items()
        },
        "files": [str(file) for file in server.files],
    }


def entry_data(entry: ServerEntry) -> dict[str, Any]:
    """One server that is about to be written, or was."""
    if entry.url is not None:
        return {
            "name": entry.name,
            "transport": entry.transport,
            "url": shown_url(entry.url),
            "headers": {visible(key): shown_header(value) for key, value in entry.headers.items()},
            "auth": entry.auth
            if entry.auth is None or isinstance(entry.auth, str)
            else shown_auth(entry.auth),
            "tls": {key: visible(file) for key, file in entry.tls.items()},
            "proxy": None if entry.proxy is None else shown_url(entry.proxy),
        }
    return {
        "name": entry.name,
        "command": visible(entry.command),
        "args": list(_told_args(entry.command, entry.args)),
        "env": {visible(key): mask(value) for key, value in entry.env.items()},
        "cwd": None if entry.cwd is None else visible(entry.cwd),
    }


def written_data(written: Written) -> dict[str, Any]:
    """What came of a change to a file."""
    return {"file": str(written.path), "created": written.created, "accepted": written.accepted}


def tell_waiting(written: Written) -> None:
    """Say so when a file that was changed still waits for its acceptance."""
    if not written.accepted:
        _tell(short(written.path))


def tell_unaccepted(found: Survey) -> None:
    """Say so when what is listed can not be used yet."""
    if found.waiting is not None:
        _tell(short(found.waiting))


def _address(server: WrittenServer, waiting: Path | None) -> str:
    url: str = server["url"]
    return told_url(url) if waiting in server.files else shown_url(url)


def _auth(draft: Draft) -> dict[str, str | list[str]]:
    return shown_auth({key: given.value for key, given in draft.items()})


def _tell(file: str) -> None:
    click.echo(f"{file} is not accepted yet, so nothing starts: lockgate config accept", err=True)


def _told_args(command: str, args: Sequence[str]) -> tuple[str, ...]:
    masks = masked_arguments(command, args)
    return tuple(masked or visible(text) for text, masked in zip(args, masks, strict=True))


def _sampling(draft: Draft) -> dict[str, Any]:
    """The keys that are given; a model is a name and no secret."""
    values = {key: given.value for key, given in draft.items()}
    return {key: visible(held) if isinstance(held, str) else held for key, held in values.items()}


def _verdict(verdict: Verdict) -> dict[str, str]:
    axes = {
        "level": verdict.level,
        "destructive": verdict.destructive,
        "idempotent": verdict.idempotent,
        "concurrent": verdict.concurrent,
    }
    return {name: value.value for name, value in axes.items() if value is not None}
