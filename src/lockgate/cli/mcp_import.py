"""`lockgate mcp import`: takes servers over from other programs' files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import click

from lockgate.cli.options import (
    config_option,
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
from lockgate.settings.foreign import Found, read_foreign, usual_places
from lockgate.settings.starts import start_of
from lockgate.settings.writing import check_entry, server_names, write_servers
from lockgate.showing import visible

Fate = Literal["add", "exists", "refused"]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What will become of one server."""

    found: Found
    fate: Fate


@click.command("import")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask; needed where there is no terminal.")
@scope_option
@user_option
@config_option
@json_option
def import_servers(
    files: tuple[Path, ...],
    dry_run: bool,
    yes: bool,
    scope: str,
    config: Path | None,
    as_json: bool,
) -> None:
    """Take servers over from .mcp.json, Claude Desktop, VS Code, Cursor and the like.

    Without FILE it looks where such programs keep their servers: in this project, or with --user in
    your home. It shows what it takes over and what it can not, and adds to ./lockgate.yaml without
    touching what is there. What it writes is accepted by being written, so it asks before; where
    there is no terminal it needs --yes.

    \b
    Examples:
      lockgate mcp import
      lockgate mcp import ~/.cursor/mcp.json --dry-run
      lockgate mcp import --user
    """
    layers = find_layers(config)
    path = layers.person if scope == "user" else layers.project
    sources = files or tuple(_usual(scope))
    plans = [_warned(plan, scope) for plan in _plans(sources, path)]
    entries = [p.found.entry for p in plans if p.fate == "add" and p.found.entry is not None]
    wanted = bool(entries) and not dry_run
    if not as_json or (wanted and not yes):
        _show(plans, path, as_json)
    if wanted and not yes:
        wanted = _ask(f"Write {_count(len(entries))} to {short(path)}?", path)
    written = write_servers(layers, path, entries) if wanted else None
    if as_json:
        answer = {"file": str(path), "written": written is not None}
        servers = [_data(plan) for plan in plans]
        print_json(answer | (written_data(written) if written else {}) | {"servers": servers})
    elif written is not None:
        click.echo(f"Wrote {_count(len(entries))} to {short(path)}.")
        tell_waiting(written)
    else:
        click.echo("Nothing was written.")


def _usual(scope: str) -> Iterator[Path]:
    places = usual_places(Path.cwd(), os.environ, personal=scope == "user")
    present = [place for place in places if place.is_file()]
    if not present:
        looked = ", ".join(short(place) for place in places)
        hint = f"looked for {looked}; name the file: lockgate mcp import FILE"
        raise ConfigError(Problem("found no file to import from", hint=hint))
    yield from present


def _plans(sources: tuple[Path, ...], path: Path) -> list[_Plan]:
    taken = set(server_names(path))
    plans: list[_Plan] = []
    for source in sources:
        for found in read_foreign(source, path.parent):
            reason = None if found.entry is None else _unusable(found.entry, path)
            if found.entry is None:
                plans.append(_Plan(found, "refused"))
            elif reason is not None:
                refused = replace(found, entry=None, notes=(reason, *found.notes))
                plans.append(_Plan(refused, "refused"))
            elif found.entry.name in taken:
                plans.append(_Plan(found, "exists"))
            else:
                taken.add(found.entry.name)
                plans.append(_Plan(found, "add"))
    return plans


def _warned(plan: _Plan, scope: str) -> _Plan:
    """The same with a note on variables that have to be set before anything starts."""
    entry = plan.found.entry
    unset = () if entry is None or plan.fate != "add" else entry.unset(os.environ)
    if not unset:
        return plan
    what = f"not set in your environment now: {', '.join(unset)}"
    whom = "in every project of yours" if scope == "user" else "in this project"
    note = f"{what}; until that is done, commands that start servers fail {whom}"
    return _Plan(replace(plan.found, notes=(*plan.found.notes, note)), plan.fate)


def _unusable(entry: ServerEntry, path: Path) -> str | None:
    try:
        check_entry(entry, path)
    except ConfigError as error:
        return "; ".join(problem.message for problem in error.problems)
    return None


def _ask(question: str, path: Path) -> bool:
    # What it writes is accepted by being written: that takes a person's yes.
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        hint = "say --yes if these servers may be started, or --dry-run to look at them"
        message = f"nothing was written to {short(path)}: there is no terminal to ask on"
        raise ConfigError(Problem(message, hint=hint))
    return click.confirm(question, err=True)


def _show(plans: list[_Plan], path: Path, err: bool) -> None:
    source: Path | None = None
    for plan in plans:
        found = plan.found
        if found.source != source:
            source = found.source
            click.echo(f"{short(source)}:", err=err)
        name = visible(found.original)[:60]
        if found.entry is None:
            click.echo(f"  - {name}: not taken over: {found.notes[0]}", err=err)
            continue
        if plan.fate == "exists":
            there = f"{found.entry.name} is in {short(path)} already, left as it is"
            click.echo(f"  = {name}: {there}", err=err)
            continue
        click.echo(f"  + {start_of(found.entry)}", err=err)
        for note in found.notes:
            click.echo(f"      note: {note}", err=err)


def _data(plan: _Plan) -> dict[str, object]:
    found = plan.found
    return {
        "source": str(found.source),
        "original": found.original,
        "fate": plan.fate,
        "server": None if found.entry is None else entry_data(found.entry),
        "notes": found.notes,
    }


def _count(number: int) -> str:
    return f"{number} server{'' if number == 1 else 's'}"
