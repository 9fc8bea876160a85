"""`lockgate approvals`: what waits for a person, and the person's word on it (B-14)."""

from __future__ import annotations

import time
from pathlib import Path

import click

from lockgate.cli.options import config_option, find_layers, json_option, print_json, to_type

YES_NO = ("yes", "no")
SETTLED = "settled"
_REVEAL = "Show the values of secret-looking keys too."


@click.group("approvals", no_args_is_help=True)
def approvals_group() -> None:
    """Calls that wait for an answer: list, show, answer.

    A call is put off where approvals.attended or approvals.unattended names the queue. It waits
    under a ticket, also when the program that made it has ended, until it is answered or its time
    (approvals.ticketLifetime) has run out, which means no.
    """


@approvals_group.command("list")
@config_option
@json_option
def list_waiting(config: Path | None, as_json: bool) -> int:
    """List the calls that wait, and the open unknowns. Starts nothing.

    An open unknown is a call that may have taken effect, and nobody knows whether it did. While it
    is open, further calls of its tool are asked about. Look what became of it, then settle it.

    A ticket that can not be read is named beside the others, and the exit code is 1.

    \b
    Examples:
      lockgate approvals list
      lockgate approvals list --json | jq -r '.tickets[].ticket'
    """
    from lockgate.app.desk import open_desk
    from lockgate.cli.exit import Exit
    from lockgate.cli.waiting import (
        damaged_data,
        damaged_words,
        print_waiting,
        ticket_data,
        unknown_data,
    )

    with open_desk(find_layers(config).state_dir, time.time) as desk:
        tickets = desk.tickets() if desk is not None else ()
        unknowns = desk.unknowns() if desk is not None else ()
        damaged = desk.damaged() if desk is not None else ()
    if as_json:
        print_json(
            {
                "tickets": [ticket_data(ticket) for ticket in tickets],
                "unknowns": [unknown_data(standing) for standing in unknowns],
                "damaged": [damaged_data(ticket) for ticket in damaged],
            }
        )
    else:
        if tickets or unknowns or not damaged:
            print_waiting(tickets, unknowns, time.time())
        for ticket in damaged:
            click.echo(damaged_words(ticket), err=True)
    return Exit.FAILED if damaged else Exit.DONE


@approvals_group.command("show")
@click.argument("ticket")
@click.option("--reveal", is_flag=True, help=_REVEAL)
@config_option
@json_option
def show(ticket: str, reveal: bool, config: Path | None, as_json: bool) -> None:
    """Show the whole question that waits under TICKET. Starts nothing.

    Control characters are made visible, and the values of secret-looking keys are masked.

    \b
    Examples:
      lockgate approvals show 5f0c...
      lockgate approvals show 5f0c... --reveal
    """
    from lockgate.app.desk import open_desk
    from lockgate.bridges.choices import rule_lines
    from lockgate.bridges.question import has_secrets, render_question
    from lockgate.bridges.question_data import question_data
    from lockgate.calls.suspension import TicketGone
    from lockgate.cli.waiting import screen_width, ticket_data, when
    from lockgate.showing import quoted

    with open_desk(find_layers(config).state_dir, time.time) as desk:
        if desk is None:
            raise TicketGone(f"there is no ticket {quoted(ticket)}")
        found = desk.ticket(ticket)
    if as_json:
        print_json({**ticket_data(found), "question": question_data(found.question, reveal=reveal)})
        return
    width = screen_width()
    click.echo(render_question(found.question, width, reveal=reveal), nl=False)
    if has_secrets(found.question) and not reveal:
        click.echo("(--reveal shows the masked values)")
    click.echo(f"asked      {when(found.created)}, answered no after {when(found.expires)}")
    click.echo(f"to answer  {to_type(f'approvals answer {found.id} yes|no')}")
    if found.always is not None:
        click.echo("           with --scope always also by this rule, in every attended run:")
        click.echo("\n".join(rule_lines(found.always, width)))


@approvals_group.command("answer")
@click.argument("id", metavar="TICKET|UNKNOWN")
@click.argument("word", metavar="yes|no|settled", type=click.Choice([*YES_NO, SETTLED]))
@click.option(
    "-s",
    "--scope",
    type=click.Choice(["once", "session", "always"]),
    default="once",
    show_default=True,
    help="How far the answer reaches: this call, the rest of its session, or for always exactly"
    " this call in attended runs.",
)
@click.option("--note", default="", help="What to tell the model with a no.")
@config_option
@json_option
def answer(id: str, word: str, scope: str, note: str, config: Path | None, as_json: bool) -> int:
    """Answer the call that waits under TICKET, or settle an open UNKNOWN.

    After a yes the call is decided again, on the rules and tools of now, its server is started, and
    the call is made here and its result printed. It runs once: the first answer counts, and a later
    one is told so. A ticket stays open if the server can not be started. A no starts nothing.

    For a session, an answer covers further calls of the tool; of one that can destroy, exactly this
    call. A yes for always writes the rule that `approvals show` tells into your own answers; not
    every question offers it. See lockgate grants.

    \b
    Examples:
      lockgate approvals answer 5f0c... yes
      lockgate approvals answer 5f0c... no --note "not on a Friday"
      lockgate approvals answer 5f0c... yes --scope always
      lockgate approvals answer u-1f2e... settled
    \b
    Exit codes: 0 the call ran and succeeded, or your no was taken; 1 the tool
    failed; 2 no such ticket, or it was answered before; 3 refused all the same,
    too late, or waiting again; 4 the tool changed; 5 its server was not reached.
    """
    if word == SETTLED:
        return _settle(id, scope, note, find_layers(config).state_dir, as_json=as_json)
    from lockgate.cli.answering import answer_ticket
    from lockgate.cli.opening import run_async
    from lockgate.policy.approval import Answer, Scope

    given = Answer(word == "yes", "queue", Scope(scope), note)
    return run_async(lambda: answer_ticket(id, given, config, as_json=as_json))


def _settle(id: str, scope: str, note: str, state_dir: Path, *, as_json: bool) -> int:
    from lockgate.app.desk import open_desk
    from lockgate.cli.exit import Exit
    from lockgate.cli.waiting import unknown_data
    from lockgate.errors import LocalError
    from lockgate.showing import quoted, visible

    if note or scope != "once":
        raise click.UsageError("--note and --scope go with yes and no, not with settled.")
    with open_desk(state_dir, time.time) as desk:
        if desk is None:
            raise LocalError(f"there is no open unknown {quoted(id)}")
        if any(ticket.id == id for ticket in desk.tickets()):
            raise click.UsageError(f"{id} is a call that waits: answer it yes or no.")
        standing = desk.settle(id, "person")
    if as_json:
        print_json({**unknown_data(standing), "settled": True})
    else:
        click.echo(f"Settled: {visible(standing.unknown.tool)} ({standing.unknown.call_id}).")
    return Exit.DONE
