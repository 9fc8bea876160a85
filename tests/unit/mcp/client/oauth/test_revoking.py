"""Taking tokens back: who is asked, who we say we are, and what counts as a yes."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import pytest

from lockgate.mcp.client.oauth.guarded import Guarded
from lockgate.mcp.client.oauth.plan import AuthorizationCode, OAuthPlan
from lockgate.mcp.client.oauth.revoking import discovery_addresses, revoke
from lockgate.mcp.client.oauth.store import Credentials, Registration, Tokens
from lockgate.mcp.client.oauth.trouble import OAuthTrouble
from lockgate.testing.http_heard import JSON, HttpExchange, HttpHeard
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import ScriptedServer


class Authority(HttpServer):
    """An authorization server that takes tokens back."""

    def __init__(self) -> None:
        super().__init__(ScriptedServer())
        self.document: dict[str, Any] | None = {}
        self.status = 200
        self.revoked: list[HttpHeard] = []

    async def by_script(self, exchange: HttpExchange) -> None:
        """Its document, at the older of the two places, and that."""
        path = exchange.heard.target
        if path == "/.well-known/openid-configuration" and self.document is not None:
            found = {
                "issuer": self.origin,
                "revocation_endpoint": f"{self.origin}/revoke",
                **self.document,
            }
            await exchange.answer(200, json.dumps(found).encode(), {"content-type": JSON})
        elif path == "/revoke":
            self.revoked.append(exchange.heard)
            await exchange.answer(self.status)
        else:
            await exchange.answer(404)

    def fields(self) -> list[dict[str, str]]:
        """What was sent there."""
        return [dict(parse_qsl(heard.body.decode())) for heard in self.revoked]


@pytest.fixture
async def authority() -> AsyncIterator[Authority]:
    """One that is open."""
    async with Authority() as server:
        yield server


def held(authority: Authority, **registered: Any) -> Credentials:
    """A login there; `registered` are fields of the registration, if there is one."""
    access, refresh = "ACCESS", "REFRESH"
    tokens = Tokens(
        issuer=authority.origin, client_id="me", access_token=access, refresh_token=refresh
    )
    if not registered:
        return Credentials(tokens=tokens)
    client = Registration(issuer=authority.origin, client_id="me", **registered)
    return Credentials(tokens=tokens, registrations=(client,))


def guarded(authority: Authority) -> Guarded:
    """What asks."""
    return Guarded(authority.endpoint(), {})


async def test_both_are_taken_back(authority: Authority) -> None:
    """The refresh token first; a public client says its name."""
    assert await revoke(held(authority), None, guarded(authority))
    assert authority.fields() == [
        {"token": "REFRESH", "token_type_hint": "refresh_token", "client_id": "me"},
        {"token": "ACCESS", "token_type_hint": "access_token", "client_id": "me"},
    ]
    assert all("authorization" not in heard.headers for heard in authority.revoked)


async def test_a_client_with_a_secret_proves_itself(authority: Authority) -> None:
    """As it was registered, or as the operator says."""
    secret = "a b:c"  # noqa: S105 - of a server on loopback
    basic = held(authority, client_secret=secret, method="client_secret_basic")
    await revoke(basic, None, guarded(authority))
    said = authority.revoked[0].headers["authorization"].removeprefix("Basic ")
    assert base64.b64decode(said) == b"me:a%20b%3Ac"
    assert "client_secret" not in authority.fields()[0]

    post = held(authority, client_secret=secret, method="client_secret_post")
    await revoke(post, None, guarded(authority))
    assert authority.fields()[2]["client_secret"] == secret

    grant = AuthorizationCode("me", secret, "client_secret_post")
    plan = OAuthPlan(grant, issuer=authority.origin)
    await revoke(held(authority), plan, guarded(authority))
    assert authority.fields()[4]["client_secret"] == secret


async def test_a_secret_of_another_client_stays_here(authority: Authority) -> None:
    """One that the operator changed since is not theirs who gave the tokens."""
    grant = AuthorizationCode("another", "SECRET")
    plan = OAuthPlan(grant, issuer=authority.origin)
    await revoke(held(authority), plan, guarded(authority))
    assert authority.fields()[0]["client_id"] == "me"
    assert "authorization" not in authority.revoked[0].headers


async def test_where_there_is_no_such_place(authority: Authority) -> None:
    """That is no error, and no yes."""
    authority.document = {"revocation_endpoint": None}
    assert not await revoke(held(authority), None, guarded(authority))
    assert not await revoke(Credentials(), None, guarded(authority))
    assert authority.revoked == []


@pytest.mark.parametrize("document", [{"issuer": "https://evil.example"}, None])
async def test_a_document_of_somebody_else_is_none(
    authority: Authority, document: dict[str, Any] | None
) -> None:
    """It would have the tokens sent to them."""
    authority.document = document
    with pytest.raises(OAuthTrouble, match="publishes nothing that says where"):
        await revoke(held(authority), None, guarded(authority))
    assert authority.revoked == []


@pytest.mark.parametrize("status", [400, 401, 503, 302])
async def test_anything_but_a_yes_is_told(authority: Authority, status: int) -> None:
    """Without a token."""
    authority.status = status
    with pytest.raises(OAuthTrouble, match=rf"did not take them back \(HTTP {status}\)") as raised:
        await revoke(held(authority), None, guarded(authority))
    assert "REFRESH" not in str(raised.value)


async def test_an_access_token_alone(authority: Authority) -> None:
    """Where there was no other."""
    tokens = held(authority).tokens
    assert tokens is not None
    alone = Credentials(tokens=msgspec.structs.replace(tokens, refresh_token=None))
    assert await revoke(alone, None, guarded(authority))
    assert [fields["token"] for fields in authority.fields()] == ["ACCESS"]


@pytest.mark.parametrize(
    ("issuer", "addresses"),
    [
        (
            "https://as.example",
            [
                "https://as.example/.well-known/oauth-authorization-server",
                "https://as.example/.well-known/openid-configuration",
            ],
        ),
        (
            "https://as.example:8443/tenant/",
            [
                "https://as.example:8443/.well-known/oauth-authorization-server/tenant",
                "https://as.example:8443/.well-known/openid-configuration/tenant",
                "https://as.example:8443/tenant/.well-known/openid-configuration",
            ],
        ),
    ],
)
def test_where_it_describes_itself(issuer: str, addresses: list[str]) -> None:
    """2026-07-28, basic/authorization/authorization-server-discovery: in that order."""
    assert list(discovery_addresses(issuer)) == addresses
