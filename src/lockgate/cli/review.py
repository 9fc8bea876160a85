"""`lockgate review`: a server's tools one by one; what is accepted becomes verdicts and pins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockgate.cli.definitions import Definitions, definitions, last_seen_option
from lockgate.cli.exit import Exit
from lockgate.cli.opening import run_async
from lockgate.cli.options import config_option, find_layers, json_option, print_json, short

if TYPE_CHECKING:
    from lockgate.app.keeping_review import Kept
    from lockgate.app.review import ServerReview, ToolReview
    from lockgate.bridges.tty import Terminal
    from lockgate.mcp.host.settings import Verdict


@click.command("review")
@click.argument("server")
@click.option("--all", "every", is_flag=True, help="Also tools that are as they were reviewed.")
@click.option(
    "-y", "--yes", is_flag=True, help="Do not ask: accept what lets nothing more pass than now."
)
@last_seen_option
@config_option
@json_option
def review(
    server: str,
    every: bool,
    yes: bool,
    last_seen: bool,
    config: Path | None,
    as_json: bool,
) -> int:
    """Go through the tools of SERVER: what each claims, what it seems, and a proposed verdict.

    What a tool seems to do is guessed from its name and its parameters, and counts for nothing by
    itself. You accept the proposal, give another verdict, or skip the tool. What you accepted is
    written at the end, or when you quit: the verdicts into the file that configures the server, the
    definitions into lockgate.pins.json. Ctrl+C writes nothing.

    Without a terminal it prints the table and ends with 2. --json prints the proposals and writes
    nothing. --yes writes those that let nothing more pass than now, and names the others.

    \b
    Examples:
      lockgate review git
      lockgate review git --json | jq '.tools[] | select(.proposal.loosens)'
    """

    async def work() -> int:
        from lockgate.cli.asking import terminal
        from lockgate.cli.definition_view import review_data
        from lockgate.showing import visible

        found = await definitions(config, lambda _: [server], last_seen=last_seen)
        (reviewed,) = found.reviews
        due = [tool for tool in reviewed.tools if tool.due or every]
        if as_json:
            tools = [review_data(tool) for tool in reviewed.tools]
            print_json({"server": server, "tools": tools, "gone": list(reviewed.gone)})
            return Exit.DONE
        for name in reviewed.gone:
            click.echo(
                f"{visible(name)} is pinned, and not listed any more; to take such pins out: "
                f"lockgate pins accept {server}",
                err=True,
            )
        if not due:
            click.echo(f"{server}: all {len(reviewed.tools)} tools are as they were reviewed.")
            return Exit.DONE
        if yes:
            return _without_asking(config, found, reviewed, due)
        with terminal() as device:
            if device is None:
                _print_table(reviewed)
                click.echo(
                    "Nothing was written: there is no terminal to ask on. Run it on one, or say "
                    "--yes to accept what does not loosen, or pin without verdicts: lockgate pins "
                    f"accept {server} --yes",
                    err=True,
                )
                return Exit.USAGE
            accepted = await _walk(device, found, due)
        return _written(config, found, reviewed, accepted)

    return run_async(work)


def _without_asking(
    config: Path | None, found: Definitions, reviewed: ServerReview, due: list[ToolReview]
) -> int:
    from lockgate.showing import visible

    accepted = {t.listed.name: t.proposal.verdict for t in due if t.due and not t.loosens}
    left = [t.listed.name for t in due if t.loosens]
    code = _written(config, found, reviewed, accepted)
    if left:
        names = visible(", ".join(left))
        click.echo(f"Left for you, since they would let more pass than now: {names}", err=True)
    return code


async def _walk(
    device: Terminal, found: Definitions, due: list[ToolReview]
) -> Mapping[str, Verdict | None]:
    """Ask about each tool; what was accepted, with the verdict to be written or None."""
    from lockgate.cli.definition_view import columns, standing_words, tool_lines
    from lockgate.showing import visible

    accepted: dict[str, Verdict | None] = {}
    for number, tool in enumerate(due, 1):
        click.echo(f"\n[{number}/{len(due)}] {visible(tool.listed.name)}: {standing_words(tool)}")
        for line in tool_lines(tool, columns()):
            click.echo(line.rstrip())
        answer = await _answer(device, found, tool)
        if answer == "quit":
            break
        if answer != "skip":
            accepted[tool.listed.name] = answer
    return accepted


async def _answer(device: Terminal, found: Definitions, tool: ToolReview) -> Any:
    """`skip`, `quit`, or the verdict that is accepted; None is to be pinned without a new one."""
    while True:
        word = await _said(device, "accept, change, skip, quit [skip]: ")
        match word:
            case "a" | "accept":
                return tool.proposal.verdict
            case "c" | "change":
                chosen = await _changed(device, found, tool)
                if chosen != "back":
                    return chosen
            case "" | "s" | "skip":
                return "skip"
            case "q" | "quit":
                return "quit"
            case _:
                click.echo("Say a, c, s or q.")


async def _changed(device: Terminal, found: Definitions, tool: ToolReview) -> Any:
    """Another verdict than the proposed one; `back` to return to the question."""
    from lockgate.app.review import ADDS, DESTROYS, READS, ruling_with
    from lockgate.cli.definition_view import ruling_words, verdict_text

    choices = {"r": READS, "a": ADDS, "d": DESTROYS, "n": None}
    while True:
        word = await _said(
            device, "it is: r)ead-only, a)dding, d)estructive, n)o new verdict, b)ack [back]: "
        )
        if word in ("", "b", "back"):
            return "back"
        if word not in choices:
            click.echo("Say r, a, d, n or b.")
            continue
        verdict = choices[word]
        after = ruling_with(found.manager, found.settings(found.reviews[0].server), tool, verdict)
        click.echo(f"  verdict: {verdict_text(verdict)}; then it is {ruling_words(after)}")
        if await _said(device, "accept it? [y/N]: ") in ("y", "yes"):
            return verdict


async def _said(device: Terminal, prompt: str) -> str:
    """A line in small letters. Raises KeyboardInterrupt at end of input and for Ctrl+C."""
    line = await device.ask(prompt)
    if line is None:
        click.echo("\nInterrupted: nothing was written.", err=True)
        raise KeyboardInterrupt
    return line.lower()


def _written(
    config: Path | None,
    found: Definitions,
    reviewed: ServerReview,
    accepted: Mapping[str, Verdict | None],
) -> int:
    """Write what was accepted, all of it or nothing, and say so."""
    from lockgate.app.keeping_review import keep

    if not accepted:
        click.echo("Nothing was accepted, and nothing was written.")
        return Exit.DONE
    server = reviewed.server
    kept = keep(find_layers(config), reviewed, accepted, secrets=found.secrets(server))
    _tell(kept, accepted)
    return Exit.DONE


def _tell(kept: Kept, accepted: Mapping[str, Verdict | None]) -> None:
    from lockgate.cli.server_view import tell_waiting

    click.echo(f"Pinned {len(accepted)} tool(s) in {short(kept.pins.path)}.")
    if kept.verdicts is not None:
        given = sum(verdict is not None for verdict in accepted.values())
        click.echo(f"Wrote {given} verdict(s) to {short(kept.verdicts.path)}.")
        tell_waiting(kept.verdicts)


def _print_table(reviewed: ServerReview) -> None:
    from lockgate.cli.definition_view import review_row
    from lockgate.cli.table import print_table

    head = ("TOOL", "PIN", "CLAIMS", "SEEMS", "NOW", "PROPOSED")
    print_table(head, [review_row(tool) for tool in reviewed.tools])
