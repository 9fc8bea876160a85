"""The contents of a resource in print, in a file, or for programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final, TypeAlias

import click

from lockgate.cli.exit import Exit
from lockgate.cli.offered import known, write_new
from lockgate.cli.options import print_json
from lockgate.cli.output import INSIDE, echo_text, on_terminal
from lockgate.content import EmbeddedResource, UnknownContent
from lockgate.mcp.protocol.resources import ReadResult
from lockgate.showing import visible

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of one content that are written."""
_NOTED: Final = 5

One: TypeAlias = EmbeddedResource | UnknownContent


def show(
    result: ReadResult,
    server: str,
    uri: str,
    *,
    output: Path | None,
    number: int | None,
    as_json: bool,
) -> int:
    """Print it, or write it to `output`; with a `number`, only that content. Returns the exit code.

    Raises `click.UsageError` for a number that there is none of, several contents for one file, and
    a file that is there already.
    """
    for remark in result.remarks[:_NOTED]:
        click.echo(f"note: {visible(remark)}", err=True)
    contents = result.contents
    if number is not None:
        if number > len(contents):
            raise click.UsageError(f"there is no content {number}: it has {len(contents)}")
        contents = (contents[number - 1],)
    if as_json and output is None:
        data = [_data(one) for one in contents]
        print_json({"server": server, "uri": uri, "contents": data})
        return Exit.DONE
    if not contents:
        click.echo(f"{server} answered without any content", err=True)
        return Exit.FAILED
    if output is not None:
        return _written(contents, output)
    return _printed(contents)


def _written(contents: tuple[One, ...], output: Path) -> int:
    if len(contents) != 1:
        told = "; ".join(f"{n}: {_about(one)}" for n, one in enumerate(contents[:20], 1))
        raise click.UsageError(f"it has {len(contents)} contents, say which: --content N ({told})")
    one = contents[0]
    if not isinstance(one, EmbeddedResource):
        click.echo(f"error: {_about(one)}: nothing was written", err=True)
        return Exit.FAILED
    data = one.decoded(LARGEST)
    write_new(output, data)
    click.echo(f"{len(data):,} bytes in {visible(str(output))}", err=True)
    return Exit.DONE


def _printed(contents: tuple[One, ...]) -> int:
    code = Exit.DONE
    for number, one in enumerate(contents, 1):
        if len(contents) > 1:
            click.echo(f"-- {number}: {_about(one)}", err=True)
        if not isinstance(one, EmbeddedResource):
            click.echo(f"error: {_about(one)}: it can not be read", err=True)
            code = Exit.FAILED
        elif one.text is not None:
            # Into a pipe the headings do not go.
            echo_text(one.text, under=INSIDE if len(contents) > 1 and on_terminal() else "")
        elif on_terminal() or len(contents) > 1:
            why = "it is not text: write it with --output FILE"
            which = f" --content {number}" if len(contents) > 1 else ""
            click.echo(f"error: {_about(one)}: {why}{which}", err=True)
            code = Exit.FAILED
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(one.decoded(LARGEST))
            sys.stdout.buffer.flush()
    return code


def _about(one: One) -> str:
    """Its URI, type and size on one line."""
    if isinstance(one, EmbeddedResource) and one.text is not None:
        kind = f"{visible(one.mime_type)[:100]}, " if one.mime_type else ""
        return f"{visible(one.uri)[:200]} ({kind}{len(one.text):,} characters)"
    return visible(one.as_text())


def _data(one: One) -> dict[str, Any]:
    if not isinstance(one, EmbeddedResource):
        return {"unreadable": one.raw}
    held = {"text": one.text} if one.text is not None else {"blob": one.blob}
    more = {"mimeType": one.mime_type, "annotations": one.annotations, "_meta": one.meta}
    return {"uri": one.uri, **held, **known(more)}
