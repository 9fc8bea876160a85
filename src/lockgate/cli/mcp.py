"""`lockgate mcp`: the servers that are configured. Only `login` and `logout` reach anybody."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from lockgate.app.logins import KnownLogin, login_data
from lockgate.cli.listing import print_folded
from lockgate.cli.login_view import KeptLogins, login_lines, login_word
from lockgate.cli.mcp_add import add
from lockgate.cli.mcp_import import import_servers
from lockgate.cli.mcp_login import login
from lockgate.cli.mcp_logout import logout
from lockgate.cli.options import (
    config_option,
    file_of,
    find_layers,
    json_option,
    print_json,
    short,
    user_option,
)
from lockgate.cli.server_view import (
    command_line,
    server_data,
    tell_unaccepted,
    tell_waiting,
    written_data,
)
from lockgate.errors import ConfigError, Problem
from lockgate.settings.findings import spelling_hint
from lockgate.settings.layers import Layers
from lockgate.settings.survey import Survey, WrittenServer, survey
from lockgate.settings.telling import folded
from lockgate.settings.writing import erase_server
from lockgate.showing import visible


@click.group("mcp", no_args_is_help=True)
def mcp_group() -> None:
    """Add, list, import and remove MCP servers; log in to them.

    \b
    Examples:
      lockgate mcp import                      take over the servers of .mcp.json
      lockgate mcp add git -- uvx mcp-server-git
      lockgate mcp add docs --transport http https://docs.example/mcp
      lockgate mcp login docs
      lockgate mcp list
    """


mcp_group.add_command(add)
mcp_group.add_command(import_servers)
mcp_group.add_command(login)
mcp_group.add_command(logout)


@mcp_group.command("list")
@config_option
@json_option
def list_servers(config: Path | None, as_json: bool) -> None:
    """List the configured servers. Reaches none of them; `lockgate doctor` does.

    \b
    Example:
      lockgate mcp list --json
    """
    layers = _existing(config)
    found = survey(layers)
    found.faults.raise_any()
    logins = _logins(found, layers)
    if as_json:
        servers = [
            server_data(server, found.waiting) | {"login": _login_data(logins.get(server.name))}
            for server in found.servers
        ]
        print_json({"servers": servers, "notAccepted": found.waiting and str(found.waiting)})
        return
    if not found.servers:
        click.echo("No MCP servers are configured. Add one: lockgate mcp add NAME -- COMMAND")
    else:
        # The column is there where somebody logs in to something.
        head = ("NAME", "TRUST", *(("LOGIN",) if logins else ()), "COMMAND OR URL", "FROM")
        print_folded(
            head,
            [
                (
                    server.name,
                    server["annotationTrust"].value,
                    *((_login_word(logins.get(server.name)),) if logins else ()),
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
    """Show one configured server. Values of its variables and headers are not shown.

    \b
    Example:
      lockgate mcp get git
    """
    layers = _existing(config)
    found = survey(layers)
    found.faults.raise_any()
    server = _find(found, name)
    known = _logins(found, layers, name).get(name)
    if as_json:
        print_json(server_data(server, found.waiting) | {"login": _login_data(known)})
        return
    details = server_data(server, found.waiting)
    click.echo(name)
    kind = "command" if details["url"] is None else "url"
    lines = folded(f"{kind}: {command_line(server, found.waiting)}", room=76)
    click.echo("\n".join(f"  {line}" for line in lines))
    words = ("transport", "cwd", "proxy", "requestTimeout", "progressExtends")
    for key in (*words, "annotationTrust", "required", "lane", "elicitation"):
        if details[key] is not None:
            click.echo(f"  {key}: {_word(details[key])}")
    for variable, value in details["env"].items():
        click.echo(f"  env {variable}: {value}")
    for header, value in details["headers"].items():
        click.echo(f"  header {header}: {value}")
    auth: dict[str, str | list[str]] = details["auth"] or {}
    for key, value in auth.items():
        said = value if isinstance(value, str) else ", ".join(value)
        click.echo(f"  auth {key}: {said}")
    if known is not None:
        for line in login_lines(name, known, time.time()):
            click.echo(f"  login: {line}")
    for key, value in details["tls"].items():
        click.echo(f"  tls {key}: {value}")
    for root in details["roots"]:
        click.echo(f"  root: {root}")
    sampling: dict[str, Any] = details["sampling"] or {}
    for key, value in sampling.items():
        click.echo(f"  sampling {key}: {_word(value)}")
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
    files = [f for f in server.files if scope is None or f == file_of(layers, scope)]
    if not files:
        where = short(file_of(layers, scope or "project"))
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
    if KeptLogins(layers.credentials).has(name):
        click.echo(
            f"note: the login to it is kept; to forget it: lockgate mcp logout {name}", err=True
        )
    tell_waiting(written)


# ------------------------------------------------------------------ what they share


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


def _logins(found: Survey, layers: Layers, name: str | None = None) -> dict[str, KnownLogin]:
    """What is known of the logins of servers that have one, by name; asks nobody."""
    kept = KeptLogins(layers.credentials)
    now = time.time()
    servers = (each for each in found.servers if name in (None, each.name))
    known = ((each.name, kept.of_written(each, now)) for each in servers)
    return {server: one for server, one in known if one is not None}


def _login_data(known: KnownLogin | None) -> dict[str, Any] | None:
    return None if known is None else login_data(known)


def _login_word(known: KnownLogin | None) -> str:
    return "" if known is None else login_word(known)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
