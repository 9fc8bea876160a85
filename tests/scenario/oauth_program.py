"""A server that wants tokens, with its authorization server: all of both is FastMCP's and the
official SDK's, and nothing of it ours but what a test has to turn.

    oauth_program.py PORT [SECONDS [ISSUER]]

SECONDS is how long an access token is good for; with an ISSUER it names that one, and takes no
tokens of its own. `POST /turn/expire` lets every access token run
out, `POST /turn/revoke` forgets every refresh token, `POST /turn/forget` every client too, and
`GET /turn/counts` says how often a tool ran and tokens were given.
"""

from __future__ import annotations

import sys
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import JSONResponse

PORT = int(sys.argv[1])
LASTS = int(sys.argv[2]) if len(sys.argv) > 2 else 3600
counts = {"called": 0, "renewed": 0, "given": 0, "registered": 0}


class Counting(InMemoryOAuthProvider):
    """The provider as it is, counted."""

    async def register_client(self, client_info: Any) -> None:
        """Count it."""
        counts["registered"] += 1
        await super().register_client(client_info)

    async def exchange_authorization_code(self, client: Any, authorization_code: Any) -> Any:
        """Count it."""
        counts["given"] += 1
        return self.shortened(await super().exchange_authorization_code(client, authorization_code))

    async def exchange_refresh_token(self, client: Any, refresh_token: Any, scopes: Any) -> Any:
        """Count it."""
        counts["renewed"] += 1
        return self.shortened(await super().exchange_refresh_token(client, refresh_token, scopes))

    def shortened(self, token: Any) -> Any:
        """As long as the test wants."""
        token.expires_in = LASTS
        return token


auth = Counting(
    base_url=f"http://127.0.0.1:{PORT}",
    client_registration_options=ClientRegistrationOptions(
        enabled=True, valid_scopes=["notes:read", "notes:write"], default_scopes=["notes:read"]
    ),
    revocation_options=RevocationOptions(enabled=True),
    required_scopes=["notes:read"],
)
elsewhere = sys.argv[3:]
moved = RemoteAuthProvider(
    StaticTokenVerifier({}),
    [AnyHttpUrl(issuer) for issuer in elsewhere],
    f"http://127.0.0.1:{PORT}",
)
server: FastMCP[None] = FastMCP("guarded", auth=moved if elsewhere else auth)


@server.tool
def add(number: int) -> int:
    """Count a call."""
    counts["called"] += 1
    return number


@server.custom_route("/turn/{what}", methods=["GET", "POST"])
async def turn(request: Request) -> JSONResponse:
    """What a test turns."""
    what = request.path_params["what"]
    if what == "expire":
        auth.access_tokens.clear()
    if what in ("revoke", "forget"):
        auth.refresh_tokens.clear()
    if what == "forget":
        auth.clients.clear()
    return JSONResponse(counts)


if __name__ == "__main__":
    server.run("http", host="127.0.0.1", port=PORT, show_banner=False, log_level="ERROR")
