"""What is kept, as the `mcp` package holds it for the time of one flow, and back."""

from __future__ import annotations

import re
from typing import Final

from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from lockgate.mcp.client.oauth.plan import AuthorizationCode, OAuthPlan
from lockgate.mcp.client.oauth.store import Credentials, Registration, Tokens
from lockgate.mcp.client.oauth.trouble import OAuthTrouble
from lockgate.process.hidden import Learned

_SENDABLE: Final = re.compile(r"[!-~]+")
"""RFC 6750, 2.1, and a little more: one word of ASCII."""
PUBLIC: Final = "none"
"""How a client proves itself that has no secret."""
LONGEST: Final = 10 * 365 * 86400.0
"""Seconds; what says that it is good for longer is taken to be good for this."""


class Kept:
    """The storage of one flow (the package's `TokenStorage`): nothing of it outlives that."""

    def __init__(self, learned: Learned) -> None:
        self.tokens: OAuthToken | None = None
        """Those that came, or those to be renewed."""
        self.client: OAuthClientInformationFull | None = None
        """Who asks."""
        self.registered = False
        """Whether the client was registered in this flow."""
        self._learned = learned

    async def get_tokens(self) -> OAuthToken | None:
        """Those to be renewed."""
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Those that came; hidden from here on. Raises `OAuthTrouble` for what can not be sent."""
        self._learned.learn(tokens.access_token, tokens.refresh_token or "")
        if not _SENDABLE.fullmatch(tokens.access_token):
            raise OAuthTrouble("its authorization server gave a token that no header can hold")
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Who asks."""
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Who was registered; the secret is hidden from here on."""
        self._learned.learn(client_info.client_secret or "")
        self.client = client_info
        self.registered = True


def client_named(plan: OAuthPlan) -> OAuthClientInformationFull | None:
    """The client that the operator registered; None if none was. Bound to the plan's issuer."""
    grant = plan.grant
    if not isinstance(grant, AuthorizationCode) or grant.client_id is None:
        return None
    return OAuthClientInformationFull(
        client_id=grant.client_id,
        client_secret=grant.client_secret,
        token_endpoint_auth_method=PUBLIC if grant.client_secret is None else grant.method,
        issuer=plan.issuer,
    )


def client_registered(held: Registration | None, now: float) -> OAuthClientInformationFull | None:
    """A client that was registered before; None if its secret has run out."""
    if held is None or (held.expires_at is not None and held.expires_at <= now):
        return None
    return OAuthClientInformationFull(
        client_id=held.client_id,
        client_secret=held.client_secret,
        token_endpoint_auth_method=held.method,
        issuer=held.issuer,
    )


def registration_of(
    client: OAuthClientInformationFull, issuer: str, redirect_uri: str | None
) -> Registration:
    """What is kept of a client that was registered."""
    until = client.client_secret_expires_at
    return Registration(
        issuer=issuer,
        client_id=client.client_id,
        client_secret=client.client_secret,
        method=client.token_endpoint_auth_method,
        redirect_uri=redirect_uri,
        expires_at=float(until) if until else None,
    )


def tokens_of(
    came: OAuthToken, *, issuer: str, client_id: str, resource: str | None, now: float
) -> Tokens:
    """What is kept of tokens that came now."""
    lasts = came.expires_in
    return Tokens(
        issuer=issuer,
        client_id=client_id,
        access_token=came.access_token,
        refresh_token=came.refresh_token,
        resource=resource,
        scope=came.scope,
        expires_at=None if lasts is None else now + min(max(float(lasts), 0.0), LONGEST),
        obtained_at=now,
    )


def client_of(plan: OAuthPlan, held: Credentials, now: float) -> OAuthClientInformationFull | None:
    """The client that the tokens at hand were given to; None if that is no longer us."""
    tokens = held.tokens
    if tokens is None:
        return None
    grant = plan.grant
    document = grant.metadata_url if isinstance(grant, AuthorizationCode) else None
    client = client_named(plan)
    if client is None and document is not None and tokens.client_id == document:
        client = OAuthClientInformationFull(
            client_id=document, token_endpoint_auth_method=PUBLIC, issuer=tokens.issuer
        )
    if client is None:
        client = client_registered(held.registered_with(tokens.issuer), now)
    return client if client is not None and client.client_id == tokens.client_id else None
