"""`lockgate tools`: every tool, what it may do, where that comes from, and what would happen."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import click

from lockgate.cli.exit import Exit
from lockgate.cli.options import config_option, json_option, print_json


@click.command("tools")
@click.argument("pattern", required=False)
@config_option
@json_option
def tools(pattern: str | None, config: Path | None, as_json: bool) -> int:
    """Every tool: what it may do, where that comes from, and what would happen to a call now.

    DESTR is whether it can overwrite or remove, IDEMP whether a repeat changes nothing more.
    PATTERN is a name, or part of one with * for anything. FROM says what the columns before it
    follow: "declared" by our own code, "default" (nothing believed, so the worst), "claim" (the
    server's annotations, because annotationTrust is trust), "verdict" (your own word). NOW is what
    would happen to a call: it runs, it asks, or it is refused, and at which step.

    \b
    Examples:
      lockgate tools
      lockgate tools 'mcp__git__*'
      lockgate tools --json | jq '.tools[] | select(.destructive) | .name'
    """
    from lockgate.cli.opening import opened, run_async

    async def work() -> int:
        import os

        from lockgate.app.findings import unable_tools
        from lockgate.cli.table import print_table
        from lockgate.cli.verdicts import as_data, row, standing
        from lockgate.showing import visible

        async with opened(config, tolerant=True) as gate:
            found = [t for t in gate.tools() if _wanted(t.name, pattern)]
            rows = [(tool, standing(gate, tool)) for tool in found]
            failed = dict(gate.failed)
            unfit = unable_tools(gate.config, os.environ)
            configured = bool(gate.config.servers or gate.config.builtin)
            left_out = (
                [(s.name, out) for s in gate.mcp.statuses for out in s.left_out] if gate.mcp else []
            )
        if as_json:
            print_json(
                {
                    "tools": [as_data(tool, explained) for tool, explained in rows],
                    "failed": failed,
                    "leftOut": [
                        {"server": server, "tool": out.tool, "reason": out.reason}
                        for server, out in left_out
                    ],
                }
            )
        elif rows:
            head = ("TOOL", "LEVEL", "DESTR", "IDEMP", "FROM", "NOW")
            print_table(head, [row(tool, explained) for tool, explained in rows])
        else:
            click.echo(_none(pattern, configured), err=True)
        for name, reason in failed.items():
            click.echo(f"{name}: not available: {visible(reason)}", err=True)
        for finding in unfit:
            click.echo(finding.text, err=True)
        for server, out in left_out:
            click.echo(f"{server}: {visible(out.tool)} left out: {visible(out.reason)}", err=True)
        if not rows and pattern:
            return Exit.USAGE
        return Exit.DONE

    return run_async(work)


def _none(pattern: str | None, configured: bool) -> str:
    if not configured:
        return (
            "No tools: no servers are configured, and builtin names none. "
            "Next: lockgate mcp import, lockgate mcp add"
        )
    return "No tool of that name." if pattern else "No tools. To see why: lockgate doctor"


def _wanted(name: str, pattern: str | None) -> bool:
    return pattern is None or fnmatch.fnmatchcase(name, pattern) or pattern in name
