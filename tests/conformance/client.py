"""The client that the official conformance suite drives: lockgate's own client layer, told by the
scenario's name what a host would do with it.

    client.py URL

`MCP_CONFORMANCE_SCENARIO` names the scenario and `MCP_CONFORMANCE_CONTEXT` holds what it needs
(JSON). The revision is not looked at: lockgate finds out by itself what a server speaks. Exits with
0 where everything was done, else with 1 and the reason on standard error.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import sys
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeAlias, cast

from lockgate.errors import LockgateError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.mirroring import headers_of
from lockgate.mcp.client.prompts import PromptClient
from lockgate.mcp.client.resources import ResourceClient
from lockgate.mcp.client.services import Occasion, Root, Services
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.mcp.protocol.form import Kind
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.protocol.results import CallResult, ListedTool
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.mcp.transport.tokens import TokenSource
from lockgate.schema.validate import compile_schema

Context: TypeAlias = Mapping[str, Any]
Scenario: TypeAlias = Callable[[str, str, Context], Awaitable[None]]

IDENTITY = ClientIdentity("lockgate", "conformance")
PATIENCE = 100.0
"""Seconds for any answer: dozens of clients and servers run on one machine, and log in."""
TURNS = 4
"""Clients that run at once, where that is bounded."""
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
VALUES: Mapping[Kind, Any] = {
    Kind.TEXT: "text",
    Kind.NUMBER: 2.5,
    Kind.INTEGER: 3,
    Kind.SWITCH: True,
}
"""The same for the fields of a form."""


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
        values: dict[str, Any] = {}
        for field in () if asked.form is None else asked.form.fields:
            if field.has_default:
                values[field.name] = field.default
            elif field.required:
                values[field.name] = field.choices[0].value if field.choices else VALUES[field.kind]
        return ElicitAnswer(Action.ACCEPT, values)

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
    resources, prompts = ResourceClient(session), PromptClient(session)
    for resource in (await resources.list()).entries:
        await resources.read(resource.uri)
    for prompt in (await prompts.list()).entries:
        await prompts.get(prompt.name)


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


@contextmanager
def turn(folder: str | None, scenario: str) -> Generator[None, None, None]:
    """Wait until few others run: the suite starts all clients at the same moment, and some of its
    checks are of time. `folder` is where those who run are known; None: everybody runs."""
    if folder is None:
        yield
        return
    with (Path(folder) / f"turn-{zlib.crc32(scenario.encode()) % TURNS}").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


async def main(url: str, environ: Mapping[str, str]) -> None:
    """Run the scenario of the environment against `url`."""
    name = environ.get("MCP_CONFORMANCE_SCENARIO", "")
    context = cast("Context", json.loads(environ.get("MCP_CONFORMANCE_CONTEXT", "{}")))
    await SCENARIOS.get(name, call_everything)(url, name, context)


if __name__ == "__main__":
    try:
        told = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
        with turn(os.environ.get("LOCKGATE_CONFORMANCE_TURNS"), told):
            asyncio.run(main(sys.argv[-1], os.environ))
    except LockgateError as error:
        sys.exit(f"{type(error).__name__}: {error}")
