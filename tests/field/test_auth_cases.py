"""Field cases of servers that want tokens, where a login or a client is configured for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.mcp.client.oauth.plan import ClientCredentials, OAuthPlan
from lockgate.mcp.client.oauth.source import OAuthTokens
from lockgate.mcp.client.oauth.store import Credentials, Place, Tokens
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.testing.credentials import MemoryCredentials
from lockgate.testing.fleet import Fleet
from lockgate.testing.http_faults import page, status
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import ScriptedServer
from lockgate.tools.result import ErrorKind

METADATA = "/.well-known/oauth-protected-resource"
TOKEN, SECRET = "the-token-of-this-server", "the-secret-of-client"
KEPT = Credentials(tokens=Tokens(issuer="https://auth.example", client_id="x", access_token=TOKEN))


def source(endpoint: HttpEndpoint, plan: OAuthPlan, held: Credentials) -> OAuthTokens:
    """What gets tokens for it, with what is kept."""
    store = MemoryCredentials()
    store.held[Place("barred", endpoint.url)] = held
    return OAuthTokens(endpoint, plan, peer="barred", store=store, environ={})


@pytest.mark.req("S3-10")
@pytest.mark.parametrize("what", ["a page", "nothing in it", "elsewhere", "a megabyte"])
async def test_pb_083_metadata_of_no_use_is_told_and_costs_its_own_server(
    tmp_path: Path, what: str
) -> None:
    """A program has a client for the server, whose metadata are of no use: it is reported failed
    for that, in a line; the one beside it answers; nobody gets a token or a secret."""
    documents = {
        "a page": page("Sign in"),
        "nothing in it": status(200, {}),
        "elsewhere": status(200, {"authorization_servers": ["http://127.0.0.1:9"]}),
        "a megabyte": status(200, "[" + "1," * 500_000 + "1]"),
    }
    async with HttpServer(ScriptedServer()) as barred, HttpServer(ScriptedServer()) as foreign:
        origin = foreign.origin if what == "elsewhere" else barred.origin
        challenge = f'Bearer resource_metadata="{origin}{METADATA}"'
        barred.on(status(401, headers={"www-authenticate": challenge}))
        for server in (barred, foreign):
            server.on(documents[what], method="GET")
        plan = OAuthPlan(ClientCredentials("client", SECRET), issuer="https://auth.example")
        tokens = source(barred.endpoint(), plan, KEPT)
        async with Fleet(tmp_path, tokens={"barred": tokens}) as fleet:
            fleet.add("barred", barred.endpoint())
            fleet.add("good", ScriptedServer())
            report = await fleet.start()
            assert report.failed == ("barred",)
            reason = report.errors["barred"]
            if what == "a megabyte":
                assert "more than" in reason
            else:
                assert "needs authorization" in reason
                assert "is not usable" in reason
            assert "\n" not in reason
            assert (await fleet.call("mcp__good__echo", a=1)).text == '{"a": 1}'
        told = [*foreign.heard, *(each for each in barred.heard if each.method == "GET")]
        assert all("authorization" not in heard.headers for heard in told)
        assert all(SECRET.encode() not in heard.body for heard in told)
        assert len(barred.told("server/discover")) == 1


@pytest.mark.parametrize("header", [True, False])
async def test_pb_079_whoever_has_to_log_in_is_told_how(tmp_path: Path, header: bool) -> None:
    """A login that the server does not take any more, with a challenge or without: one message with
    the server's name and the command, no storm of requests, no token in it."""
    async with HttpServer(ScriptedServer()) as server:
        challenge = {"www-authenticate": 'Bearer error="invalid_token"'} if header else None
        server.on(status(401, f"token {TOKEN} is bad", challenge))
        tokens = source(server.endpoint(), OAuthPlan(), KEPT)
        async with Fleet(tmp_path, tokens={"barred": tokens}) as fleet:
            fleet.add("barred", server.endpoint())
            report = await fleet.start()
            reason = report.errors["barred"]
        assert reason.startswith("barred: ")
        assert "lockgate mcp login barred" in reason
        assert TOKEN not in reason
        assert len(server.heard) == 1


async def test_pb_079_a_call_that_lacks_a_scope_says_which(tmp_path: Path) -> None:
    """403 in the middle of a session: the result of the call is unauthorized, with the scope and
    the command; the call was not made, and the other calls go on."""
    async with HttpServer(ScriptedServer()) as server:
        wants = {"www-authenticate": 'Bearer error="insufficient_scope", scope="notes:write"'}
        server.on(status(403, headers=wants), message="tools/call", nth=1)
        tokens = source(server.endpoint(), OAuthPlan(), KEPT)
        async with Fleet(tmp_path, tokens={"barred": tokens}) as fleet:
            fleet.add("barred", server.endpoint())
            await fleet.start()
            result = await fleet.call("mcp__barred__echo", a=1)
            assert result.kind is ErrorKind.UNAUTHORIZED
            assert "notes:write" in result.text
            assert "lockgate mcp login barred" in result.text
            assert TOKEN not in result.text
            assert (await fleet.call("mcp__barred__echo", a=2)).text == '{"a": 2}'
        assert len(server.told("tools/call")) == 2
