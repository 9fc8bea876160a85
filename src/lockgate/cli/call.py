"""`lockgate call`: one governed call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lockgate.cli.options import config_option, json_option, print_json, to_type
from lockgate.cli.seconds import SECONDS


@click.command("call", context_settings={"ignore_unknown_options": True})
@click.argument("tool")
@click.argument("arguments", nargs=-1)
@click.option("--input-json", metavar="JSON", help="All arguments as JSON, @FILE, or - for stdin.")
@click.option(
    "--timeout", type=SECONDS, help="Seconds for the call itself; a person may take longer."
)
@config_option
@json_option
def call(
    tool: str,
    arguments: tuple[str, ...],
    input_json: str | None,
    timeout: float | None,
    config: Path | None,
    as_json: bool,
) -> int:
    """Make one call of TOOL, down the same road as an agent's: rules, gate, record.

    ARGUMENTS are key=value, read as the tool's schema wants them, or key:=JSON. Where the name says
    the server, such as git in mcp__git__git_log, or is that of a tool under builtin, of the others
    only those are started that are required or have expectTools.

    \b
    Examples:
      lockgate call mcp__git__git_log repo_path=. max_count=3
      lockgate call mcp__git__git_add repo_path=. 'files:=["a.txt", "b.txt"]'
      lockgate call Bash 'command=git status'
    \b
    Exit codes: 0 done, 1 the tool failed, 2 no such tool or arguments that do
    not fit, 3 refused or waiting for an answer, 4 the tool is not what was
    approved, or an expected one is missing, 5 the server did not start, or was
    lost.
    """
    from lockgate.cli.opening import opened, run_async

    async def work() -> int:
        from lockgate.calls.call import Suspended
        from lockgate.cli.arguments import input_object, parse_arguments, whole_words
        from lockgate.cli.broken_off import told_if_broken_off
        from lockgate.cli.exit import Exit, of_result
        from lockgate.cli.lookup import schema_of
        from lockgate.cli.output import echo_text
        from lockgate.cli.progress import said_on_terminal
        from lockgate.showing import visible
        from lockgate.tools.naming import server_of

        whole_words(tool, *arguments)
        given_json = input_object(input_json)
        async with opened(config, for_call=tool) as gate:
            given = parse_arguments(arguments, given_json, schema_of(gate, tool))
            with told_if_broken_off(gate, tool):
                news = said_on_terminal(tool)
                result = await gate.call(tool, given, timeout=timeout, progress=news)
            down = gate.failed.get(server_of(tool) or "")
        if isinstance(result, Suspended):
            data: dict[str, Any] = {"ticket": result.ticket, "expires": result.expires}
            if as_json:
                print_json(data)
            else:
                click.echo(f"waiting for an answer, ticket {result.ticket}")
                click.echo(f"  {to_type(f'approvals answer {result.ticket} yes|no')}", err=True)
            return Exit.REFUSED
        if down is not None:
            click.echo(f"{server_of(tool)}: not available: {visible(down)}", err=True)
        if as_json:
            from lockgate.cli.results import result_data

            print_json(result_data(result))
        else:
            echo_text(result.text, err=result.is_error)
        return of_result(result)

    return run_async(work)
