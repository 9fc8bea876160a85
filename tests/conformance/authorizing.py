"""How the driver of the conformance suite comes by tokens: lockgate's own OAuth, with a person
who has no browser."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from lockgate.mcp.client.oauth.plan import (
    AuthorizationCode,
    ClientCredentials,
    EnterpriseManaged,
    OAuthPlan,
)
from lockgate.mcp.client.oauth.source import OAuthTokens
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.testing.credentials import MemoryCredentials, PageLogin

METADATA = "https://conformance-test.local/client-metadata.json"
"""The document that the suite takes for the client's; nobody fetches it."""
REDIRECT = "http://127.0.0.1:3000/callback"


def tokens_for(url: str, scenario: str, context: Mapping[str, Any]) -> OAuthTokens:
    """What gets tokens for the server of a scenario."""
    return OAuthTokens(
        HttpEndpoint(url),
        plan_of(url, scenario, context),
        peer="suite",
        store=MemoryCredentials(),
        environ={},
        login=PageLogin(REDIRECT),
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
    named = cast("dict[str, Any]", json.loads(fetch(where)))
    return str(named["authorization_servers"][0])


def fetch(address: str) -> bytes:
    """The body of an answer."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        connection.request("GET", parts.path or "/")
        return connection.getresponse().read()
    finally:
        connection.close()
