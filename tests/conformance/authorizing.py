"""How the driver of the conformance suite comes by tokens: lockgate's own OAuth, with a person
who has no browser."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import urlsplit

from lockgate.mcp.client.oauth.plan import (
    AuthorizationCode,
    ClientCredentials,
    EnterpriseManaged,
    OAuthPlan,
)
from lockgate.mcp.client.oauth.source import OAuthTokens
from lockgate.mcp.client.oauth.store import Credentials, Place
from lockgate.mcp.endpoint import HttpEndpoint

METADATA = "https://conformance-test.local/client-metadata.json"
"""The document that the suite takes for the client's; nobody fetches it."""


class NoBrowser:
    """A person who says yes: the address is fetched, and where it leads is the answer."""

    redirect_uri = "http://127.0.0.1:3000/callback"

    async def answer(self, address: str, state: str) -> str:
        """See `Login.answer`."""
        _, headers = await asyncio.to_thread(fetch, address)
        return urlsplit(headers.get("location", "")).query


class Kept:
    """Credentials for as long as the program runs."""

    def __init__(self) -> None:
        self._held: dict[Place, Credentials] = {}
        self._locks: dict[tuple[Place, bool], asyncio.Lock] = {}

    async def load(self, place: Place) -> Credentials:
        """See `CredentialStore`."""
        return self._held.get(place, Credentials())

    async def save(self, place: Place, credentials: Credentials) -> None:
        """See `CredentialStore`."""
        self._held[place] = credentials

    @asynccontextmanager
    async def exclusive(self, place: Place, *, login: bool = False) -> AsyncGenerator[None, None]:
        """See `CredentialStore`."""
        async with self._locks.setdefault((place, login), asyncio.Lock()):
            yield


def tokens_for(url: str, scenario: str, context: Mapping[str, Any]) -> OAuthTokens:
    """What gets tokens for the server of a scenario."""
    return OAuthTokens(
        HttpEndpoint(url),
        plan_of(url, scenario, context),
        peer="suite",
        store=Kept(),
        environ={},
        login=NoBrowser(),
    )


def plan_of(url: str, scenario: str, context: Mapping[str, Any]) -> OAuthPlan:
    """What an operator would have written down for it."""
    match scenario:
        case "auth/pre-registration":
            grant = AuthorizationCode(context["client_id"], context["client_secret"])
        case "auth/client-credentials-basic":
            grant = ClientCredentials(context["client_id"], context["client_secret"])
        case "auth/client-credentials-jwt":
            grant = ClientCredentials(
                context["client_id"],
                private_key=context["private_key_pem"],
                algorithm=context.get("signing_algorithm", "ES256"),
            )
        case "auth/enterprise-managed-authorization":
            grant = EnterpriseManaged(
                context["client_id"],
                context["client_secret"],
                identity_provider=context["idp_token_endpoint"],
                identity_client_id=context["idp_client_id"],
                identity_token=context["idp_id_token"],
                method="client_secret_basic",
            )
        case _:
            return OAuthPlan(AuthorizationCode(metadata_url=METADATA))
    return OAuthPlan(grant, issuer=issuer_of(url))


def issuer_of(url: str) -> str:
    """The authorization server that an operator would know: the one that the suite names."""
    parts = urlsplit(url)
    where = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource{parts.path}"
    body, _ = fetch(where)
    named = cast("dict[str, Any]", json.loads(body))
    return str(named["authorization_servers"][0])


def fetch(address: str) -> tuple[bytes, Mapping[str, str]]:
    """The body and the headers of an answer, by lower-case name; redirects are not followed."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        path = parts.path or "/"
        connection.request("GET", f"{path}?{parts.query}" if parts.query else path)
        answer = connection.getresponse()
        return answer.read(), {name.lower(): value for name, value in answer.getheaders()}
    finally:
        connection.close()
