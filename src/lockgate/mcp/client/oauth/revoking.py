"""Taking tokens back at the authorization server that gave them (RFC 7009), as far as it lets us.

It needs nothing of the `mcp` package: two requests, of which the second is answered by its status
alone. That a server was asked, and said yes, is all that can be known.
"""

from __future__ import annotations

import base64
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from lockgate.mcp.client.oauth.guarded import Guarded
from lockgate.mcp.client.oauth.plan import AuthorizationCode, OAuthPlan
from lockgate.mcp.client.oauth.store import Credentials, Tokens
from lockgate.mcp.client.oauth.trouble import OAuthTrouble
from lockgate.mcp.client.oauth.wishes import document

_FORM: Final = ("Content-Type", "application/x-www-form-urlencoded")
_WELL_KNOWN: Final = ("oauth-authorization-server", "openid-configuration")


async def revoke(credentials: Credentials, plan: OAuthPlan | None, guarded: Guarded) -> bool:
    """Have the authorization server forget the tokens; whether it has a place to ask that of.

    `plan` says who the client is, where the operator does. Raises `OAuthTrouble` if it could not
    be asked, or did not agree.
    """
    tokens = credentials.tokens
    if tokens is None:
        return False
    endpoint = await _endpoint(tokens.issuer, guarded)
    if endpoint is None:
        return False
    headers, client = _client(tokens, credentials, plan)
    # The refresh token first: without it nothing new is made of what is left.
    for kind in ("refresh_token", "access_token"):
        token: str | None = getattr(tokens, kind)
        if token is not None:
            form = urlencode({"token": token, "token_type_hint": kind, **client}).encode()
            reply = await guarded.ask("POST", endpoint, (_FORM, *headers), form)
            # It answers 200 for tokens that it does not know, too (RFC 7009, 2.2).
            if reply.status != 200:
                raise OAuthTrouble(f"{tokens.issuer} did not take them back (HTTP {reply.status})")
    return True


async def _endpoint(issuer: str, guarded: Guarded) -> str | None:
    """Where that is asked for; None if the authorization server has no such place."""
    for address in discovery_addresses(issuer):
        reply = await guarded.ask("GET", address)
        found: dict[str, Any] | None = document(reply.body) if reply.status == 200 else None
        # A document of somebody else would have the tokens sent to them (RFC 8414, 3.3).
        if found is None or found.get("issuer") != issuer:
            continue
        endpoint = found.get("revocation_endpoint")
        return endpoint if isinstance(endpoint, str) and endpoint else None
    raise OAuthTrouble(f"{issuer} publishes nothing that says where to take them back")


def discovery_addresses(issuer: str) -> tuple[str, ...]:
    """Where an authorization server describes itself, in the order of 2026-07-28,
    basic/authorization/authorization-server-discovery."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    found = [f"{origin}/.well-known/{name}{path}" for name in _WELL_KNOWN]
    return (*found, f"{origin}{path}/.well-known/{_WELL_KNOWN[1]}") if path else tuple(found)


def _client(
    tokens: Tokens, credentials: Credentials, plan: OAuthPlan | None
) -> tuple[tuple[tuple[str, str], ...], dict[str, str]]:
    """How the client says who it is: headers, and fields of the form."""
    secret, method = None, None
    registered = credentials.registered_with(tokens.issuer)
    grant = None if plan is None else plan.grant
    if isinstance(grant, AuthorizationCode) and grant.client_id == tokens.client_id:
        secret, method = grant.client_secret, grant.method
    elif registered is not None and registered.client_id == tokens.client_id:
        secret, method = registered.client_secret, registered.method
    if secret is None or method in (None, "none"):
        return (), {"client_id": tokens.client_id}
    if method == "client_secret_post":
        return (), {"client_id": tokens.client_id, "client_secret": secret}
    pair = f"{quote(tokens.client_id, safe='')}:{quote(secret, safe='')}"  # RFC 6749, 2.3.1
    return (("Authorization", f"Basic {base64.b64encode(pair.encode()).decode()}"),), {}
