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
    rules that can never match or add nothing, servers that are believed and not pinned. What needs
    the tools of a server is looked at by what it listed when it was last started: rules and offers
    for tools that are not there, allow rules for what can destroy, claims that contradict
    themselves, verdicts and pins that are about nothing. Servers that were never started are named;
    lockgate doctor starts all. What nothing in a configuration takes away is a note. The exit code
    is 2 for a configuration that can not be used, 1 if something was found, 0 if not, or notes
    alone.

    \b
    Example:
      lockgate check && lockgate doctor
    """
    import os
    import time

    from lockgate.app.findings import findings
    from lockgate.app.known import known_findings
    from lockgate.app.servers import tools_last_seen
    from lockgate.cli.exit import Exit
    from lockgate.settings.loading import load
    from lockgate.showing import visible, visible_lines

    settings = load(find_layers(config), os.environ)
    snapshot, statuses, manager = tools_last_seen(
        settings, os.environ, time=time.time, monotonic=time.monotonic
    )
    found = (
        *findings(settings, os.environ, now=time.time()),
        *known_findings(settings, snapshot, statuses, manager),
    )
    faults = sum(not finding.note for finding in found)
    unknown = [status.name for status in statuses if not status.state.has_tools]
    if as_json:
        print_json(
            {
                "files": [str(path) for path in settings.sources],
                "servers": [server.name for server in settings.servers],
                "notSeen": unknown,
                "findings": [
                    {"where": f.where, "text": f.text, "hint": f.hint, "note": f.note}
                    for f in found
                ],
            }
        )
    else:
        files = ", ".join(short(path) for path in settings.sources) or "no file"
        click.echo(f"read: {files}; servers: {len(settings.servers)}")
        for finding in found:
            head = "note: " if finding.note else ""
            click.echo(f"{head}{visible(finding.where)}: {visible_lines(finding.text)}")
            if finding.hint:
                click.echo(f"  {visible(finding.hint)}")
        if unknown:
            names = ", ".join(unknown)
            click.echo(f"not known yet, so their tools were not looked at: {names}")
            click.echo("  start them once: lockgate doctor")
        click.echo(f"{faults} found" if faults else "nothing to mend" if found else "nothing found")
    return Exit.FAILED if faults else Exit.DONE
