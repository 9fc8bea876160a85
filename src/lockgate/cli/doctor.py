"""`lockgate doctor`: start every server, and say what is wrong and how to mend it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockgate.cli.options import config_option, json_option, print_json
from lockgate.cli.table import counted

if TYPE_CHECKING:
    from lockgate.app.logins import KnownLogin
    from lockgate.mcp.host.status import ServerStatus
    from lockgate.settings.config import Config


@click.command("doctor")
@config_option
@json_option
def doctor(config: Path | None, as_json: bool) -> int:
    """Start every server and say how it went: times, versions, tools, what is odd, what to do.

    Rules and offers that name a tool which no server has are told too: only here can that be seen.
    So is what keeps a model from being used here, such as a missing key; no model is asked.
    The exit code is 0 if all is well, 4 if an expected tool is missing, 5 if a required server can
    not be reached, 1 for anything else that is wrong.

    \b
    Example:
      lockgate doctor --json | jq '.servers[] | {name, state, seconds}'
    """
    from lockgate.cli.opening import opened, run_async

    async def work() -> int:
        import os

        from lockgate.app.findings import unable_tools, unusable_models
        from lockgate.app.logins import login_data
        from lockgate.cli.exit import Exit
        from lockgate.showing import visible

        async with opened(config, tolerant=True, attended=False, tell=False) as gate:
            report = gate.report
            logins = _logins(gate.config)
            registered = len(gate.tools())
            settings, found = gate.config, gate.unmatched
        # With the servers closed: a large library may be loaded, and nobody would hear them.
        unmatched = (
            *unable_tools(settings, os.environ),
            *unusable_models(settings, os.environ),
            *found,
        )
        servers = report.servers if report is not None else ()
        if as_json:
            print_json(
                {
                    "servers": [
                        _data(status) | {"login": login_data(logins[status.name])}
                        if status.name in logins
                        else _data(status)
                        for status in servers
                    ],
                    "missing": list(report.missing) if report else [],
                    "unreachable": list(report.unreachable) if report else [],
                    "unmatched": [
                        {"where": f.where, "text": f.text, "hint": f.hint} for f in unmatched
                    ],
                    "tools": registered,
                }
            )
        else:
            _print(servers, registered, logins)
            for line in (*report.missing, *report.unreachable) if report else ():
                click.echo(f"PROBLEM  {line}")
            for finding in unmatched:
                click.echo(f"PROBLEM  {visible(finding.where)}: {visible(finding.text)}")
                if finding.hint:
                    click.echo(f"         {visible(finding.hint)}")
        if report is None:
            return Exit.FAILED if unmatched else Exit.DONE
        if report.missing:
            return Exit.CONTRACT
        if report.unreachable:
            return Exit.UNREACHABLE
        odd = report.failed or unmatched or any(s.left_out or s.changed for s in servers)
        return Exit.FAILED if odd else Exit.DONE

    return run_async(work)


def _logins(config: Config) -> dict[str, KnownLogin]:
    """What is known of the logins of servers that have one, by name."""
    import time

    from lockgate.app.logins import place_of
    from lockgate.cli.login_view import KeptLogins
    from lockgate.mcp.client.oauth.plan import OAuthPlan

    if config.credentials.file is None:
        return {}
    kept, now = KeptLogins(config.credentials.file), time.time()
    return {
        server.name: kept.known(place_of(server), now, unattended=server.auth.unattended)
        for server in config.servers
        if isinstance(server.auth, OAuthPlan)
    }


def _print(
    servers: tuple[ServerStatus, ...], registered: int, logins: Mapping[str, KnownLogin]
) -> None:
    import time

    from lockgate.cli.login_view import login_lines
    from lockgate.cli.mending import what_mends
    from lockgate.mcp.host.status import ServerState
    from lockgate.showing import visible

    if not servers:
        click.echo("No MCP servers are configured. Add one: lockgate mcp add, lockgate mcp import")
        return
    for status in servers:
        ready = status.state is ServerState.READY
        head = "ok" if ready else "FAILED"
        reason, *words = (status.reason or "").split("\n")
        what = (
            counted(len(status.tools), "tool")
            if ready
            else visible(reason.removeprefix(f"{status.name}: "))
        )
        times = f"{status.seconds:.1f} s"
        who = f", {visible(status.server)}" if status.server else ""
        spoken = f", MCP {status.revision}" if status.revision else ""
        spoken += f", {visible(status.transport)}" if "://" in status.transport else ""
        click.echo(f"{head:<8} {status.name}: {what} ({times}{who}{spoken})")
        if not ready:
            for line in words:
                click.echo(f"         | {visible(line)}")
            hint = what_mends(status, login=status.name in logins)
            if hint:
                click.echo(f"         {hint}")
        if (known := logins.get(status.name)) is not None:
            for line in login_lines(status.name, known, time.time()):
                click.echo(f"         login: {line}")
        for out in status.left_out:
            click.echo(f"         left out: {visible(out.tool)}: {visible(out.reason)}")
        if status.change is not None:
            click.echo(f"         {status.change}")
        for remark in status.remarks:
            click.echo(f"         note: {visible(remark)}")
    click.echo(f"{counted(registered, 'tool')} registered; see them with: lockgate tools")


def _data(status: ServerStatus) -> dict[str, Any]:
    return {
        "name": status.name,
        "state": status.state.value,
        "required": status.required,
        "transport": status.transport,
        "reason": status.reason,
        "seconds": round(status.seconds, 3),
        "secondsToConnect": status.seconds_to_connect,
        "revision": status.revision,
        "era": status.era,
        "server": status.server,
        "tools": list(status.tools),
        "leftOut": [{"tool": o.tool, "reason": o.reason} for o in status.left_out],
        "changed": list(status.changed),
        "remarks": list(status.remarks),
    }
