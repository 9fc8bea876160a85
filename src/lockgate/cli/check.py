"""`lockgate check`: look over the configuration without starting anything."""

from __future__ import annotations

from pathlib import Path

import click

from lockgate.cli.options import config_option, find_layers, json_option, print_json, short


@click.command("check")
@config_option
@json_option
def check(config: Path | None, as_json: bool) -> int:
    """Look over the configuration without starting anything.

    Every fault is told at once, with file, line and key. Beyond that: programs that are not there,
    verdicts that loosen without trust, rules that can never match. Whether a server has the tools
    that rules and offers name can not be seen without starting it: lockgate doctor does. The exit
    code is 2 for a configuration that can not be used, 1 if something was found, 0 if not.

    \b
    Example:
      lockgate check && lockgate doctor
    """
    import os

    from lockgate.app.findings import findings
    from lockgate.cli.exit import Exit
    from lockgate.settings.loading import load
    from lockgate.showing import visible, visible_lines

    settings = load(find_layers(config), os.environ)
    found = findings(settings, os.environ)
    if as_json:
        print_json(
            {
                "files": [str(path) for path in settings.sources],
                "servers": [server.name for server in settings.servers],
                "findings": [{"where": f.where, "text": f.text, "hint": f.hint} for f in found],
            }
        )
    else:
        files = ", ".join(short(path) for path in settings.sources) or "no file"
        click.echo(f"read: {files}; servers: {len(settings.servers)}")
        for finding in found:
            click.echo(f"{visible(finding.where)}: {visible_lines(finding.text)}")
            if finding.hint:
                click.echo(f"  {visible(finding.hint)}")
        click.echo(f"{len(found)} found" if found else "nothing found")
    return Exit.FAILED if found else Exit.DONE
