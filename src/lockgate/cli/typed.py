"""Lines of a conversation that are for lockgate itself, not for the model."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from lockgate.app.gate import Gate
    from lockgate.mcp.host.status import ServerStatus

RECONNECT: Final = "/reconnect"
RELOAD: Final = "/reload"
HELP: Final = "/help"
LINES: Final = MappingProxyType(
    {
        HELP: "this list",
        f"{RECONNECT} [SERVER]": "connects servers anew that are not there",
        RELOAD: "reads the configuration again and takes what tightens it",
    }
)
"""What such a line can be, and what it does."""


async def typed(gate: Gate, line: str) -> bool:
    """Do what `line` tells lockgate to do, and say on standard error what came of it; whether it
    was such a line."""
    from lockgate.errors import LocalError

    word, *names = line.split()
    if word == HELP and not names:
        click.echo(_help(gate), err=True)
        return True
    if word == RELOAD and not names:
        await _reload(gate)
        return True
    if word != RECONNECT or len(names) > 1:
        return False
    try:
        statuses = await gate.reconnect(*names)
    except LocalError as error:
        click.echo(str(error), err=True)
        return True
    for status in statuses:
        click.echo(_told(status), err=True)
    return True


def _help(gate: Gate) -> str:
    """What a line of a conversation can be, one a line."""
    rows = [*LINES.items(), *((f"/{s.name}", "a skill") for s in gate.skills if s.by_person)]
    rows.append(("Ctrl+D", "leaves the conversation, which can be gone on with"))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:{width}}  {meaning}" for name, meaning in rows)


async def _reload(gate: Gate) -> None:
    """Read the configuration again: what tightens is in force, the rest is told."""
    from lockgate.errors import LockgateError
    from lockgate.showing import visible, visible_error

    try:
        found = await gate.reload()
    except LockgateError as error:
        click.echo(f"nothing was taken: {visible_error(error)}", err=True)
        return
    for told in found.lines:
        click.echo(visible(told), err=True)


def _told(status: ServerStatus) -> str:
    from lockgate.cli.table import counted
    from lockgate.mcp.host.status import ServerState

    if status.state is ServerState.READY:
        return f"{status.name}: ok, {counted(len(status.tools), 'tool')}"
    return f"{status.name}: {status.state.value}: {status.brief or 'no reason is known'}"
