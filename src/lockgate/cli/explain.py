"""`lockgate explain`: what would happen to a call, and exactly why. Runs nothing."""

from __future__ import annotations

from pathlib import Path

import click

from lockgate.cli.options import config_option, json_option, print_json


@click.command("explain", context_settings={"ignore_unknown_options": True})
@click.argument("tool")
@click.argument("arguments", nargs=-1)
@click.option("--input-json", metavar="JSON", help="All arguments as JSON, @FILE, or - for stdin.")
@click.option(
    "--attended/--unattended",
    default=None,
    help="As if a person were there, or not; by default as it is now.",
)
@click.option("--online", is_flag=True, help="Start the server, whatever is known of it.")
@config_option
@json_option
def explain(
    tool: str,
    arguments: tuple[str, ...],
    input_json: str | None,
    attended: bool | None,
    online: bool,
    config: Path | None,
    as_json: bool,
) -> int:
    """What would happen to a call of TOOL, step by step, and what each step follows from.

    Without arguments it says what stands for the tool, whatever the arguments. Nothing is run and
    nobody is asked. The tools of a server are known from the last time it was started, and then it
    is not started now: the answer says so, with the time. If it is not known, or what starts it has
    changed, it is started, as with --online: the one that the name says, such as git in
    mcp__git__git_log; where it says none, every one. The exit code is 0 whatever the decision.

    \b
    Examples:
      lockgate explain mcp__git__git_reset
      lockgate explain mcp__git__git_reset repo_path=. --unattended
      lockgate explain Bash 'command=git status | head -3'
      lockgate explain mcp__git__git_reset --online
    """
    from lockgate.cli.opening import opened, run_async

    async def work() -> int:
        import os

        from lockgate.cli.arguments import input_object, parse_arguments, whole_words
        from lockgate.cli.exit import Exit
        from lockgate.cli.lookup import (
            Explained,
            last_seen,
            left_out,
            not_there,
            schema_of,
            unfit,
            unsure,
        )
        from lockgate.cli.road import explanation_data, print_explanation

        whole_words(tool, *arguments)
        given_json = input_object(input_json)

        async def asked(*, recall: bool, tell: bool) -> Explained:
            async with opened(
                config,
                tolerant=True,
                attended=attended,
                for_call=tool,
                recall=recall,
                tell=tell,
            ) as gate:
                given = None
                if arguments or input_json is not None:
                    given = parse_arguments(arguments, given_json, schema_of(gate, tool))
                explained = gate.explain(tool, given)
                return Explained(
                    explained,
                    last_seen(gate, explained),
                    left_out(gate, tool) or not_there(gate, tool) or unfit(gate, tool, os.environ),
                    unsure(gate, tool),
                )

        found = await asked(recall=not online, tell=True)
        if found.unsure:
            # It had no such tool the last time; it may have it now.
            found = await asked(recall=False, tell=False)
        if as_json:
            print_json(explanation_data(found.explanation, found.seen, found.left_out))
        else:
            print_explanation(found.explanation, found.seen, found.left_out)
        return Exit.DONE

    return run_async(work)
