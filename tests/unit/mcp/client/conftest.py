"""An open connection to a server in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.memory_server import MemoryServer


@pytest.fixture
def server() -> MemoryServer:
    """A legacy server; `on` changes what it answers."""
    return MemoryServer()


@pytest.fixture
async def session(server: MemoryServer) -> AsyncGenerator[ServerSession, None]:
    """A session with it, closed after the test."""
    found = await connect(
        server.transport(), peer=server.name, client=ClientIdentity("test", "1"), request_timeout=5
    )
    try:
        yield found
    finally:
        await found.close()
