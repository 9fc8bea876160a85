"""One server, as lockgate sees it and as the official SDK's client does."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp_types import CallToolResult
from pydantic import ValidationError

from lockgate.cli.results import result_data
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import HttpEndpoint, SseEndpoint, StdioEndpoint
from lockgate.mcp.protocol.eras import Era
from lockgate.testing.fleet import Fleet
from lockgate.tools.result import ErrorKind

Endpoint: TypeAlias = StdioEndpoint | HttpEndpoint | SseEndpoint
Call: TypeAlias = tuple[str, Mapping[str, Any]]
"""A tool's original name and the arguments."""
MODE = {Era.LEGACY: "legacy", Era.MODERN: "auto"}


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything a client saw of a server, in JSON's forms."""

    revision: str
    name: str | None
    version: str | None
    instructions: str | None
    tools: Sequence[Any]
    """The definitions, as they came."""
    answers: Sequence[Any]
    """For each call `isError`, `content` and `structured`, or `error` for one that has none."""


async def by_lockgate(endpoint: Endpoint, era: Era, calls: Sequence[Call], home: Path) -> Seen:
    """Listed by the client, called down the whole road: rules, schema, gate and records."""
    answers: list[Any] = []
    async with Fleet(home) as fleet:
        fleet.add("oracle", endpoint, request_timeout=30)
        report = await fleet.start(eras={"oracle": era})
        assert report.failed == (), report.errors
        assert fleet.manager is not None
        session = fleet.manager.offerings("oracle").session
        assert report.servers[0].era == session.revision.era.value
        listed = await ToolClient(session).list()
        assert listed.left_out == ()
        for name, arguments in calls:
            result = await fleet.call(f"mcp__oracle__{name}", **arguments)
            data = result_data(result)
            if result.kind not in (None, ErrorKind.TOOL_ERROR):
                answers.append({"error": result.kind})
                continue
            shown = {"isError": data["isError"], "content": data["content"]}
            answers.append({**shown, "structured": data.get("structured")})
    profile = session.profile
    return Seen(
        revision=session.revision.name,
        name=profile.name,
        version=profile.version,
        instructions=profile.instructions,
        tools=[tool.raw for tool in listed.tools],
        answers=answers,
    )


async def by_sdk(endpoint: Endpoint, era: Era, calls: Sequence[Call]) -> Seen:
    """The same by the official client."""
    answers: list[Any] = []
    async with _official(endpoint, era) as client:
        tools: list[Any] = []
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            tools += [_plain(tool) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
        for name, arguments in calls:
            try:
                result = await client.call_tool(name, dict(arguments))
            except MCPError as error:
                answers.append({"error": error.code})
                continue
            except ValidationError:
                answers.append({"error": "not valid"})
                continue
            assert isinstance(result, CallToolResult)
            content = [_plain(block) for block in result.content]
            answers.append(
                {
                    "isError": bool(result.is_error),
                    "content": content,
                    "structured": result.structured_content,
                }
            )
        who = client.server_info
        return Seen(
            revision=client.protocol_version,
            name=None if who is None else who.name,
            version=None if who is None else who.version,
            instructions=client.instructions,
            tools=tools,
            answers=answers,
        )


def _plain(model: Any) -> Any:
    return json.loads(model.model_dump_json(by_alias=True, exclude_unset=True))


@asynccontextmanager
async def _official(endpoint: Endpoint, era: Era) -> AsyncGenerator[Client, None]:
    mode = MODE[era]
    if isinstance(endpoint, StdioEndpoint):
        program = StdioServerParameters(
            command=endpoint.command, args=list(endpoint.args), env={**os.environ, **endpoint.env}
        )
        with _nowhere() as nowhere:
            async with Client(stdio_client(program, errlog=nowhere), mode=mode) as client:
                yield client
    else:
        url = endpoint.url
        server = sse_client(url) if isinstance(endpoint, SseEndpoint) else url
        async with Client(server, mode=mode) as client:
            yield client


def _nowhere() -> TextIO:
    """Where the standard error of the official client's programs goes."""
    return Path(os.devnull).open("w")
