"""Agreeing on a revision with a server that wants tokens first."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.oauth.plan import ClientCredentials, OAuthPlan
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.oauth_bench import PEER, OAuthBench

SECRET = "the-secret-of-client"  # noqa: S105 - of a scripted server


@pytest.mark.parametrize("kept", [True, False])
async def test_a_server_is_not_taken_for_silent_while_tokens_are_got(
    bench: OAuthBench, kept: bool
) -> None:
    """The probe waits for tokens far longer than a server may be silent: nothing of the older era
    is begun meanwhile, and the server is found to be modern. So it is whether the tokens are got at
    its refusal, or before the first request because those that are kept have run out."""
    plan = OAuthPlan(ClientCredentials("program", SECRET), issuer=bench.server.issuer)
    if kept:
        await bench.log_in(plan=None)
        bench.clock.advance(3600)
        bench.server.expire()
        plan = OAuthPlan()
    begun, let = asyncio.Event(), asyncio.Event()

    async def slow(exchange: Any) -> None:
        if exchange.heard.target == "/token":
            begun.set()
            await let.wait()
        await exchange.as_scripted()

    bench.server.on(slow)
    transport = StreamableHttpTransport(
        bench.server.endpoint(), peer=PEER, environ={}, tokens=bench.tokens(plan)
    )
    connecting = asyncio.ensure_future(
        connect(transport, peer=PEER, client=ClientIdentity("test", "1"), probe_patience=0.4)
    )
    await begun.wait()
    await asyncio.wait((connecting,), timeout=1.0)
    let.set()
    session = await connecting
    assert session.revision.modern
    await session.close()
    assert bench.server.told("initialize") == []
