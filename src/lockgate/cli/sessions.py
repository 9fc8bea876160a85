"""`lockgate sessions`: what was said in sessions that are kept; looking at it, removing it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockgate.cli.options import config_option, find_layers, json_option, print_json

if TYPE_CHECKING:
    from lockgate.app.sessions import SessionInfo


@click.group("sessions", no_args_is_help=True)
def sessions_group() -> None:
    """Sessions that are kept: list, show, remove.

    What is said in a session is written down as it is said, so that `lockgate run --resume` can go
    on with it, after a crash too: prompts, replies, and calls with their arguments and results, in
    plain text, in a database of this project that only you can read. How long and how much is
    sessions.keep, maxCount and maxBytes in the configuration; with `keep: never` nothing is.
    """


@sessions_group.command("list")
@config_option
@json_option
def list_sessions(config: Path | None, as_json: bool) -> None:
    """List the kept sessions of this project, the one that was used last first. Starts nothing.

    \b
    Examples:
      lockgate sessions list
      lockgate sessions list --json | jq -r '.sessions[].session'
    """
    from lockgate.app.sessions import open_sessions
    from lockgate.cli.listing import print_folded
    from lockgate.cli.session_words import SHORT, beginning
    from lockgate.cli.waiting import when
    from lockgate.showing import visible

    with open_sessions(find_layers(config).state_dir, time.time) as sessions:
        found = sessions.list() if sessions is not None else ()
    if as_json:
        print_json({"sessions": [_data(info) for info in found]})
        return
    if not found:
        click.echo("No session is kept.", err=True)
        return
    rows = [
        (
            info.id[:SHORT],
            when(info.used),
            str(info.messages),
            visible(info.model),
            beginning(info.began),
        )
        for info in found
    ]
    print_folded(("SESSION", "LAST USED", "MESSAGES", "MODEL", "BEGAN WITH"), rows)


@sessions_group.command("show")
@click.argument("session")
@click.option("--reveal", is_flag=True, help="Show the values of secret-looking keys too.")
@config_option
@json_option
def show(session: str, reveal: bool, config: Path | None, as_json: bool) -> None:
    """Show what was said in SESSION: the beginning of its id, at least 6 characters of it.

    Results are shown as the model was shown them. With --json arguments are whole, as they were
    made; otherwise the values of secret-looking keys are masked.

    \b
    Examples:
      lockgate sessions show 5f0c1d
      lockgate sessions show 5f0c1d --json
    """
    from lockgate.app.sessions import open_sessions
    from lockgate.cli.session_words import message_data, print_message
    from lockgate.cli.waiting import when
    from lockgate.errors import LocalError
    from lockgate.showing import quoted

    with open_sessions(find_layers(config).state_dir, time.time) as sessions:
        if sessions is None:
            raise LocalError(f"there is no session {quoted(session)}")
        info = sessions.find(session)
        messages = sessions.transcript(info.id)
    if as_json:
        print_json({**_data(info), "transcript": [message_data(message) for message in messages]})
        return
    click.echo(f"session {info.id}, last used {when(info.used)}", err=True)
    for message in messages:
        print_message(message, reveal=reveal)


@sessions_group.command("remove")
@click.argument("ids", metavar="SESSION...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every session of this project.")
@config_option
@json_option
def remove(ids: tuple[str, ...], every: bool, config: Path | None, as_json: bool) -> int:
    """Remove what was said in sessions, and the answers that were given for them.

    It is overwritten in the database, too. Calls of it that wait for an answer (lockgate approvals)
    end as a no. A session that is open in another program stays. The record of calls (lockgate
    audit) is not part of it, and neither are open unknowns.

    \b
    Examples:
      lockgate sessions remove 5f0c1d
      lockgate sessions remove --all
    \b
    Exit codes: 0 all were removed; 1 one of them is open; 2 there is no such
    session.
    """
    from lockgate.app.sessions import open_sessions
    from lockgate.cli.exit import Exit
    from lockgate.cli.session_words import SHORT
    from lockgate.errors import LocalError
    from lockgate.showing import quoted

    if bool(ids) == every:
        raise click.UsageError("Name the sessions to remove, or say --all.")
    wanted = gone = frozenset[str]()
    with open_sessions(find_layers(config).state_dir, time.time) as sessions:
        if sessions is not None:
            wanted = sessions.ids() if every else frozenset(sessions.find(id).id for id in ids)
            gone = sessions.remove(*wanted)
        elif ids:
            raise LocalError(f"there is no session {quoted(ids[0])}")
    left = sorted(wanted - gone)
    if as_json:
        print_json({"removed": sorted(gone), "open": left})
    else:
        click.echo(f"Removed: {len(gone)}.")
        for id in left:
            click.echo(f"{id[:SHORT]} is open: end it where it is used", err=True)
    return Exit.FAILED if left else Exit.DONE


def _data(info: SessionInfo) -> dict[str, object]:
    from lockgate.cli.waiting import iso

    return {
        "session": info.id,
        "model": info.model,
        "created": iso(info.created),
        "used": iso(info.used),
        "messages": info.messages,
        "bytes": info.size,
        "began": info.began,
    }
