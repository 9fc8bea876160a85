"""`lockgate audit`: what was decided about every call, what came of it, and whether it is true."""

from __future__ import annotations

import datetime
import re
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from lockgate.cli.exit import Exit
from lockgate.cli.options import config_option, find_layers, json_option, print_json
from lockgate.cli.output import on_terminal
from lockgate.errors import ConfigError, ContractError, Problem
from lockgate.showing import visible, visible_json

FOLLOW_SECONDS: Final = 0.25
"""How often a log that is followed is looked at."""
_SECONDS: Final[Mapping[str, int]] = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@click.group("audit", no_args_is_help=True)
def audit_group() -> None:
    """The record of calls: look at it, search it, verify it."""


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which calls are wanted."""
    for option in reversed(
        (
            click.option("--tool", metavar="PATTERN", help="Of this tool; * stands for anything."),
            click.option(
                "--decision",
                type=click.Choice(["run", "refuse", "suspend"]),
                help="With this decision.",
            ),
            click.option("--kind", help="That ended so: outcome_unknown, denied, timeout ..."),
            click.option("--session", help="Of this session."),
            click.option(
                "--since",
                metavar="WHEN",
                help="Decided since then: 30m, 12h, 7d, 2026-05-04 or 2026-05-04T10:30.",
            ),
        )
    ):
        command = option(command)
    return command


@audit_group.command("tail")
@click.option(
    "-n",
    "lines",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="How many calls to show, the latest.",
)
@click.option("-f", "--follow", is_flag=True, help="Go on with what comes, until interrupted.")
@filter_options
@config_option
@json_option
def tail(
    lines: int, follow: bool, config: Path | None, as_json: bool, since: str | None, **wanted: Any
) -> int:
    """The latest calls: what was decided, by whose word, and what came of it.

    A call that was to run and has no outcome reads as outcome_unknown: its process ended in the
    middle of it, or is still at it. With --json each call is one line.

    \b
    Examples:
      lockgate audit tail
      lockgate audit tail -n 100 --decision refuse --since 7d
      lockgate audit tail -f --tool 'mcp__git__*'
      lockgate audit tail --kind outcome_unknown --json
    """
    from lockgate.cli.audit_view import HEAD, data, line, row
    from lockgate.cli.table import print_table
    from lockgate.stores.audit_follow import Follower
    from lockgate.stores.audit_index import find_calls
    from lockgate.stores.audit_reader import AuditedCall, Wanted

    directory = find_layers(config).state_dir / "audit"
    which = Wanted(since=_moment(since, time.time()), **wanted)
    with _readable(directory):
        follower = Follower(directory) if follow else None
        reading = find_calls(directory, which, lines)

    def tell(call: AuditedCall) -> None:
        if as_json:
            document = msgspec.json.encode(data(call, running=follow)).decode()
            click.echo(visible_json(document) if on_terminal() else document)
        else:
            click.echo(line(call))

    if as_json or follow:
        for call in reading.calls:
            tell(call)
    elif reading.calls:
        print_table(HEAD, [row(call) for call in reading.calls])
    else:
        click.echo("No calls.", err=True)
    for fault in reading.faults:
        click.echo(f"not read: {visible(fault)}", err=True)
    while follower is not None:
        with _readable(directory):
            news = list(follower.news())
        for call in news:
            if which.takes(call):
                tell(call)
        threading.Event().wait(FOLLOW_SECONDS)
    return Exit.DONE


@audit_group.command("show")
@click.argument("call")
@config_option
@json_option
def show(call: str, config: Path | None, as_json: bool) -> int:
    """Everything the record says of one call.

    CALL is its id, or how it begins. A call that waited for an answer has a decision for each
    time it was decided.

    \b
    Example:
      lockgate audit show 3f2a
    """
    from lockgate.cli.audit_view import data, details
    from lockgate.stores.audit_index import find_calls
    from lockgate.stores.audit_reader import Wanted, asked_in

    directory = find_layers(config).state_dir / "audit"
    with _readable(directory):
        found = find_calls(directory, Wanted(call=call)).calls
    ids = {each.decision.call for each in found}
    if call in ids:
        found = tuple(each for each in found if each.decision.call == call)
    elif len(ids) > 1:
        near = ", ".join(sorted(ids)[:5])
        raise click.UsageError(f"{len(ids)} calls begin with {call!r}: {near} ...")
    if not found:
        raise click.UsageError(f"No call {call!r} is on record here. See: lockgate audit tail")
    with _readable(directory):
        asked = [asked_in(each) for each in found]
    if as_json:
        print_json([data(each, asked=said) for each, said in zip(found, asked, strict=True)])
        return Exit.DONE
    for number, (each, said) in enumerate(zip(found, asked, strict=True)):
        if number:
            click.echo()
        for label, text in details(each, said):
            click.echo(f"{visible(label):<12}{visible(text)}".rstrip())
    return Exit.DONE


@audit_group.command("verify")
@click.option("--head", metavar="HEAD", help="The head that an earlier verify printed.")
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A copy of the record to look at, in place of this project's.",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The file of its key, in place of this project's.",
)
@config_option
@json_option
def verify(
    head: str | None,
    directory: Path | None,
    key: Path | None,
    config: Path | None,
    as_json: bool,
) -> int:
    """Whether the record is as it was written. The exit code is 4 if it is not.

    It finds lines that were altered, added, moved or removed, the end of a closed file cut off,
    and files that are gone. It prints the head of the list of files: note it somewhere else, and
    a later `verify --head` also finds the end of that list cut off. Nothing is found of what
    somebody did who can read the key.

    \b
    Examples:
      lockgate audit verify
      lockgate audit verify --head 12:9f3c...
    """
    from lockgate.stores.audit_verify import verify as verify_log
    from lockgate.stores.chain import parse_head
    from lockgate.stores.segments import segments_in

    state = find_layers(config).state_dir
    noted = None if head is None else parse_head(head)
    if head is not None and noted is None:
        raise click.UsageError("--head is a number, a colon and 32 hexadecimal digits")
    directory = directory or state / "audit"
    with _readable(key or state / "audit.key"):
        secret = _key(key or state / "audit.key")
    if secret is None:
        if next(segments_in(directory), None) is None and noted is None:
            secret = b"there is nothing to verify"
        else:
            path = key or state / "audit.key"
            where = visible(str(path))
            raise ContractError(f"the record can not be verified: its key, {where}, is missing")
    with _readable(directory):
        found = verify_log(directory, secret, noted)
    if as_json:
        print_json(
            {
                "holds": found.holds,
                "head": None if found.head is None else str(found.head),
                "faults": found.faults,
                "segments": [
                    {
                        "segment": report.segment,
                        "state": report.state.value,
                        "lines": report.lines,
                        "faults": report.faults,
                    }
                    for report in found.segments
                ],
            }
        )
        return Exit.DONE if found.holds else Exit.CONTRACT
    for report in found.segments:
        count = f"{report.lines} line{'' if report.lines == 1 else 's'}"
        click.echo(f"{report.segment}: {report.state.value}, {count}")
        for fault in report.faults:
            click.echo(f"  {fault}")
    for fault in found.faults:
        click.echo(f"list of files: {fault}")
    if found.head is not None:
        click.echo(f"head: {found.head}")
    if found.holds:
        click.echo("The record holds." if found.segments else "There is no record yet.")
        return Exit.DONE
    click.echo("The record is not as it was written.", err=True)
    return Exit.CONTRACT


@contextmanager
def _readable(path: Path) -> Generator[None]:
    """What can not be read ends the command in words."""
    try:
        yield
    except OSError as error:
        what = f"can not be read: {error.strerror or type(error).__name__}"
        raise ConfigError(Problem(what, file=path)) from error


def _key(path: Path) -> bytes | None:
    """The key in that file; None where there is none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    if not 16 <= len(data) <= 64:
        raise click.UsageError(f"{visible(str(path))} holds no key")
    return data


def _moment(text: str | None, now: float) -> float | None:
    """Unix time of `--since`. Raises `click.UsageError`."""
    if text is None:
        return None
    match = re.fullmatch(r"([0-9]{1,9})([smhd])", text)
    if match:
        return now - int(match[1]) * _SECONDS[match[2]]
    try:
        return datetime.datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise click.UsageError(
            "--since is how long ago (30m, 12h, 7d) or a date (2026-05-04, 2026-05-04T10:30)"
        ) from None
