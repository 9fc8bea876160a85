"""The client that the official conformance suite drives: lockgate's own client layer, told by the
scenario's name what a host would do with it.

    client.py URL

`MCP_CONFORMANCE_SCENARIO` names the scenario and `MCP_CONFORMANCE_CONTEXT` holds what it needs
(JSON). The revision is not looked at: lockgate finds out by itself what a server speaks. Exits with
0 where everything was done, else with 1 and the reason on standard error.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, cast

from lockgate.errors import LockgateError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.mirroring import headers_of
from lockgate.mcp.client.services import Occasion, Root, Services
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.protocol.results import CallResult, ListedTool
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.mcp.transport.tokens import TokenSource
from lockgate.schema.validate import compile_schema

Context: TypeAlias = Mapping[str, Any]
Scenario: TypeAlias = Callable[[str, str, Context], Awaitable[None]]

IDENTITY = ClientIdentity("lockgate", "conformance")
PATIENCE = 100.0
"""Seconds for any answer: dozens of clients and servers start at the same moment, and log in."""
SAMPLES: Mapping[str, Any] = {
    "string": "text",
    "integer": 3,
    "number": 2.5,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}
"""A value of each type, for arguments that nobody chose."""


class Person:
    """Answers what servers ask, as someone would who leaves every field as it is shown."""

    def __init__(self) -> None:
        self.session: ServerSession | None = None
        self.meanwhile: str | None = None
        """A tool to be called while a question is open."""

    async def elicit(self, asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        """Accept, with the defaults of the form."""
        if self.session is not None and self.meanwhile is not None:
            name, self.meanwhile = self.meanwhile, None
            await ToolClient(self.session).call(name, {})
        fields: Mapping[str, Any] = (asked.schema or {}).get("properties", {})
        return ElicitAnswer(Action.ACCEPT, {name: filled(held) for name, held in fields.items()})

    async def sample(self, params: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
        """Complete anything with one word."""
        content = {"type": "text", "text": "word"}
        return {"role": "assistant", "content": content, "model": "none"}

    async def roots(self, occasion: Occasion) -> Sequence[Root]:
        """One directory."""
        return (Root("file:///tmp", "tmp"),)

    @property
    def services(self) -> Services:
        """Everything that a server may ask."""
        return Services(elicit=self.elicit, sample=self.sample, roots=self.roots)


def filled(schema: Mapping[str, Any]) -> Any:
    """A value that fits a simple schema: its default, one of its values, or any of its type."""
    if "default" in schema:
        return schema["default"]
    choices = schema.get("enum")
    if choices:
        return choices[0]
    return SAMPLES.get(str(schema.get("type")), "text")


def arguments_of(tool: ListedTool) -> dict[str, Any]:
    """Something for every argument that a tool has to be given."""
    fields: Mapping[str, Any] = tool.input_schema.get("properties", {})
    return {name: filled(fields.get(name, {})) for name in tool.input_schema.get("required", ())}


@asynccontextmanager
async def session_with(
    url: str, person: Person | None = None, tokens: TokenSource | None = None
) -> AsyncGenerator[ServerSession, None]:
    """A session with the server; closed afterwards."""
    person = person or Person()
    transport = StreamableHttpTransport(HttpEndpoint(url), peer="suite", environ={}, tokens=tokens)
    services = person.services
    session = await connect(
        transport,
        peer="suite",
        client=IDENTITY,
        services=services,
        request_timeout=PATIENCE,
        probe_patience=PATIENCE,
    )
    person.session = session
    try:
        yield session
    finally:
        await session.close()


async def tools_of(session: ServerSession) -> tuple[ListedTool, ...]:
    """The usable tools, their schemas compiled as a host does it."""
    listed = await ToolClient(session).list()
    for tool in listed.tools:
        compile_schema(tool.input_schema)
    return listed.tools


async def call(
    session: ServerSession, tool: ListedTool, arguments: Mapping[str, Any]
) -> CallResult:
    """Call one."""
    headers = headers_of(session, tool)
    return await ToolClient(session).call(tool.name, arguments, headers=headers)


async def call_everything(url: str, scenario: str, context: Context) -> None:
    """List the tools and call each of them; the calls of the context, where it has some."""
    tokens = None
    if scenario.startswith("auth/"):
        from authorizing import tokens_for  # late: the SDK behind it takes a second to import

        tokens = tokens_for(url, scenario, context)
    async with session_with(url, tokens=tokens) as session:
        tools = {tool.name: tool for tool in await tools_of(session)}
        calls = cast("list[dict[str, Any]]", context.get("toolCalls", []))
        for wanted in calls:
            await call(session, tools[wanted["name"]], wanted["arguments"])
        if not calls:
            for tool in tools.values():
                await call(session, tool, arguments_of(tool))


async def list_only(url: str, scenario: str, context: Context) -> None:
    """List the tools, with what a host does about their schemas; the server can do no more."""
    async with session_with(url) as session:
        await tools_of(session)


async def use_every_method(url: str, scenario: str, context: Context) -> None:
    """Make one request of each kind."""
    async with session_with(url) as session:
        for tool in await tools_of(session):
            await call(session, tool, arguments_of(tool))
        await read_everything(session)


async def read_everything(session: ServerSession) -> None:
    """Read every resource, and get every prompt."""
    connection = session.connection
    dialect = connection.dialect
    for kind, get, key in (
        ("resources", "resources/read", "uri"),
        ("prompts", "prompts/get", "name"),
    ):
        listed = json.loads(bytes(await connection.request(f"{kind}/list")))
        for entry in listed[kind]:
            name = str(entry[key])

            def made(id: int, get: str = get, key: str = key, name: str = name) -> Any:
                return dialect.request(id, get, {key: name}, name=name)

            await connection.ask(made)


async def echo_schema(url: str, scenario: str, context: Context) -> None:
    """Send a schema back as it was listed."""
    async with session_with(url) as session:
        tools = {tool.name: tool for tool in await tools_of(session)}
        seen = tools["json_schema_2020_12_tool"].input_schema
        await call(session, tools["json_schema_echo"], {"schema": seen})


async def answer_questions(url: str, scenario: str, context: Context) -> None:
    """Call what asks for input first, and something else while the first question is open."""
    person = Person()
    async with session_with(url, person) as session:
        for tool in await tools_of(session):
            if tool.name == "test_mrtr_echo_state":
                person.meanwhile = "test_mrtr_unrelated"
            await call(session, tool, arguments_of(tool))


SCENARIOS: Mapping[str, Scenario] = {
    "json-schema-ref-no-deref": list_only,
    "request-metadata": list_only,
    "initialize": list_only,
    "http-standard-headers": use_every_method,
    "json-schema-2020-12-preservation": echo_schema,
    "sep-2322-client-request-state": answer_questions,
}
"""Those that need more than calling every tool."""


async def main(url: str, environ: Mapping[str, str]) -> None:
    """Run the scenario of the environment against `url`."""
    name = environ.get("MCP_CONFORMANCE_SCENARIO", "")
    context = cast("Context", json.loads(environ.get("MCP_CONFORMANCE_CONTEXT", "{}")))
    await SCENARIOS.get(name, call_everything)(url, name, context)


if __name__ == "__main__":
    try:
        asyncio.run(main(sys.argv[-1], os.environ))
    except LockgateError as error:
        sys.exit(f"{type(error).__name__}: {error}")
