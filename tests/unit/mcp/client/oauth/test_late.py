"""What getting tokens needs is loaded when tokens are got, and not before."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("mcp", "httpx", "httpx2", "pydantic", "anyio", "jwt")
USE = """
import asyncio, sys
import lockgate.app.build
import lockgate.mcp.transport.streamable_http, lockgate.mcp.transport.legacy_sse
from lockgate.errors import PeerError
from lockgate.mcp.client.oauth.plan import ClientCredentials, OAuthPlan
from lockgate.mcp.client.oauth.source import OAuthTokens
from lockgate.mcp.client.oauth.store import Credentials, Place, Tokens
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.transport.tokens import Challenge
from lockgate.testing.credentials import MemoryCredentials

def source(plan):
    endpoint, store = HttpEndpoint("http://127.0.0.1:9/mcp"), MemoryCredentials()
    held = Tokens(issuer="https://a.example", client_id="x", access_token="a-token")
    store.held[Place("x", endpoint.url)] = Credentials(tokens=held)
    return OAuthTokens(endpoint, plan, peer="x", store=store, environ={})

async def main():
    assert await source(OAuthPlan()).authorization() == "Bearer a-token"
    print(*sorted(set(sys.argv[1:]) & set(sys.modules)))
    sys.modules["mcp"] = None
    plan = OAuthPlan(ClientCredentials("x", "the-secret"), issuer="https://a.example")
    try:
        await source(plan).challenged(Challenge(401, "", "Bearer a-token"))
    except PeerError as error:
        print(error)

asyncio.run(main())
"""


def test_calls_with_kept_tokens_load_nothing_of_the_flow() -> None:
    """Reaching servers, reading what is kept, authorizing calls: all without the official SDK and
    what it brings along; where it is missing, a flow says what to install."""
    done = subprocess.run(
        [sys.executable, "-c", USE, *HEAVY], capture_output=True, text=True, timeout=60, check=True
    )
    loaded, told = done.stdout.splitlines()
    assert loaded == ""
    assert "pip install 'lockgate[oauth]'" in told
