"""`lockgate resources`: what servers offer to be read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockgate.cli.options import config_option, json_option

if TYPE_CHECKING:
    from lockgate.mcp.host.resources import Resource, ResourceTemplate


@click.group("resources", no_args_is_help=True)
def resources_group() -> None:
    """List and read what MCP servers offer beside their tools.

    A resource is named by its server and its URI; a template stands for many. Only the servers
    that are needed are started. Reading is your own doing here: no rule is asked. For agents there
    are the tools ListResources and ReadResource, under `builtin`.

    \b
    Examples:
      lockgate resources list
      lockgate resources templates docs
      lockgate resources read docs file:///guide.md
      lockgate resources read docs 'file:///{name}' name=guide.md
    """


@resources_group.command("list")
@click.argument("server", required=False)
@config_option
@json_option
def list_resources(server: str | None, config: Path | None, as_json: bool) -> int:
    """List the resources of SERVER, or of all servers.

    TYPE, SIZE and NAME are what the server says.

    \b
    Examples:
      lockgate resources list
      lockgate resources list docs --json | jq -r '.resources[].uri'
    \b
    Exit codes: 0 done, also if one of all servers failed, which is said; 1 SERVER
    did not list, 2 no such server, 5 SERVER can not be reached.
    """
    from lockgate.cli.opening import run_async

    async def work() -> int:
        from lockgate.cli.offered import listing

        return await listing(
            lambda gate: gate.resources.list(server),
            of=server,
            config=config,
            what="resources",
            key="resources",
            data=lambda one: _data(one, uri=one.uri, size=one.size),
            show=_print_resources,
            as_json=as_json,
        )

    return run_async(work)


@resources_group.command("templates")
@click.argument("server", required=False)
@config_option
@json_option
def templates(server: str | None, config: Path | None, as_json: bool) -> int:
    """List the resource templates of SERVER, or of all servers.

    What is in braces has to be given to read one: NAME=VALUE.

    \b
    Example:
      lockgate resources templates docs
    \b
    Exit codes: as of lockgate resources list.
    """
    from lockgate.cli.opening import run_async

    async def work() -> int:
        from lockgate.cli.offered import listing

        return await listing(
            lambda gate: gate.resources.templates(server),
            of=server,
            config=config,
            what="resource templates",
            key="templates",
            data=lambda one: _data(one, uriTemplate=one.template, variables=[*one.variables]),
            show=_print_templates,
            as_json=as_json,
        )

    return run_async(work)


@resources_group.command("read")
@click.argument("server")
@click.argument("uri")
@click.argument("values", nargs=-1)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the content to FILE, which must not be there yet.",
)
@click.option(
    "--content",
    "number",
    type=click.IntRange(min=1),
    help="Of several contents only this one, counted from 1.",
)
@click.option(
    "--complete",
    metavar="NAME",
    help="Read nothing: print what the server suggests for NAME of a template.",
)
@config_option
@json_option
def read(
    server: str,
    uri: str,
    values: tuple[str, ...],
    output: Path | None,
    number: int | None,
    complete: str | None,
    config: Path | None,
    as_json: bool,
) -> int:
    """Read the resource URI of SERVER; it need not be listed.

    URI can be a template, then VALUES are its NAME=VALUE. Text is printed. What is not text goes
    into a file or a pipe; on a terminal its type and size are told.

    \b
    Examples:
      lockgate resources read docs file:///guide.md
      lockgate resources read docs 'file:///{name}' name=guide.md
      lockgate resources read docs 'file:///{name}' name=gu --complete name
      lockgate resources read docs file:///logo.png --output logo.png
    \b
    Exit codes: 0 done, 1 the server failed, or what came can not be printed,
    2 no such server, resource or value, 5 SERVER can not be reached.
    """
    from lockgate.cli.opening import run_async

    async def work() -> int:
        from lockgate.cli.arguments import whole_words
        from lockgate.cli.contents import show
        from lockgate.cli.offered import asked, ending, must_be_new, print_suggestions, values_of
        from lockgate.errors import PeerError

        whole_words(server, uri, *values)
        given = values_of(values)
        target = _target(uri, given, complete)
        if output is not None:
            must_be_new(output)  # before a server is started
        try:
            async with asked(config, server) as gate:
                if complete is not None:
                    typed = given.pop(complete, "")
                    suggested = await gate.resources.complete(server, uri, complete, typed, given)
                    return print_suggestions(suggested, as_json=as_json)
                result = await gate.resources.read(server, target)
        except PeerError as error:
            return ending(error)
        return show(result, server, target, output=output, number=number, as_json=as_json)

    return run_async(work)


def _target(uri: str, given: dict[str, str], complete: str | None) -> str:
    """The URI to be read; what is wrong with a template and its values is said before anything is
    started."""
    from lockgate.cli.offered import no_value
    from lockgate.mcp.protocol.uri_templates import BadTemplate, BadValue, UriTemplate

    if "{" not in uri and not given and complete is None:
        return uri
    try:
        template = UriTemplate.parse(uri)
        for name in (*given, *(() if complete is None else (complete,))):
            if name not in template.names:
                raise no_value(name, template.names)
        if complete is not None:
            return uri
        missing = [name for name in template.required if name not in given]
        if missing:
            hint = " ".join(f"{name}=..." for name in missing)
            raise click.UsageError(f"the template needs values: {hint}")
        return template.expand(given)
    except (BadTemplate, BadValue) as problem:
        raise click.UsageError(f"the URI can not be made: {problem}") from None


def _data(one: Resource | ResourceTemplate, **own: object) -> dict[str, object]:
    """One of them for programs; `own` is what the others do not have."""
    from lockgate.cli.offered import known

    more = {
        "title": one.title,
        "description": one.description,
        "mimeType": one.mime_type,
        "annotations": one.annotations,
    }
    return {"server": one.server, **known(own), "name": one.name, **known(more)}


def _print_resources(found: Sequence[Resource]) -> None:
    from lockgate.cli.table import print_table

    rows = [
        (
            one.uri,
            one.server,
            _cut(one.mime_type or "-"),
            "-" if one.size is None else f"{one.size:,}",
            _cut(one.title or one.name),
        )
        for one in found
    ]
    print_table(("URI", "SERVER", "TYPE", "SIZE", "NAME"), rows)


def _print_templates(found: Sequence[ResourceTemplate]) -> None:
    from lockgate.cli.table import print_table

    rows = [
        (one.template, one.server, _cut(one.mime_type or "-"), _cut(one.title or one.name))
        for one in found
    ]
    print_table(("TEMPLATE", "SERVER", "TYPE", "NAME"), rows)


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
