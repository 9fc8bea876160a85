"""`lockgate config`: a person's word on a file that was found."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from lockgate.cli.options import config_option, find_layers, json_option, print_json, short
from lockgate.errors import ConfigError, Problem
from lockgate.settings.acceptance import Acceptance, AcceptedFiles, Part, Pending
from lockgate.settings.loading import pending, pending_definitions
from lockgate.settings.pins_file import pending_pins
from lockgate.showing import visible


@click.group("config", no_args_is_help=True)
def config_group() -> None:
    """Accept a project's configuration."""


@config_group.command("accept")
@click.option("-y", "--yes", is_flag=True, help="Do not ask; needed where there is no terminal.")
@click.option("--show", is_flag=True, help="Show each whole file too, its secrets included.")
@config_option
@json_option
def accept(yes: bool, show: bool, config: Path | None, as_json: bool) -> None:
    """Accept ./lockgate.yaml as it is now, after showing what it would do.

    A configuration that was found in a directory starts no program and loosens nothing until you
    have accepted its content, and again after every change to it. Accepting a file accepts the
    programs it names, whatever they contain later: read it first. The same goes for the reviewed
    definitions in ./lockgate.pins.json, and for each skill that the configuration names; all of
    them are accepted by this command.

    \b
    Examples:
      lockgate config accept
      lockgate config accept --show
      lockgate config accept --yes
    """
    layers = find_layers(config)
    files = [one for one in (pending(layers), pending_pins(layers)) if one is not None]
    defined = pending_definitions(layers, os.environ)
    waiting = [*files, *defined]
    if not waiting:
        hint = "write one, or run: lockgate mcp import"
        raise ConfigError(Problem("there is no such file", file=layers.project, hint=hint))
    for one in waiting:
        known = one.acceptance is Acceptance.ACCEPTED
        where = short(one.path)
        click.echo(f"{where} (sha256 {one.sha256[:12]})", err=as_json)
        for line in one.summary:
            click.echo(f"  {line}", err=as_json)
        for part in one.accepted if show else ():
            _print_whole(part, err=as_json)
        if not known:
            if not yes:
                _ask(where)
            # What was shown is what is accepted, whatever the file says by now.
            AcceptedFiles(layers.accepted_dir).accept_all(one)
        if not as_json:
            click.echo("It was accepted already." if known else "Accepted.")
    if as_json:
        first, *pins = files
        told = {"pins": _data(pins[0]) if pins else None, "definitions": [*map(_data, defined)]}
        print_json({**_data(first), **told})


def _print_whole(part: Part, *, err: bool) -> None:
    """What will be accepted, line by line, and harmless to the terminal."""
    click.echo(f"  {short(part.path)}:", err=err)
    for line in part.data.decode("utf-8", "replace").splitlines():
        click.echo(f"  | {visible(line)}", err=err)


def _ask(where: str) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        hint = "say --yes if you have read the file"
        raise ConfigError(
            Problem(f"{where} is not accepted: there is no terminal to ask on", hint=hint)
        )
    if not click.confirm("Accept it?", default=False, err=True):
        raise ConfigError(Problem(f"{where} is not accepted: you said no"))


def _data(waiting: Pending) -> dict[str, object]:
    return {
        "file": str(waiting.path),
        "sha256": waiting.sha256,
        "was": waiting.acceptance.value,
        "starts": [
            {
                "server": start.server,
                "command": start.command,
                "args": start.arguments,
                "env": start.env,
                "variables": start.variables,
                "cwd": start.cwd,
                "url": start.url,
                "headers": start.headers,
                "through": start.through,
            }
            for start in waiting.starts
        ],
        "loosens": waiting.loosens,
        "files": [{"file": str(part.path), "sha256": part.sha256} for part in waiting.parts],
    }
