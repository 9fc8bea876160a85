"""`lockgate prompts`: prompts that servers have prepared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockgate.cli.options import config_option, json_option, print_json

if TYPE_CHECKING:
    from lockgate.mcp.host.prompts import Prompt
    from lockgate.mcp.protocol.prompts import PromptResult


@click.group("prompts", no_args_is_help=True)
def prompts_group() -> None:
    """List prompts that MCP servers have prepared, and get the messages of one.

    Only the servers that are needed are started. What comes back is the server's text: read it
    before a model does.

    \b
    Examples:
      lockgate prompts list
      lockgate prompts get reviews code_review language=python
      lockgate prompts get reviews code_review language=py --complete language
    """


@prompts_group.command("list")
@click.argument("server", required=False)
@config_option
@json_option
def list_prompts(server: str | None, config: Path | None, as_json: bool) -> int:
    """List the prompts of SERVER, or of all servers.

    Arguments in square brackets may be left out.

    \b
    Example:
      lockgate prompts list --json | jq -r '.prompts[].name'
    \b
    Exit codes: 0 done, also if one of all servers failed, which is said; 1 SERVER
    did not list, 2 no such server, 5 SERVER can not be reached.
    """
    from lockgate.cli.opening import run_async

    async def work() -> int:
        from lockgate.cli.offered import listing

        return await listing(
            lambda gate: gate.prompts.list(server),
            of=server,
            config=config,
            what="prompts",
            key="prompts",
            data=_data,
            show=_print_list,
            as_json=as_json,
        )

    return run_async(work)


@prompts_group.command("get")
@click.argument("server")
@click.argument("name")
@click.argument("arguments", nargs=-1)
@click.option(
    "--complete",
    metavar="ARGUMENT",
    help="Get nothing: print what the server suggests for ARGUMENT.",
)
@config_option
@json_option
def get(
    server: str,
    name: str,
    arguments: tuple[str, ...],
    complete: str | None,
    config: Path | None,
    as_json: bool,
) -> int:
    """Get the messages of the prompt NAME of SERVER.

    ARGUMENTS are NAME=VALUE; values are texts. With --complete, what is given for that argument is
    what is typed of it so far, and the others are told to the server.

    \b
    Examples:
      lockgate prompts get reviews code_review language=python
      lockgate prompts get reviews code_review language=py --complete language
    \b
    Exit codes: 0 done, 1 the server failed, 2 no such server, prompt or
    argument, or one is missing, 5 SERVER can not be reached.
    """
    from lockgate.cli.opening import run_async

    async def work() -> int:
        from lockgate.cli.arguments import whole_words
        from lockgate.cli.exit import Exit
        from lockgate.cli.offered import asked, ending, no_such, print_suggestions, values_of
        from lockgate.errors import PeerError

        whole_words(server, name, *arguments)
        given = values_of(arguments)
        try:
            async with asked(config, server) as gate:
                found = await gate.prompts.list(server)
                if found.failed:
                    click.echo(f"error: {_line(found.failed[server])}", err=True)
                    return Exit.FAILED
                prompt = next((one for one in found if one.name == name), None)
                if prompt is None:
                    raise no_such("prompt", name, [one.name for one in found])
                _check(prompt, given, complete)
                if complete is not None:
                    typed = given.pop(complete, "")
                    suggested = await gate.prompts.complete(server, name, complete, typed, given)
                    return print_suggestions(suggested, as_json=as_json)
                result = await gate.prompts.get(server, name, given)
        except PeerError as error:
            return ending(error)
        return _show(prompt, result, as_json=as_json)

    return run_async(work)


def _check(prompt: Prompt, given: dict[str, str], complete: str | None) -> None:
    """Raise `click.UsageError` for arguments that the prompt has not, and for missing ones."""
    from lockgate.cli.offered import no_value
    from lockgate.showing import visible

    names = [argument.name for argument in prompt.arguments]
    for name in (*given, *(() if complete is None else (complete,))):
        if name not in names:
            raise no_value(name, names)
    missing = [a for a in prompt.arguments if a.required and a.name not in given]
    if missing and complete is None:
        lines = [
            f"  {visible(a.name)}=..." + (f"  {visible(a.description)}" if a.description else "")
            for a in missing
        ]
        raise click.UsageError("\n".join(["the prompt needs more arguments:", *lines]))


def _print_list(prompts: Sequence[Prompt]) -> None:
    from lockgate.cli.listing import print_folded

    rows = [
        (
            _line(prompt.name),
            prompt.server,
            " ".join(_line(a.name if a.required else f"[{a.name}]") for a in prompt.arguments),
            _line(prompt.description or prompt.title or "", 400),
        )
        for prompt in prompts
    ]
    print_folded(("PROMPT", "SERVER", "ARGUMENTS", "WHAT IT IS"), rows)


def _show(prompt: Prompt, result: PromptResult, *, as_json: bool) -> int:
    from lockgate.cli.output import INSIDE, echo_text
    from lockgate.cli.results import block_data
    from lockgate.showing import visible

    for remark in result.remarks[:5]:
        click.echo(f"note: {visible(remark)}", err=True)
    if as_json:
        messages = [
            {"role": message.role, "content": block_data(message.content)}
            for message in result.messages
        ]
        about = {"server": prompt.server, "name": prompt.name, "description": result.description}
        print_json({**about, "messages": messages})
        return 0
    for message in result.messages:
        click.echo(f"[{message.role}]")
        echo_text(message.content.as_text(), under=INSIDE)
    if not result.messages:
        click.echo("the prompt has no messages", err=True)
    return 0


def _data(prompt: Prompt) -> dict[str, object]:
    from lockgate.cli.offered import known

    arguments = [
        {"name": a.name, "required": a.required}
        | known({"title": a.title, "description": a.description})
        for a in prompt.arguments
    ]
    about = known({"title": prompt.title, "description": prompt.description})
    return {"server": prompt.server, "name": prompt.name, **about, "arguments": arguments}


def _line(text: str, most: int = 80) -> str:
    from lockgate.showing import visible

    return visible(text) if len(text) <= most else f"{visible(text[:most])}..."
