"""`lockgate grants`: answers that are remembered for a session, and taking them back."""

from __future__ import annotations

import time
from pathlib import Path

import click

from lockgate.cli.options import config_option, find_layers, json_option, print_json


@click.group("grants", no_args_is_help=True)
def grants_group() -> None:
    """Answers that are remembered: list them, take them back.

    An answer given for a session answers the same question again: for a tool that can not destroy,
    all its calls; for one that can, exactly one call. It counts only while the tool's definition is
    the one that was shown (its fingerprint).
    """


@grants_group.command("list")
@config_option
@json_option
def list_grants(config: Path | None, as_json: bool) -> None:
    """List every remembered answer of this project, yes and no. Starts nothing.

    \b
    Examples:
      lockgate grants list
      lockgate grants list --json | jq -r '.grants[].grant'
    """
    from lockgate.app.desk import open_desk
    from lockgate.cli.table import print_table
    from lockgate.cli.waiting import grant_data, when

    with open_desk(find_layers(config).state_dir, time.time) as desk:
        grants = desk.grants() if desk is not None else ()
    if as_json:
        print_json({"grants": [grant_data(kept) for kept in grants]})
    elif not grants:
        click.echo("No answer is remembered.", err=True)
    else:
        head = ("GRANT", "TOOL", "ANSWER", "FOR", "SESSION", "GIVEN", "FINGERPRINT")
        rows = [
            (
                kept.id,
                kept.grant.tool,
                "yes" if kept.grant.approved else "no",
                "the tool" if kept.grant.digest is None else "one call",
                kept.grant.session[:12],
                when(kept.grant.time),
                kept.grant.fingerprint[:12],
            )
            for kept in grants
        ]
        print_table(head, rows)


@grants_group.command("revoke")
@click.argument("ids", metavar="GRANT...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every remembered answer of this project.")
@config_option
@json_option
def revoke(ids: tuple[str, ...], every: bool, config: Path | None, as_json: bool) -> int:
    """Take remembered answers back. Programs that run now ask again from their next call on.

    \b
    Examples:
      lockgate grants revoke 1f2e3d4c5b
      lockgate grants revoke --all
    """
    from lockgate.app.desk import open_desk
    from lockgate.cli.exit import Exit
    from lockgate.showing import quoted

    if bool(ids) == every:
        raise click.UsageError("Name the grants to take back, or say --all.")
    with open_desk(find_layers(config).state_dir, time.time) as desk:
        wanted = frozenset(ids)
        gone = frozenset[str]() if desk is None else desk.revoke(None if every else wanted)
    if as_json:
        print_json({"revoked": sorted(gone), "unknown": sorted(wanted - gone)})
    else:
        click.echo(f"Taken back: {len(gone)}.")
        for id in sorted(wanted - gone):
            click.echo(f"there is no grant {quoted(id)}", err=True)
    return Exit.USAGE if wanted - gone else Exit.DONE
