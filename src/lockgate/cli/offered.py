"""What the commands about resources and prompts share: servers, values, suggestions, endings."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from lockgate.app.gate import Gate
from lockgate.cli.exit import Exit
from lockgate.cli.opening import Progress, opened
from lockgate.cli.options import print_json
from lockgate.cli.output import on_terminal
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.resources import is_not_found
from lockgate.mcp.host.found import Found
from lockgate.mcp.protocol.completion import Completed
from lockgate.settings.findings import spelling_hint
from lockgate.showing import visible, visible_error

T = TypeVar("T")

_NOT_THERE: Final = frozenset({Fault.NOT_CONNECTED, Fault.NOT_STARTED, Fault.CLOSED})


@asynccontextmanager
async def asked(config: Path | None, server: str | None) -> AsyncGenerator[Gate]:
    """The gate of a command that asks one server, or with None all of them; no other is started.

    A single one that can not be started is an error: raises `PeerError` (NOT_CONNECTED), and
    `ConfigError` for one that is not configured.
    """
    servers = None if server is None else (server,)
    async with opened(config, tolerant=True, servers=servers, tell=False) as gate:
        reason = gate.failed.get(server) if server is not None else None
        if reason is not None:
            raise PeerError(
                f"{server} is not there: {reason}",
                peer=str(server),
                phase=Phase.CONNECT,
                fault=Fault.NOT_CONNECTED,
                fate=Fate.NOT_SENT,
            )
        names = ", ".join(settings.name for settings in gate.config.servers)
        with Progress(f"waiting for {names} ..."):
            yield gate


async def listing(
    found_by: Callable[[Gate], Awaitable[Found[T]]],
    *,
    of: str | None,
    config: Path | None,
    what: str,
    key: str,
    data: Callable[[T], Mapping[str, Any]],
    show: Callable[[Sequence[T]], None],
    as_json: bool,
) -> int:
    """List things of one server, or with None of all. Returns the exit code.

    `what` is what they are in words, `key` in JSON, where `data` is one of them; `show` prints all
    that there are.
    """
    try:
        async with asked(config, of) as gate:
            found = await found_by(gate)
    except PeerError as error:
        return ending(error)
    if as_json:
        print_json({key: [data(one) for one in found], **_others_data(found)})
    elif found.entries:
        show(found.entries)
    return _tell_others(found, what, of)


def ending(error: PeerError) -> Exit:
    """Say what a server did, and what the command ends with."""
    click.echo(f"error: {visible_error(error)}", err=True)
    if error.fault in _NOT_THERE:
        return Exit.UNREACHABLE
    return Exit.USAGE if is_not_found(error) else Exit.FAILED


def values_of(words: Sequence[str]) -> dict[str, str]:
    """What `NAME=VALUE` says. Raises `click.UsageError` naming the word."""
    found: dict[str, str] = {}
    for word in words:
        name, sep, value = word.partition("=")
        if not sep or not name:
            raise click.UsageError(f"{visible(name)!r} is not NAME=VALUE")
        if name in found:
            raise click.UsageError(f"{visible(name)!r} is given twice")
        found[name] = value
    return found


def no_such(what: str, name: str, known: Collection[str]) -> click.UsageError:
    """The error for a name that is none, with the nearest one."""
    text = f"no {what} is called {visible(name)!r}"
    if not known:
        return click.UsageError(f"{text}; there is none")
    return click.UsageError(f"{text}; {visible(spelling_hint(name, known, what='there is'))}")


def no_value(name: str, known: Collection[str]) -> click.UsageError:
    """The error for a value that nothing is asked for."""
    if not known:
        return click.UsageError(f"it takes no values, and {visible(name)!r} is given")
    hint = visible(spelling_hint(name, known, what="it takes"))
    return click.UsageError(f"it has no {visible(name)!r}; {hint}")


def print_suggestions(found: Completed, *, as_json: bool) -> int:
    """Print what a server suggests, one on each line: a line end in one is shown as `\\n`."""
    if as_json:
        print_json({"values": found.values, "total": found.total, "hasMore": found.has_more})
        return Exit.DONE
    for value in found.values:
        apart = on_terminal() or value.splitlines() != [value]
        click.echo(visible(value) if apart else value, color=True)
    if found.has_more:
        of = f" of {found.total}" if found.total is not None else ""
        click.echo(f"{len(found.values)}{of}; type more of it to see others", err=True)
    elif not found.values:
        click.echo("nothing is suggested", err=True)
    return Exit.DONE


def _tell_others(found: Found[Any], what: str, server: str | None) -> int:
    """Say what is not in the list, and why; what the command ends with."""
    for name, reason in found.failed.items():
        click.echo(f"{name}: not available: {visible(reason)}", err=True)
    for out in found.left_out:
        text = f"{out.server}: {visible(out.entry)} left out: {visible(out.reason)}"
        click.echo(text, err=True)
    for remark in found.remarks:
        click.echo(f"note: {visible(remark)}", err=True)
    if not found.entries and not found.failed:
        where = server or ("any server" if found.without else "the servers that are configured")
        none = f"No {what}" + (f": {server} has none." if server else f" of {where}.")
        if not found.without and server is None:
            none = f"No {what}."
        click.echo(none, err=True)
    return Exit.FAILED if server is not None and found.failed else Exit.DONE


def _others_data(found: Found[Any]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "failed": dict(found.failed),
        "without": list(found.without),
        "leftOut": [
            {"server": out.server, "entry": out.entry, "reason": out.reason}
            for out in found.left_out
        ],
        "remarks": list(found.remarks),
    }


def known(members: Mapping[str, Any]) -> dict[str, Any]:
    """Members that are there."""
    return {name: value for name, value in members.items() if value is not None}


def must_be_new(file: Path) -> None:
    """Raise `click.UsageError` for a file that is there."""
    if os.path.lexists(file):
        where = visible(str(file))
        raise click.UsageError(f"{where} is there already, and is not written over: name another")


def write_new(file: Path, data: bytes) -> None:
    """Write a file that is not there yet. Raises `click.UsageError` for one that is."""
    must_be_new(file)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(descriptor, "wb") as opened_file:
        opened_file.write(data)
