"""`lockgate mcp add`: writes one server into a file, a program or an address."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from lockgate.cli.address_options import AddressWords, address_options, typed_path
from lockgate.cli.options import (
    config_option,
    file_of,
    find_layers,
    json_option,
    print_json,
    scope_option,
    short,
    user_option,
)
from lockgate.cli.server_view import entry_data, tell_waiting, written_data
from lockgate.errors import ConfigError, Problem
from lockgate.settings.entry import ServerEntry
from lockgate.settings.foreign_remote import guessed_transport
from lockgate.settings.masking import is_reference, shown_command, shown_url
from lockgate.settings.server_name import is_server_name, name_hint
from lockgate.settings.writing import write_servers
from lockgate.showing import looks_secret, quoted, visible

_ADDRESS: Final = re.compile(r"https?://", re.IGNORECASE)
_TRANSPORTS: Final = ("stdio", "http", "streamable-http", "sse")
_GUESS: Final = "its transport is not said: {} is a guess from its address; --transport says it"


class _WithCommand(click.Command):
    """A command that ends in another program's command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say where the other program's options go, when one is taken for ours."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            text = (
                f"no option {error.option_name}; if it is the server's, put -- before its command"
            )
            raise click.UsageError(text, ctx) from None


@click.command("add", cls=_WithCommand)
@click.argument("name")
@click.argument("command", nargs=-1, required=True, metavar="COMMAND...|URL")
@click.option(
    "-t",
    "--transport",
    type=click.Choice(_TRANSPORTS),
    help="How it is reached: as a program, or at a URL. http is short for streamable-http; sse is"
    " for servers of before 2025. Left out, a URL is told by its http:// or https://, and one that"
    " ends in /sse is taken for sse.",
)
@click.option(
    "-e",
    "--env",
    "env",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="A variable for the server; without a value it is taken from your environment.",
)
@click.option("--cwd", metavar="DIR", help="Where it runs; default: the project's directory.")
@address_options
@scope_option
@user_option
@config_option
@json_option
def add(
    name: str,
    command: tuple[str, ...],
    transport: str | None,
    env: tuple[str, ...],
    cwd: str | None,
    scope: str,
    config: Path | None,
    as_json: bool,
    **reached: Any,
) -> None:
    """Add a server that is started with COMMAND, or that is at a URL.

    Its claims about its own tools count for nothing until you write annotationTrust: trust into
    its entry.

    \b
    Examples:
      lockgate mcp add git -- uvx mcp-server-git --repository .
      lockgate mcp add github -e GITHUB_TOKEN -- npx -y some-github-server
      lockgate mcp add docs https://docs.example/mcp
      lockgate mcp add -t http crm https://x.example/ -H 'X-Key: ${CRM_KEY}'
      lockgate mcp add -t http wiki https://x.example/mcp --auth oauth
    """
    if not is_server_name(name):
        raise ConfigError(
            Problem(f"{visible(name)!r} is no valid server name", hint=name_hint(name))
        )
    layers = find_layers(config)
    path = file_of(layers, scope)
    words = AddressWords(**reached)
    guessed = transport is None and _ADDRESS.match(command[0]) is not None
    if transport is None:
        transport = guessed_transport(command[0]) if guessed else "stdio"
    if transport == "stdio":
        if given := words.given():
            raise click.UsageError(f"{given[0]} is for a server at a URL: say --transport http")
        entry = _program(name, command, env, cwd, path)
    else:
        if env or cwd is not None:
            raise click.UsageError("--env and --cwd are for a program, and a URL starts none")
        if len(command) != 1:
            raise click.UsageError(f"--transport {transport} takes one URL behind the name")
        moved = path.parent.resolve() != Path.cwd().resolve()
        entry = words.entry(name, command[0], transport, partial(typed_path, moved=moved))
    _refuse_odd_bytes(entry)
    written = write_servers(layers, path, [entry])
    notes = [_GUESS.format(transport), *_notes(entry)] if guessed else _notes(entry)
    if as_json:
        print_json(written_data(written) | {"server": entry_data(entry), "notes": notes})
        return
    shown = shown_command(entry.command, entry.args) if entry.url is None else shown_url(entry.url)
    click.echo(f"Added {name} to {short(path)}: {shown}")
    for note in notes:
        click.echo(f"note: {note}", err=True)
    tell_waiting(written)


def _program(
    name: str, command: tuple[str, ...], env: tuple[str, ...], cwd: str | None, path: Path
) -> ServerEntry:
    if len(command) == 1 and _ADDRESS.match(command[0]):
        hint = "say --transport http, or --transport sse for a server of before 2025"
        raise ConfigError(Problem("that is an address, and no program", hint=hint))
    moved = path.parent.resolve() != Path.cwd().resolve()
    program = typed_path(command[0], moved) if "/" in command[0] else command[0]
    if len(command) == 1 and not {"/", "$"} & {*program} and len(program.split()) > 1:
        hint = f"write its words apart: lockgate mcp add {name} -- {' '.join(program.split())}"
        message = f"there is no program called {quoted(program)}"
        raise ConfigError(Problem(message, hint=visible(hint)))
    return ServerEntry(name, program, command[1:], _variables(env), cwd and typed_path(cwd, moved))


def _notes(entry: ServerEntry) -> list[str]:
    """What of an entry is a secret that had better not stand in a file."""
    notes = [
        f"argument {number} looks like a secret and was written as it is; better write ${{NAME}}"
        " there, and set NAME in your environment"
        for number in entry.secret_arguments
    ]
    notes += [
        f"{variable} was written as it is; better: -e {variable}, and set it in your environment"
        for variable, value in entry.env.items()
        if looks_secret(variable) and value and not is_reference(value)
    ]
    notes += [
        f"the {key} looks as if it held a secret and was written as it is; better write ${{NAME}}"
        " there, and set NAME in your environment"
        for key in entry.secret_addresses
    ]
    return notes


def _variables(words: tuple[str, ...]) -> dict[str, str]:
    variables: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise click.UsageError(
                "-e takes NAME=VALUE, or NAME alone for your environment's value"
            )
        if name in variables:
            raise click.UsageError(f"-e {name} is given twice")
        if not sign and name not in os.environ:
            click.echo(f"note: {name} is not set in your environment now", err=True)
        variables[name] = value if sign else f"${{{name}}}"
    return variables


def _refuse_odd_bytes(entry: ServerEntry) -> None:
    texts = (entry.command, *entry.args, *entry.env.values(), entry.cwd or "", entry.url or "")
    texts += (*entry.headers, *entry.headers.values(), *entry.tls.values(), entry.proxy or "")
    if entry.auth is not None and not isinstance(entry.auth, str):
        for value in entry.auth.values():
            texts += (value,) if isinstance(value, str) else value
    for text in texts:
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise click.UsageError(
                "a part of the command is not UTF-8, which no YAML file can hold"
            )
