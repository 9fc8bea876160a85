"""`lockgate mcp add`: writes one server into a file, a program or an address."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import click

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
from lockgate.settings.masking import is_reference, shown_command, shown_url
from lockgate.settings.remote_kinds import secret_in_header
from lockgate.settings.server_name import is_server_name, name_hint
from lockgate.settings.writing import write_servers
from lockgate.showing import looks_secret, quoted, visible

_ADDRESS: Final = re.compile(r"https?://", re.IGNORECASE)
_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_TRANSPORTS: Final = ("stdio", "http", "streamable-http", "sse")


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
    default="stdio",
    show_default=True,
    help="How it is reached: as a program, or at a URL. http is short for streamable-http; sse is"
    " for servers of before 2025.",
)
@click.option(
    "-H",
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="A header for a server at a URL; a secret as ${VARIABLE}, in single quotes.",
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
@scope_option
@user_option
@config_option
@json_option
def add(
    name: str,
    command: tuple[str, ...],
    transport: str,
    headers: tuple[str, ...],
    env: tuple[str, ...],
    cwd: str | None,
    scope: str,
    config: Path | None,
    as_json: bool,
) -> None:
    """Add a server that is started with COMMAND, or that is at a URL.

    Its claims about its own tools count for nothing until you write annotationTrust: trust into
    its entry.

    \b
    Examples:
      lockgate mcp add git -- uvx mcp-server-git --repository .
      lockgate mcp add github -e GITHUB_TOKEN -- npx -y some-github-server
      lockgate mcp add docs --transport http https://docs.example/mcp
      lockgate mcp add -t http crm https://x.example/ -H 'X-Key: ${CRM_KEY}'
    """
    if not is_server_name(name):
        raise ConfigError(
            Problem(f"{visible(name)!r} is no valid server name", hint=name_hint(name))
        )
    layers = find_layers(config)
    path = file_of(layers, scope)
    if transport == "stdio":
        if headers:
            raise click.UsageError("--header is for a server at a URL: say --transport http")
        entry = _program(name, command, env, cwd, path)
    else:
        if env or cwd is not None:
            raise click.UsageError("--env and --cwd are for a program, and a URL starts none")
        entry = _address(name, command, transport, headers)
    _refuse_odd_bytes(entry)
    written = write_servers(layers, path, [entry])
    notes = _notes(entry)
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
    program = _rebased(command[0], moved, "/" in command[0])
    if len(command) == 1 and not {"/", "$"} & {*program} and len(program.split()) > 1:
        hint = f"write its words apart: lockgate mcp add {name} -- {' '.join(program.split())}"
        message = f"there is no program called {quoted(program)}"
        raise ConfigError(Problem(message, hint=visible(hint)))
    return ServerEntry(
        name, program, command[1:], _variables(env), cwd and _rebased(cwd, moved, True)
    )


def _address(
    name: str, words: tuple[str, ...], transport: str, headers: tuple[str, ...]
) -> ServerEntry:
    if len(words) != 1:
        raise click.UsageError(f"--transport {transport} takes one URL behind the name")
    kind = "sse" if transport == "sse" else "streamable-http"
    return ServerEntry(name, transport=kind, url=words[0], headers=_headers(headers))


def _headers(words: tuple[str, ...]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for word in words:
        name, colon, value = word.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not name or not value:
            raise click.UsageError("--header takes 'NAME: VALUE'")
        if any(name.lower() == other.lower() for other in headers):
            raise click.UsageError(f"--header {visible(name)[:60]} is given twice")
        if secret_in_header(name, value):
            message = f"the header {visible(name)[:60]} holds a secret as it is: nothing is written"
            scheme, blank, _ = value.partition(" ")
            start = f"{scheme} " if blank and scheme.isalpha() else ""
            hint = (
                "put it into a variable of your environment, and name that, in single quotes:"
                f" --header '{visible(name)[:60]}: {visible(start)}${{VARIABLE}}'"
            )
            raise ConfigError(Problem(message, hint=hint))
        for variable in _REFERENCE.findall(value):
            if variable not in os.environ:
                click.echo(f"note: {variable} is not set in your environment now", err=True)
        headers[name] = value
    return headers


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
    if entry.secret_in_url:
        notes.append(
            "the url looks as if it held a secret and was written as it is; better write ${NAME}"
            " there, and set NAME in your environment"
        )
    return notes


def _rebased(path: str, moved: bool, is_path: bool) -> str:
    # A relative path is relative to the file it stands in, not to where the command was typed.
    plain = is_path and not path.startswith(("/", "~", "${")) and not re.match(r"[A-Za-z]:", path)
    return str(Path.cwd() / path) if moved and plain else path


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
    for text in (*texts, *entry.headers, *entry.headers.values()):
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise click.UsageError(
                "a part of the command is not UTF-8, which no YAML file can hold"
            )
