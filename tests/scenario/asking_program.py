"""A server of the official SDK that asks for things: `asking_program.py stdio`, or a port."""

# pyright: reportDeprecated=false, reportUnknownMemberType=false, reportUntypedFunctionDecorator=false
# (what is deprecated there is spoken here)
from __future__ import annotations

import sys
from typing import Any, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    InputRequiredResult,
    ListRootsRequest,
)
from pydantic import BaseModel

server = MCPServer("asking", log_level="ERROR")
wanted: list[str] = []


class Order(BaseModel):
    """What is asked for."""

    size: Literal["small", "large"]
    count: int = 2
    note: str | None = None


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"size": {"type": "string", "enum": ["small", "large"]}},
    "required": ["size"],
}


@server.tool()
async def form(context: Context[Any, Any]) -> str:
    """Ask in the way of legacy servers."""
    answer = await context.elicit("Which?", Order)
    return f"{answer.action} {getattr(answer, 'data', None)!r}"


@server.tool()
async def address(context: Context[Any, Any]) -> str:
    """Have an address opened, and say that it is over."""
    answer = await context.elicit_url("Log in", "https://example.com/a", "e1")
    await context.session.send_elicit_complete("e1")
    return answer.action


@server.tool()
async def locked(context: Context[Any, Any]) -> str:
    """Refuse until an address was opened."""
    if not wanted:
        wanted.append("locked")
        params = ElicitRequestURLParams(
            message="Log in", url="https://example.com/b", elicitation_id="e2"
        )
        await context.session.send_elicit_complete("unknown")
        raise UrlElicitationRequiredError([params])
    return "unlocked"


@server.tool()
async def roots(context: Context[Any, Any]) -> str:
    """Where to work."""
    found = await context.session.list_roots()
    return " ".join(str(root.uri) for root in found.roots)


@server.tool()
async def rounds(context: Context[Any, Any]) -> Any:
    """Ask in the way of modern servers, twice."""
    answers: Any = context.input_responses
    if context.request_state is None:
        params = ElicitRequestFormParams(message="Which?", requested_schema=SCHEMA)
        return InputRequiredResult(
            input_requests={"which": ElicitRequest(params=params)}, request_state="one"
        )
    if context.request_state == "one":
        return InputRequiredResult(
            input_requests={"where": ListRootsRequest()},
            request_state=answers["which"].content["size"],
        )
    return f"{context.request_state} at {answers['where'].roots[0].uri}"


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", port=int(sys.argv[1]))
