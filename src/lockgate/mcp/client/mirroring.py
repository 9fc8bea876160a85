"""Arguments that go into headers too, where the server gets to see them (`x-mcp-header`).

2026-07-28, basic/transports/streamable-http, Custom Headers from Tool Parameters: over HTTP a tool
whose annotations break the rules is not used; over other transports nobody looks at them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockgate.mcp.client.making import Unwritable
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.param_headers import (
    BrokenAnnotation,
    ParamHeaders,
    Unmirrored,
    read_param_headers,
)
from lockgate.mcp.protocol.results import LeftOut, ListedTool

NOTHING = ParamHeaders()


def usable(
    session: ServerSession, tools: Sequence[ListedTool]
) -> tuple[tuple[ListedTool, ...], tuple[LeftOut, ...]]:
    """The tools that can be called over this session, and those that can not, with the reason."""
    if not session.mirrors:
        return tuple(tools), ()
    kept: list[ListedTool] = []
    left_out: list[LeftOut] = []
    for tool in tools:
        try:
            read_param_headers(tool.input_schema)
        except BrokenAnnotation as broken:
            left_out.append(LeftOut(tool.name, str(broken)))
        else:
            kept.append(tool)
    return tuple(kept), tuple(left_out)


def headers_of(session: ServerSession, tool: ListedTool) -> ParamHeaders:
    """What of the arguments of a tool goes into headers; nothing where nobody would see it.

    Raises `BrokenAnnotation` for a tool that `usable` leaves out.
    """
    return read_param_headers(tool.input_schema) if session.mirrors else NOTHING


def mirrored(headers: ParamHeaders, arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The headers of one call. Raises `Unwritable` for an argument that can not go into one."""
    try:
        return headers.of(arguments)
    except Unmirrored as error:
        raise Unwritable(f"the argument {error}") from None
