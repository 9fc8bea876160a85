"""Options that commands share: which configuration, whose file, and who reads the answer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import msgspec

from lockgate.cli.output import on_terminal
from lockgate.settings.layers import Layers, locate
from lockgate.showing import visible_json

config_option = click.option(
    "-c",
    "--config",
    "config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Use FILE in place of ./lockgate.yaml.",
)
"""`-c/--config FILE`, as the parameter `config`."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
"""`--json`, as the parameter `as_json`."""

scope_option = click.option(
    "-s",
    "--scope",
    type=click.Choice(["project", "user"]),
    default="project",
    show_default=True,
    help="Whose file to write: this project's or your own.",
)
"""`--scope project|user`, as the parameter `scope`."""

user_option = click.option("--user", "scope", flag_value="user", help="The same as --scope user.")
"""`--user`, short for `--scope user`."""


def find_layers(config: Path | None) -> Layers:
    """The files that hold for this process; `-c` before the command counts as well."""
    context = click.get_current_context(silent=True)
    if config is None and context is not None:
        config = context.find_root().params.get("config")
    return locate(Path.cwd(), os.environ, config)


def print_json(value: Any) -> None:
    """Print one JSON document; on a terminal what it would obey or hide is escaped."""
    document = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    click.echo(visible_json(document) if on_terminal() else document)


def short(path: Path) -> str:
    """A path as a person knows it: relative to the working directory or to home."""
    for base, mark in ((Path.cwd(), ""), (Path.home(), "~/")):
        if path.is_relative_to(base):
            return f"{mark}{path.relative_to(base)}"
    return str(path)
