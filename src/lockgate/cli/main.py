"""The `lockgate` program: finds the command, runs it, and turns errors into exit codes.

A command's module is imported when it is needed, so that `lockgate --help` stays quick.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Mapping
from io import TextIOWrapper
from pathlib import Path

import click

from lockgate.cli.options import config_option
from lockgate.errors import LockgateError
from lockgate.showing import visible, visible_error
from lockgate.version import VERSION


def _run() -> click.Command:
    from lockgate.cli.run import run

    return run


def _tools() -> click.Command:
    from lockgate.cli.tools import tools

    return tools


def _call() -> click.Command:
    from lockgate.cli.call import call

    return call


def _explain() -> click.Command:
    from lockgate.cli.explain import explain

    return explain


def _doctor() -> click.Command:
    from lockgate.cli.doctor import doctor

    return doctor


def _check() -> click.Command:
    from lockgate.cli.check import check

    return check


def _approvals() -> click.Command:
    from lockgate.cli.approvals import approvals_group

    return approvals_group


def _sessions() -> click.Command:
    from lockgate.cli.sessions import sessions_group

    return sessions_group


def _skills() -> click.Command:
    from lockgate.cli.skills import skills_group

    return skills_group


def _grants() -> click.Command:
    from lockgate.cli.grants import grants_group

    return grants_group


def _pins() -> click.Command:
    from lockgate.cli.pins import pins_group

    return pins_group


def _review() -> click.Command:
    from lockgate.cli.review import review

    return review


def _mcp() -> click.Command:
    from lockgate.cli.mcp import mcp_group

    return mcp_group


def _resources() -> click.Command:
    from lockgate.cli.resources import resources_group

    return resources_group


def _prompts() -> click.Command:
    from lockgate.cli.prompts import prompts_group

    return prompts_group


def _audit() -> click.Command:
    from lockgate.cli.audit import audit_group

    return audit_group


def _config() -> click.Command:
    from lockgate.cli.config import config_group

    return config_group


_COMMANDS: Mapping[str, tuple[str, Callable[[], click.Command]]] = {
    "run": ("One turn of an agent, or a conversation.", _run),
    "sessions": ("Sessions that are kept: list, show, remove.", _sessions),
    "skills": ("Skills that the configuration names: list them, show one.", _skills),
    "tools": ("Every tool: what it may do, and what would happen now.", _tools),
    "call": ("One governed call.", _call),
    "explain": ("What would happen to a call, and why. Runs nothing.", _explain),
    "check": ("Look over the configuration without starting anything.", _check),
    "doctor": ("Start every server and say what is wrong and how to mend it.", _doctor),
    "review": ("A server's tools one by one: what you accept is written and pinned.", _review),
    "pins": ("Reviewed definitions: show them, see what changed, accept it.", _pins),
    "approvals": ("Calls that wait for an answer: list, show, answer.", _approvals),
    "grants": ("Answers that are remembered: list them, take them back.", _grants),
    "audit": ("The record of calls: look at it, search it, verify it.", _audit),
    "mcp": ("Add, list, import and remove MCP servers; log in to them.", _mcp),
    "resources": ("What servers offer to be read: list it, read it.", _resources),
    "prompts": ("Prompts that servers have prepared: list them, get one.", _prompts),
    "config": ("Accept a project's configuration.", _config),
}


class _Commands(click.Group):
    """A group that imports a command when it is asked for, and lists them without importing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = _COMMANDS.get(cmd_name)
        return entry[1]() if entry else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command when there is none of that name."""
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], _COMMANDS, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"No command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (text, _) in _COMMANDS.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
First steps:
  lockgate mcp import             take over servers that other programs have
  lockgate tools                  see every tool and what would happen to it
  lockgate explain TOOL key=value see exactly why
\b
Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 refused or waiting
for an answer, 4 a contract does not hold, 5 something needed was not reached,
130 interrupted.""",
)
@click.version_option(VERSION)
@config_option
def cli(config: Path | None) -> None:
    """One gate for every tool an agent can call: local tools and those of any MCP server."""


def main(argv: list[str] | None = None, program: click.Command = cli) -> int:
    """Run the program and return its exit code (`cli.exit.Exit`)."""
    from lockgate.cli.exit import Exit
    from lockgate.cli.streams import give_up_output, open_streams

    open_streams()
    streams = (sys.stdout, sys.stderr)
    for stream in streams:
        # Whatever the locale says: a check mark in a description must not end the program.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        return _code_of(argv, program)
    except (BrokenPipeError, SystemExit) as error:
        # The reader of our output went away: end quietly, with the code that other programs have.
        # click makes an exit of its own of that, and wraps the streams.
        if isinstance(error, SystemExit) and (sys.stdout, sys.stderr) == streams:
            raise
        sys.stdout, sys.stderr = streams
        give_up_output()
        return 128 + signal.SIGPIPE
    except OSError as error:
        if os.environ.get("LOCKGATE_TRACEBACK"):
            raise
        give_up_output()
        where = f"{visible(str(error.filename))}: " if error.filename is not None else ""
        with contextlib.suppress(OSError):  # standard error may be what is full
            click.echo(f"error: {where}{error.strerror or type(error).__name__}", err=True)
        give_up_output()
        return Exit.FAILED


def _code_of(argv: list[str] | None, program: click.Command) -> int:
    """Run it; what went wrong in words. Raises OSError, above all for output that fails."""
    from lockgate.cli.exit import Exit, of_error

    try:
        code = program.main(args=argv, prog_name="lockgate", standalone_mode=False)
        sys.stdout.flush()
        return int(code) if isinstance(code, int) else Exit.DONE
    except click.exceptions.Abort:
        return Exit.INTERRUPTED
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return Exit.USAGE
    except LockgateError as error:
        click.echo(f"error: {visible_error(error)}", err=True)
        return of_error(error)
    except OSError:
        raise
    except Exception as error:  # the last line: a fault of ours ends in words
        if os.environ.get("LOCKGATE_TRACEBACK"):
            raise
        # Its text may hold an argument or a secret, so it is shown to those who ask for it.
        kind = type(error).__name__
        click.echo(
            f"internal error: {kind}. This is a fault of lockgate, please tell us.", err=True
        )
        click.echo("Set LOCKGATE_TRACEBACK=1 to see where it happened.", err=True)
        return Exit.FAILED
