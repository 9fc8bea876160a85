"""Configured servers as what a test knows them to be."""

from __future__ import annotations

from lockgate.mcp.endpoint import HttpEndpoint, StdioEndpoint
from lockgate.mcp.host.settings import ServerSettings


def program_of(server: ServerSettings) -> StdioEndpoint:
    """Of a server that is started as a program. Raises `TypeError` for any other."""
    if isinstance(server.endpoint, StdioEndpoint):
        return server.endpoint
    raise TypeError(f"{server.name} is no program")


def address_of(server: ServerSettings) -> HttpEndpoint:
    """Of a server that is reached over HTTP. Raises `TypeError` for any other."""
    if isinstance(server.endpoint, HttpEndpoint):
        return server.endpoint
    raise TypeError(f"{server.name} is not reached over HTTP")
