"""Lines of a conversation that are for lockgate itself, not for the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from lockgate.app.gate import Gate
    from lockgate.mcp.host.status import ServerStatus

RECONNECT: Final = "/reconnect"


async def typed(gate: Gate, line: str) -> bool:
    """Do what `line` tells lockgate to do, and say on standard error what came of it; whether it
    was such a line."""
    from lockgate.errors import LocalError

    word, *names = line.split()
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


def _told(status: ServerStatus) -> str:
    from lockgate.cli.table import counted
    from lockgate.mcp.host.status import ServerState

    if status.state is ServerState.READY:
        return f"{status.name}: ok, {counted(len(status.tools), 'tool')}"
    return f"{status.name}: {status.state.value}: {status.brief or 'no reason is known'}"
