"""`lockgate config`: a person's word on a file that was found."""

from __future__ import annotations

from pathlib import Path

import click

from lockgate.cli.options import config_option, find_layers, json_option, print_json, short
from lockgate.errors import ConfigError, Problem
from lockgate.settings.acceptance import Acceptance, AcceptedFiles
from lockgate.settings.loading import pending
from lockgate.settings.masking import visible


@click.group("config", no_args_is_help=True)
def config_group() -> None:
    """Accept a project's configuration."""


@config_group.command("accept")
@config_option
@json_option
def accept(config: Path | None, as_json: bool) -> None:
    """Accept ./lockgate.yaml as it is now.

    A configuration that was found in a directory starts no program and loosens nothing until you
    have accepted its content, and again after every change to it. Accepting a file accepts the
    programs it names, whatever they contain later: read it first.

    \b
    Example:
      lockgate config accept
    """
    layers = find_layers(config)
    waiting = pending(layers)
    if waiting is None:
        hint = "write one, or run: lockgate mcp import"
        raise ConfigError(Problem("there is no such file", file=layers.project, hint=hint))
    known = waiting.acceptance is Acceptance.ACCEPTED
    if not known:
        AcceptedFiles(layers.accepted_dir).accept(waiting.path, waiting.sha256)
    if as_json:
        print_json(
            {
                "file": str(waiting.path),
                "sha256": waiting.sha256,
                "was": waiting.acceptance.value,
                "starts": [
                    {"server": s.server, "command": s.command, "env": s.env} for s in waiting.starts
                ],
                "loosens": waiting.loosens,
            }
        )
        return
    word = "was accepted already" if known else "is accepted"
    click.echo(f"{visible(short(waiting.path))} {word} (sha256 {waiting.sha256[:12]}).")
    for line in waiting.summary:
        click.echo(f"  {line.replace('It would', 'It may', 1)}")
