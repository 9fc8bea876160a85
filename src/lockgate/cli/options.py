"""Options that commands share: which configuration, whose file, and who reads the answer."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any, cast

import click
import msgspec

from lockgate.cli.output import on_terminal
from lockgate.errors import ConfigError, Problem
from lockgate.settings.layers import Layers, locate
from lockgate.showing import visible, visible_json

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
    """The files that hold for this process; `-c` before the command counts as well.

    Raises `ConfigError` in a working directory that was removed, since nothing is relative to it.
    """
    context = click.get_current_context(silent=True)
    if config is None and context is not None:
        config = context.find_root().params.get("config")
    try:
        cwd = Path.cwd()
    except OSError as error:
        message = f"the working directory can not be used: {error.strerror}"
        raise ConfigError(Problem(message, hint="change to another directory")) from None
    return locate(cwd, os.environ, config)


def to_type(words: str) -> str:
    """The command line `lockgate WORDS`, for a person to copy: with the `-c` of this one."""
    context = click.get_current_context(silent=True)
    config: Path | None = None
    if context is not None:
        config = context.params.get("config") or context.find_root().params.get("config")
    named = "" if config is None else f"-c {shlex.quote(str(config))} "
    return visible(f"lockgate {named}{words}")


def file_of(layers: Layers, scope: str) -> Path:
    """The file that `--scope` names."""
    return layers.person if scope == "user" else layers.project


def print_json(value: Any) -> None:
    """Print one JSON document; on a terminal what it would obey or hide is escaped."""
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        # The name of a file may hold bytes that are no text; as JSON they are shown escaped.
        encoded = msgspec.json.encode(_as_text(msgspec.to_builtins(value)))
    document = msgspec.json.format(encoded, indent=2).decode()
    click.echo(visible_json(document) if on_terminal() else document)


def short(path: Path) -> str:
    """A path as a person knows it, relative to the working directory or to home; `visible`."""
    for base, mark in ((Path.cwd(), ""), (_home(), "~/")):
        if base is not None and path.is_relative_to(base):
            return visible(f"{mark}{path.relative_to(base)}")
    return visible(str(path))


def _home() -> Path | None:
    home = os.environ.get("HOME", "")
    return Path(home) if home.startswith("/") else None


def _as_text(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value).items()
        return {_as_text(key): _as_text(one) for key, one in pairs}
    if isinstance(value, list | tuple):
        return [_as_text(one) for one in cast("list[object]", value)]
    return value
