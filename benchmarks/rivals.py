"""Other clients of MCP, each opened as its own documentation has it, in an environment of its own.

A call is the rival's bare one: nothing is decided, asked or recorded. Where a rival has a way to
start many servers together, that is used; the others are given a task for each server, which is
more than their documentation does.
"""

# pyright: basic, reportMissingImports=false
# They are installed in environments of their own, where no type checker looks.

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from contenders import ARGUMENTS, PATIENCE, TOOL, Call, Open
from echo import Era, Server

ROOT = Path(__file__).parents[1]


@asynccontextmanager
async def together(
    contexts: Sequence[AbstractAsyncContextManager[Any]],
) -> AsyncGenerator[list[Any]]:
    """Enter many contexts at once, each in a task of its own, where it is left too."""
    leave = asyncio.Event()

    async def hold(context: AbstractAsyncContextManager[Any], entered: asyncio.Future[Any]) -> None:
        try:
            async with context as value:
                entered.set_result(value)
                await leave.wait()
        except BaseException as error:
            if not entered.done():
                entered.set_exception(error)
            raise

    loop = asyncio.get_running_loop()
    values = [loop.create_future() for _ in contexts]
    tasks = [loop.create_task(hold(*pair)) for pair in zip(contexts, values, strict=True)]
    try:
        yield await asyncio.gather(*values)
    finally:
        leave.set()
        await asyncio.gather(*tasks)


@asynccontextmanager
async def sdk(servers: Sequence[Server], era: Era) -> AsyncGenerator[Call]:
    """The official SDK's client."""
    from mcp import Client, StdioServerParameters

    @asynccontextmanager
    async def one(server: Server) -> AsyncGenerator[Client]:
        source = server
        if not isinstance(source, str):
            source = StdioServerParameters(command=source[0], args=list(source[1:]))
        async with Client(source) as client:
            await client.list_tools()
            yield client

    async with together([one(server) for server in servers]) as clients:
        client = clients[0]

        async def call() -> str:
            return (await client.call_tool(TOOL, ARGUMENTS)).content[0].text

        yield call


def _fastmcp_source(server: Server) -> Any:
    from fastmcp.client.transports import StdioTransport

    return server if isinstance(server, str) else StdioTransport(server[0], list(server[1:]))


@asynccontextmanager
async def fastmcp(servers: Sequence[Server], era: Era) -> AsyncGenerator[Call]:
    """Its client."""
    from fastmcp import Client

    @asynccontextmanager
    async def one(server: Server) -> AsyncGenerator[Client]:
        async with Client(_fastmcp_source(server)) as client:
            await client.list_tools()
            yield client

    async with together([one(server) for server in servers]) as clients:
        client = clients[0]

        async def call() -> str:
            return (await client.call_tool(TOOL, ARGUMENTS)).content[0].text

        yield call


@asynccontextmanager
async def pydantic_ai(servers: Sequence[Server], era: Era) -> AsyncGenerator[Call]:
    """Its toolset's direct call, without a model's run around it."""
    from pydantic_ai.mcp import MCPToolset

    @asynccontextmanager
    async def one(server: Server) -> AsyncGenerator[MCPToolset]:
        async with MCPToolset(_fastmcp_source(server)) as toolset:
            await toolset.list_tools()
            yield toolset

    async with together([one(server) for server in servers]) as toolsets:
        toolset = toolsets[0]

        async def call() -> str:
            return await toolset.direct_call_tool(TOOL, ARGUMENTS)

        yield call


@asynccontextmanager
async def openai_agents(servers: Sequence[Server], era: Era) -> AsyncGenerator[Call]:
    """Its server's call, without a run around it."""
    from agents.mcp import MCPServerManager, MCPServerStdio, MCPServerStreamableHttp

    def one(server: Server) -> MCPServerStdio | MCPServerStreamableHttp:
        options: dict[str, Any] = {
            "cache_tools_list": True,
            "client_session_timeout_seconds": PATIENCE,
        }
        if isinstance(server, str):
            return MCPServerStreamableHttp({"url": server, "timeout": PATIENCE}, **options)
        return MCPServerStdio({"command": server[0], "args": list(server[1:])}, **options)

    made = [one(server) for server in servers]
    async with MCPServerManager(made, connect_in_parallel=True, strict=True):
        await asyncio.gather(*(server.list_tools() for server in made))
        server = made[0]

        async def call() -> str:
            return (await server.call_tool(TOOL, ARGUMENTS)).content[0].text

        yield call


@asynccontextmanager
async def langchain(servers: Sequence[Server], era: Era) -> AsyncGenerator[Call]:
    """The tool that it makes of one, over a session that is kept; its default is one a call."""
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools

    def connection(server: Server) -> dict[str, Any]:
        if isinstance(server, str):
            return {"transport": "streamable_http", "url": server}
        return {"transport": "stdio", "command": server[0], "args": list(server[1:])}

    named = {str(number): connection(server) for number, server in enumerate(servers)}
    client = MultiServerMCPClient(named)

    @asynccontextmanager
    async def one(name: str) -> AsyncGenerator[Any]:
        async with client.session(name) as session:
            yield await load_mcp_tools(session)

    async with together([one(name) for name in named]) as listed:
        tool = listed[0][0]

        async def call() -> str:
            content = await tool.ainvoke(ARGUMENTS)
            return content if isinstance(content, str) else content[0]["text"]

        yield call


@dataclass(frozen=True, slots=True)
class Rival:
    """One of them."""

    package: str
    """Its distribution; `.benchmarks/<package>` is its environment."""
    imports: str
    """What a program that uses it imports."""
    open: Open
    eras: tuple[Era, ...] = ("legacy", "modern")

    def python(self) -> str | None:
        """The interpreter that has it; None if `benchmarks/setup` has not made its environment."""
        environment = ROOT / ".benchmarks" / self.package
        if (environment / "built-from").is_file():
            return str(environment / "bin" / "python")
        # The suite has the SDK, as its oracle.
        return sys.executable if self.package == "mcp" and find_spec("mcp") else None


RIVALS: Mapping[str, Rival] = {
    "mcp SDK": Rival("mcp", "from mcp import Client", sdk),
    "fastmcp": Rival("fastmcp", "from fastmcp import Client", fastmcp),
    "pydantic-ai": Rival("pydantic-ai-slim", "from pydantic_ai.mcp import MCPToolset", pydantic_ai),
    "openai-agents": Rival("openai-agents", "from agents.mcp import MCPServerStdio", openai_agents),
    "langchain": Rival(
        "langchain-mcp-adapters",
        "from langchain_mcp_adapters.client import MultiServerMCPClient",
        langchain,
        ("legacy",),  # it holds on to the SDK of 2025
    ),
}
"""By the name that is printed."""
