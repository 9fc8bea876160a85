"""`lockgate grants`: answers that are remembered, for a session or for good; taking them back."""

from __future__ import annotations

import time
from pathlib import Path

import click

from lockgate.cli.options import config_option, find_layers, json_option, print_json


@click.group("grants", no_args_is_help=True)
def grants_group() -> None:
    """Answers that are remembered: list them, take them back.

    An answer given for a session answers the same question again: for a tool that can not destroy,
    all its calls; for one that can, exactly one call. An answer for good is an allow rule for one
    call in attended runs, or a verdict on a tool; it stands in a file of yours outside of the
    project. Each counts only while the tool's definition is the one shown (its fingerprint).
    """


@grants_group.command("list")
@config_option
@json_option
def list_grants(config: Path | None, as_json: bool) -> None:
    """List every remembered answer of this project, yes and no. Starts nothing.

    Rules and verdicts that you wrote by hand are no answers: they are yours to edit.

    \b
    Examples:
      lockgate grants list
      lockgate grants list --json | jq -r '.grants[].grant'
    """
    from lockgate.app.desk import open_desk
    from lockgate.cli.for_good import answer_data, print_answers
    from lockgate.cli.table import print_table
    from lockgate.cli.waiting import grant_data, when
    from lockgate.settings.answers import kept_answers

    layers = find_layers(config)
    with open_desk(layers.state_dir, time.time) as desk:
        grants = desk.grants() if desk is not None else ()
    answers = kept_answers(layers.answers)
    if as_json:
        listed = [answer_data(kept) for kept in answers]
        print_json({"grants": [grant_data(kept) for kept in grants], "answers": listed})
        return
    if not grants and not answers:
        click.echo("No answer is remembered.", err=True)
    if grants:
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
    if answers:
        if grants:
            click.echo()
        print_answers(answers)


@grants_group.command("revoke")
@click.argument("ids", metavar="GRANT...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every remembered answer of this project.")
@config_option
@json_option
def revoke(ids: tuple[str, ...], every: bool, config: Path | None, as_json: bool) -> int:
    """Take remembered answers back. Programs that run now ask again from their next call on.

    Of an answer for good they know from their start: they go by it until they are started anew.

    \b
    Examples:
      lockgate grants revoke 1f2e3d4c5b
      lockgate grants revoke --all
    """
    from lockgate.app.desk import open_desk
    from lockgate.cli.exit import Exit
    from lockgate.settings.answers import take_back
    from lockgate.showing import quoted

    if bool(ids) == every:
        raise click.UsageError("Name the grants to take back, or say --all.")
    layers, wanted = find_layers(config), frozenset(ids)
    gone = take_back(layers.answers, None if every else wanted)
    with open_desk(layers.state_dir, time.time) as desk:
        gone |= frozenset[str]() if desk is None else desk.revoke(None if every else wanted)
    if as_json:
        print_json({"revoked": sorted(gone), "unknown": sorted(wanted - gone)})
    else:
        click.echo(f"Taken back: {len(gone)}.")
        for id in sorted(wanted - gone):
            click.echo(f"there is no grant {quoted(id)}", err=True)
    return Exit.USAGE if wanted - gone else Exit.DONE
