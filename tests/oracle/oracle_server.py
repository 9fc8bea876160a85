"""A server for two clients to be compared on: `oracle_server.py sdk|fastmcp TRANSPORT [PORT]`.

TRANSPORT is `stdio`, `sse`, `stateful`, `stateless`, `json` or `stateless-json`.
"""

from __future__ import annotations

import sys
from typing import Any

import oracle_tools


def official() -> Any:
    """The official SDK's server."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("oracle", version="1.2.3", instructions="Be kind.", log_level="ERROR")
    for tool in oracle_tools.each():
        server.add_tool(tool)
    return server


def fast() -> Any:
    """fastmcp's server."""
    from fastmcp import FastMCP

    server = FastMCP("oracle", version="1.2.3", instructions="Be kind.")
    for tool in oracle_tools.each():
        server.tool(tool)
    return server


def main(which: str, transport: str, port: str = "0") -> None:
    """Serve until the input ends, or for ever."""
    server = official() if which == "sdk" else fast()
    options: dict[str, Any] = {} if which == "sdk" else {"show_banner": False}
    if transport != "stdio":
        options["port"] = int(port)
    if transport not in ("stdio", "sse"):
        options["stateless_http"] = transport.startswith("stateless")
        options["json_response"] = transport.endswith("json")
        transport = "streamable-http"
    if which == "fastmcp" and transport != "stdio":
        options["host"] = "127.0.0.1"
        options["log_level"] = "error"
    server.run(transport, **options)


if __name__ == "__main__":
    main(*sys.argv[1:])
