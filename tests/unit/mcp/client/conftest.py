"""An open connection to a server in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer


@pytest.fixture
def server() -> LoopServer:
    """A legacy server without tools; `on` changes what it answers."""
    return LoopServer(ScriptedServer((), revisions=LEGACY, name="fake"))


@pytest.fixture
async def session(server: LoopServer) -> AsyncGenerator[ServerSession, None]:
    """A session with it, closed after the test."""
    found = await connect(
        server.transport(), peer=server.name, client=ClientIdentity("test", "1"), request_timeout=5
    )
    try:
        yield found
    finally:
        await found.close()
