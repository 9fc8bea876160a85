"""How configured servers are shown: control characters visible, secrets masked, never a value."""

from __future__ import annotations

from typing import Any

import click

from lockgate.cli.options import short
from lockgate.mcp.host.settings import Verdict
from lockgate.settings.entry import ServerEntry
from lockgate.settings.masking import mask, shown_arguments, shown_command
from lockgate.settings.survey import Survey, WrittenServer
from lockgate.settings.writing import Written
from lockgate.showing import visible


def command_line(server: WrittenServer) -> str:
    """What starts it, on one line."""
    command = server["command"]
    return "(none)" if command is None else shown_command(command, server["args"])


def server_data(server: WrittenServer) -> dict[str, Any]:
    """One configured server, for JSON and for display."""
    command, cwd = server["command"], server["cwd"]
    return {
        "name": server.name,
        "transport": server["transport"],
        "command": None if command is None else visible(command),
        "args": list(shown_arguments(server["args"])),
        "env": {visible(key): mask(value) for key, value in server["env"].items()},
        "cwd": None if cwd is None else visible(cwd),
        "requestTimeout": server["requestTimeout"],
        "annotationTrust": server["annotationTrust"].value,
        "required": server["required"],
        "expectTools": [visible(tool) for tool in server["expectTools"]],
        "lane": server["lane"],
        "verdicts": {
            visible(tool): _verdict(given.value) for tool, given in server["verdicts"].items()
        },
        "files": [str(file) for file in server.files],
    }


def entry_data(entry: ServerEntry) -> dict[str, Any]:
    """One server that is about to be written, or was."""
    return {
        "name": entry.name,
        "command": visible(entry.command),
        "args": list(shown_arguments(entry.args)),
        "env": {visible(key): mask(value) for key, value in entry.env.items()},
        "cwd": None if entry.cwd is None else visible(entry.cwd),
    }


def written_data(written: Written) -> dict[str, Any]:
    """What came of a change to a file."""
    return {"file": str(written.path), "created": written.created, "accepted": written.accepted}


def tell_waiting(written: Written) -> None:
    """Say so when a file that was changed still waits for its acceptance."""
    if not written.accepted:
        _tell(visible(short(written.path)))


def tell_unaccepted(found: Survey) -> None:
    """Say so when what is listed can not be used yet."""
    if found.waiting is not None:
        _tell(visible(short(found.waiting)))


def _tell(file: str) -> None:
    click.echo(f"{file} is not accepted yet, so nothing starts: lockgate config accept", err=True)


def _verdict(verdict: Verdict) -> dict[str, str]:
    axes = {
        "level": verdict.level,
        "destructive": verdict.destructive,
        "idempotent": verdict.idempotent,
        "concurrent": verdict.concurrent,
    }
    return {name: value.value for name, value in axes.items() if value is not None}
