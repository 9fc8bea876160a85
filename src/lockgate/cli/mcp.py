"""`lockgate mcp`: the servers that are configured. None of these commands starts one."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import click

from lockgate.cli.listing import print_folded
from lockgate.cli.mcp_import import import_servers
from lockgate.cli.options import (
    config_option,
    find_layers,
    json_option,
    print_json,
    scope_option,
    short,
    user_option,
)
from lockgate.cli.server_view import (
    command_line,
    entry_data,
    server_data,
    tell_unaccepted,
    tell_waiting,
    written_data,
)
from lockgate.errors import ConfigError, Problem
from lockgate.settings.entry import ServerEntry
from lockgate.settings.findings import spelling_hint
from lockgate.settings.layers import Layers
from lockgate.settings.masking import is_reference, shown_command
from lockgate.settings.server_name import is_server_name, name_hint
from lockgate.settings.survey import Survey, WrittenServer, survey
from lockgate.settings.telling import folded
from lockgate.settings.writing import erase_server, write_servers
from lockgate.showing import looks_secret, quoted, visible


@click.group("mcp", no_args_is_help=True)
def mcp_group() -> None:
    """Add, list, import and remove MCP servers.

    \b
    Examples:
      lockgate mcp import                      take over the servers of .mcp.json
      lockgate mcp add git -- uvx mcp-server-git
      lockgate mcp list
    """


mcp_group.add_command(import_servers)


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


@mcp_group.command("add", cls=_WithCommand)
@click.argument("name")
@click.argument("command", nargs=-1, required=True)
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
    env: tuple[str, ...],
    cwd: str | None,
    scope: str,
    config: Path | None,
    as_json: bool,
) -> None:
    """Add a server that is started with COMMAND.

    Its claims about its own tools count for nothing until you write annotationTrust: trust into
    its entry.

    \b
    Examples:
      lockgate mcp add git -- uvx mcp-server-git --repository .
      lockgate mcp add github -e GITHUB_TOKEN -- npx -y some-github-server
    """
    if not is_server_name(name):
        raise ConfigError(
            Problem(f"{visible(name)!r} is no valid server name", hint=name_hint(name))
        )
    layers = find_layers(config)
    path = _target(layers, scope)
    moved = path.parent.resolve() != Path.cwd().resolve()
    program = _rebased(command[0], moved, "/" in command[0])
    entry = ServerEntry(
        name, program, command[1:], _variables(env), cwd and _rebased(cwd, moved, True)
    )
    _refuse_odd_bytes(entry)
    if len(command) == 1 and not {"/", "$"} & {*program} and len(program.split()) > 1:
        hint = f"write its words apart: lockgate mcp add {name} -- {' '.join(program.split())}"
        message = f"there is no program called {quoted(program)}"
        raise ConfigError(Problem(message, hint=visible(hint)))
    written = write_servers(layers, path, [entry])
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
    if as_json:
        print_json(written_data(written) | {"server": entry_data(entry), "notes": notes})
        return
    click.echo(f"Added {name} to {short(path)}: {shown_command(entry.command, entry.args)}")
    for note in notes:
        click.echo(f"note: {note}", err=True)
    tell_waiting(written)


@mcp_group.command("list")
@config_option
@json_option
def list_servers(config: Path | None, as_json: bool) -> None:
    """List the configured servers. Starts none of them; `lockgate doctor` does.

    \b
    Example:
      lockgate mcp list --json
    """
    found = survey(_existing(config))
    if as_json:
        servers = [server_data(server, found.waiting) for server in found.servers]
        print_json({"servers": servers, "notAccepted": found.waiting and str(found.waiting)})
        return
    if not found.servers:
        click.echo("No MCP servers are configured. Add one: lockgate mcp add NAME -- COMMAND")
    else:
        print_folded(
            ("NAME", "TRUST", "COMMAND", "FROM"),
            [
                (
                    server.name,
                    server["annotationTrust"].value,
                    command_line(server, found.waiting),
                    ", ".join(short(file) for file in server.files),
                )
                for server in found.servers
            ],
        )
    tell_unaccepted(found)


@mcp_group.command("get")
@click.argument("name")
@config_option
@json_option
def get(name: str, config: Path | None, as_json: bool) -> None:
    """Show one configured server. Values of its variables are not shown.

    \b
    Example:
      lockgate mcp get git
    """
    found = survey(_existing(config))
    server = _find(found, name)
    if as_json:
        print_json(server_data(server, found.waiting))
        return
    details = server_data(server, found.waiting)
    click.echo(name)
    lines = folded(f"command: {command_line(server, found.waiting)}", room=76)
    click.echo("\n".join(f"  {line}" for line in lines))
    words = ("cwd", "requestTimeout", "progressExtends", "annotationTrust", "required", "lane")
    for key in words:
        if details[key] is not None:
            click.echo(f"  {key}: {_word(details[key])}")
    for variable, value in details["env"].items():
        click.echo(f"  env {variable}: {value}")
    if details["expectTools"]:
        click.echo(f"  expectTools: {', '.join(details['expectTools'])}")
    for tool, verdict in details["verdicts"].items():
        said = ", ".join(f"{key}: {_word(value)}" for key, value in verdict.items())
        click.echo(f"  verdict on {tool}: {said}")
    click.echo(f"  from: {', '.join(short(file) for file in server.files)}")
    tell_unaccepted(found)


@mcp_group.command("remove")
@click.argument("name")
@click.option(
    "-s",
    "--scope",
    type=click.Choice(["project", "user"]),
    help="Whose file to change; needed if the server stands in both.",
)
@user_option
@config_option
@json_option
def remove(name: str, scope: str | None, config: Path | None, as_json: bool) -> None:
    """Take a server out of the file it stands in.

    \b
    Example:
      lockgate mcp remove git
    """
    layers = _existing(config)
    server = _find(survey(layers), name)
    files = [f for f in server.files if scope is None or f == _target(layers, scope)]
    if not files:
        where = short(_target(layers, scope or "project"))
        raise ConfigError(Problem(f'{where} has no server called "{name}"'))
    if len(files) > 1:
        where = " and ".join(map(short, files))
        hint = "say which: --scope project or --scope user"
        raise ConfigError(Problem(f'"{name}" stands in {where}', hint=hint))
    written = erase_server(layers, files[0], name)
    if as_json:
        print_json(written_data(written) | {"removed": name})
        return
    click.echo(f"Removed {name} from {short(files[0])}.")
    tell_waiting(written)


# ------------------------------------------------------------------ what they share


def _target(layers: Layers, scope: str) -> Path:
    return layers.person if scope == "user" else layers.project


def _existing(config: Path | None) -> Layers:
    layers = find_layers(config)
    if layers.named and not layers.project.exists():
        raise ConfigError(Problem("there is no such file", file=layers.project))
    return layers


def _find(found: Survey, name: str) -> WrittenServer:
    for server in found.servers:
        if server.name == name:
            return server
    names = [server.name for server in found.servers]
    hint = spelling_hint(name, names, what="configured") if names else "none is configured"
    raise ConfigError(Problem(f'no server called "{visible(name)}" is configured', hint=hint))


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
    for text in (entry.command, *entry.args, *entry.env.values(), entry.cwd or ""):
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise click.UsageError(
                "a part of the command is not UTF-8, which no YAML file can hold"
            )


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
