"""`lockgate pins`: the definitions that were reviewed, and what became of them since."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockgate.cli.definitions import definitions, last_seen_option
from lockgate.cli.exit import Exit
from lockgate.cli.opening import run_async, settled_config
from lockgate.cli.options import config_option, find_layers, json_option, print_json, short
from lockgate.errors import ConfigError, Problem
from lockgate.showing import quoted, visible

if TYPE_CHECKING:
    from lockgate.app.review import ServerReview, ToolReview


@click.group("pins", no_args_is_help=True)
def pins_group() -> None:
    """Reviewed definitions: show them, see what changed since, accept it.

    A pin is what a tool's definition was when somebody reviewed it: name, title, description,
    schemas, annotations, the server's instructions, and how the server is reached. Pins stand in
    lockgate.pins.json beside the project's configuration; commit that file. What is done about a
    tool that changed is said by mcp.servers[].pins.
    """


@pins_group.command("show")
@click.argument("server", required=False)
@config_option
@json_option
def show(server: str | None, config: Path | None, as_json: bool) -> int:
    """List what is pinned, and whether it was still so when last seen. Starts nothing.

    \b
    Examples:
      lockgate pins show
      lockgate pins show git --json | jq '.pins[] | select(.lastSeen != "same")'
    """
    from lockgate.app.servers import tools_last_seen
    from lockgate.cli.table import print_table

    settings = settled_config(find_layers(config))
    pins = settings.pins
    if server is not None and not pins.of(server):
        click.echo(f"Nothing of {quoted(server)} is pinned.", err=True)
        return Exit.USAGE
    _, _, manager = tools_last_seen(settings, os.environ, time=time.time, monotonic=time.monotonic)
    rows: list[dict[str, Any]] = []
    for name, tools in sorted(pins.servers.items()):
        if server not in (None, name):
            continue
        seen = None if manager is None else manager.seen(name)
        for tool, pin in sorted(tools.items()):
            now = None if seen is None else seen.fingerprints.get(tool)
            word = "never seen" if seen is None else "not listed"
            changed: tuple[str, ...] = ()
            if now is not None:
                changed = pin.fingerprint.changed(now)
                word = "changed" if changed else "same"
            rows.append(
                {
                    "server": name,
                    "tool": tool,
                    "digest": pin.fingerprint.digest,
                    "command": pin.command,
                    "lastSeen": word,
                    "changed": list(changed),
                }
            )
    if as_json:
        print_json({"pins": rows})
    elif not rows:
        click.echo("Nothing is pinned. To review a server: lockgate review SERVER", err=True)
    else:
        head = ("TOOL", "SERVER", "PINNED", "LAST SEEN")
        print_table(head, [_row(row) for row in rows])
    return Exit.DONE


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    changed = f": {', '.join(row['changed'])}" if row["changed"] else ""
    return (row["tool"], row["server"], row["digest"][:12], f"{row['lastSeen']}{changed}")


@pins_group.command("diff")
@click.argument("server", required=False)
@last_seen_option
@config_option
@json_option
def diff_command(server: str | None, last_seen: bool, config: Path | None, as_json: bool) -> int:
    """Show what changed since it was pinned, field by field.

    Starts SERVER, or every server that has pins. The exit code is 4 if a pinned tool changed or is
    gone, 0 if none did; tools without a pin are told, and change nothing about it.

    \b
    Examples:
      lockgate pins diff
      lockgate pins diff git --last-seen
    """

    async def work() -> int:
        found = await definitions(
            config,
            lambda settings: (
                [server]
                if server is not None
                else [s.name for s in settings.servers if settings.pins.of(s.name)]
            ),
            last_seen=last_seen,
        )
        broken = any(_broken(reviewed) for reviewed in found.reviews)
        if as_json:
            print_json({"servers": [_server_data(reviewed) for reviewed in found.reviews]})
        else:
            for reviewed in found.reviews:
                _print_diff(reviewed, [t for t in reviewed.tools if _differs(t)], new=False)
        return Exit.CONTRACT if broken else Exit.DONE

    if server is None and not settled_config(find_layers(config)).pins.servers:
        click.echo("Nothing is pinned. To review a server: lockgate review SERVER", err=True)
        return Exit.DONE
    return run_async(work)


@pins_group.command("accept")
@click.argument("server")
@click.argument("tools", nargs=-1, metavar="[TOOL]...")
@click.option("-y", "--yes", is_flag=True, help="Do not ask; needed where there is no terminal.")
@last_seen_option
@config_option
def accept(
    server: str, tools: tuple[str, ...], yes: bool, last_seen: bool, config: Path | None
) -> int:
    """Pin tools of SERVER as they are now, after showing what changed.

    Without TOOL all of them, and pins of tools that are gone are taken out. A pin is your word that
    you have read the definition; no verdict is written (lockgate review does that), but claims and
    verdicts that a change had put out of force hold again.

    \b
    Examples:
      lockgate pins accept git
      lockgate pins accept git git_log git_diff --yes
    """

    async def work() -> int:
        from lockgate.app.keeping_review import keep
        from lockgate.cli.asking import confirmed

        found = await definitions(config, lambda _: [server], last_seen=last_seen)
        (reviewed,) = found.reviews
        chosen = _chosen(reviewed, tools)
        due = [tool for tool in chosen if _differs(tool)]
        gone = reviewed.gone if not tools else ()
        if not due and not gone:
            click.echo("Everything is pinned as it is.")
            return Exit.DONE
        _print_diff(reviewed, due, new=True, gone=bool(gone))
        what = f"Pin {len(due)} tool(s) of {server} as shown?"
        if gone:
            what = f"Pin {len(due)} tool(s) of {server} as shown, and take out {len(gone)} pin(s)?"
        if not yes and not await confirmed(what):
            click.echo("Nothing was written.", err=True)
            return Exit.USAGE
        kept = keep(
            find_layers(config),
            reviewed,
            {tool.listed.name: None for tool in due},
            secrets=found.secrets(server),
            gone=bool(gone),
        )
        click.echo(f"Pinned {len(due)} tool(s) in {short(kept.pins.path)}.")
        return Exit.DONE

    return run_async(work)


def _chosen(reviewed: ServerReview, names: tuple[str, ...]) -> list[ToolReview]:
    """The tools of these names, as the server or the registry calls them; all for none."""
    from lockgate.settings.findings import spelling_hint
    from lockgate.tools.naming import server_tool_name

    if not names:
        return list(reviewed.tools)
    by_name = {tool.listed.name: tool for tool in reviewed.tools}
    by_name |= {
        server_tool_name(reviewed.server, name): tool for name, tool in tuple(by_name.items())
    }
    for name in names:
        if name not in by_name:
            message = f"{reviewed.server} lists no tool {quoted(name)}"
            own = [tool.listed.name for tool in reviewed.tools]
            raise ConfigError(Problem(message, hint=spelling_hint(name, own, what="its tools")))
    return list({id(by_name[name]): by_name[name] for name in names}.values())


def _differs(tool: ToolReview) -> bool:
    from lockgate.mcp.host.pins import Standing

    return tool.state.standing is not Standing.SAME


def _broken(reviewed: ServerReview) -> bool:
    """Whether a pinned tool is not what it was."""
    return bool(reviewed.gone) or any(tool.state.changed for tool in reviewed.tools)


def _print_diff(
    reviewed: ServerReview, tools: list[ToolReview], *, new: bool, gone: bool = True
) -> None:
    """Each tool that differs: what changed; what is new in full only if `new`."""
    from lockgate.cli.definition_view import columns, diff_lines, standing_words

    width = columns()
    for tool in tools:
        click.echo(f"{reviewed.server}: {visible(tool.listed.name)}: {standing_words(tool)}")
        if tool.pinned is not None or new:
            for line in diff_lines(tool, width):
                click.echo(line.rstrip())
    for name in reviewed.gone if gone else ():
        click.echo(f"{reviewed.server}: {visible(name)}: pinned, and not listed any more")
    if not tools and not (gone and reviewed.gone):
        click.echo(f"{reviewed.server}: as pinned ({len(reviewed.tools)} tools)")


def _server_data(reviewed: ServerReview) -> dict[str, Any]:
    from lockgate.cli.definition_view import review_data

    tools = [review_data(tool) for tool in reviewed.tools if _differs(tool)]
    keys = ("tool", "standing", "changed", "digest", "pinned", "diff")
    return {
        "server": reviewed.server,
        "tools": [{key: tool[key] for key in keys} for tool in tools],
        "gone": list(reviewed.gone),
    }
