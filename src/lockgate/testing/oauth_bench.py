"""A scripted server that wants tokens, with everything beside it that getting them takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.oauth.login import Login
from lockgate.mcp.client.oauth.plan import OAuthPlan
from lockgate.mcp.client.oauth.source import OAuthTokens
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.clock import FakeClock
from lockgate.testing.credentials import MemoryCredentials, PageLogin
from lockgate.testing.oauth_server import OAuthServer
from lockgate.testing.script import ScriptedServer

PEER = "notes"
"""What the server is called in messages."""


class OAuthBench:
    """One server, one store, one clock."""

    def __init__(self, server: OAuthServer) -> None:
        self.server = server
        self.store = MemoryCredentials()
        self.clock = FakeClock()

    def tokens(
        self,
        plan: OAuthPlan | None = None,
        *,
        login: Login | None = None,
        endpoint: HttpEndpoint | None = None,
        **more: Any,
    ) -> OAuthTokens:
        """A source of tokens, as one process has it."""
        return OAuthTokens(
            endpoint or self.server.endpoint(),
            plan or OAuthPlan(),
            peer=PEER,
            store=self.store,
            environ={},
            login=login,
            now=self.clock,
            **more,
        )

    async def log_in(self, plan: OAuthPlan | None = None, *, login: Login | None = None) -> None:
        """Somebody logs in, as the command has it."""
        await self.tokens(plan, login=login or PageLogin()).log_in()

    @asynccontextmanager
    async def session(self, tokens: OAuthTokens) -> AsyncGenerator[ServerSession, None]:
        """A session that is authorized by it."""
        transport = StreamableHttpTransport(
            self.server.endpoint(), peer=PEER, environ={}, pause=0.01, tokens=tokens
        )
        session = await connect(transport, peer=PEER, client=ClientIdentity("test", "1"))
        try:
            yield session
        finally:
            await session.close()

    async def call(self, session: ServerSession, count: int = 1) -> list[str]:
        """So many calls at once; their answers."""
        client = ToolClient(session)
        calls = (client.call("echo", {"number": number}) for number in range(count))
        return [repr(result.content) for result in await asyncio.gather(*calls)]


@asynccontextmanager
async def oauth_bench(**more: Any) -> AsyncGenerator[OAuthBench, None]:
    """An open server; `more` are options of it."""
    async with OAuthServer(ScriptedServer(), **more) as server:
        yield OAuthBench(server)
