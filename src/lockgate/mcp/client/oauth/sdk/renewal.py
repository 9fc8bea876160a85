"""Tokens that ran out, made new with their refresh token: without anybody (RFC 6749, 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import httpx2
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    create_oauth_metadata_request,
    handle_auth_metadata_response,
    issuers_match,
    validate_metadata_issuer,
)
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyHttpUrl

from lockgate.mcp.client.oauth.guarded import Guarded, Reply
from lockgate.mcp.client.oauth.plan import AuthorizationCode, OAuthPlan
from lockgate.mcp.client.oauth.sdk.discovery import named_by
from lockgate.mcp.client.oauth.sdk.kept import Kept, client_of, tokens_of
from lockgate.mcp.client.oauth.sdk.providers import of_person
from lockgate.mcp.client.oauth.sdk.requests import LONGEST, Requests, response
from lockgate.mcp.client.oauth.store import Credentials, Tokens
from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble, Revoked
from lockgate.mcp.client.oauth.wishes import error_in, resource_of, said_in
from lockgate.mcp.transport.tokens import Challenge
from lockgate.process.hidden import Learned
from lockgate.web.target import Target

PAST: Final = 1.0
"""A time that is over, and is not 0, which the package takes for none."""
_OVER: Final[Mapping[str, bool]] = MappingProxyType(
    {"invalid_grant": False, "invalid_client": True, "unauthorized_client": True}
)
"""What an authorization server says of a refresh token that it knows no more (RFC 6749, 5.2), and
whether that is about the client."""


class Renewal:
    """Renews the tokens of one server, once."""

    def __init__(
        self,
        target: Target,
        plan: OAuthPlan,
        guarded: Guarded,
        learned: Learned,
        *,
        now: Callable[[], float],
    ) -> None:
        """See `Flow`."""
        self._origin = target.origin
        self._resource = resource_of(target)
        self._plan = plan
        self._now = now
        self._requests = Requests(guarded, learned)
        self._kept = Kept(learned)

    async def run(self, held: Credentials, challenge: Challenge | None) -> Credentials:
        """What is to be kept in place of `held`; `challenge` is the refusal of the old ones.

        Raises `OAuthTrouble`, and `Revoked` if the refresh token is good for nothing any more.
        """
        old, client = held.tokens, client_of(self._plan, held, self._now())
        grant = self._plan.grant
        if old is None or client is None or not isinstance(grant, AuthorizationCode):
            raise Revoked("what is kept was given to another client than the one of today")
        with self._requests.translated():
            if challenge is not None:
                await self._same_issuer(old.issuer, challenge)
            metadata = await self._metadata(old.issuer)
            came = await self._renewed(grant, old, client, metadata)
        tokens = tokens_of(
            came, issuer=old.issuer, client_id=old.client_id, resource=old.resource, now=self._now()
        )
        return Credentials(tokens=tokens, registrations=held.registrations, wanted=held.wanted)

    async def _renewed(
        self,
        grant: AuthorizationCode,
        old: Tokens,
        client: OAuthClientInformationFull,
        metadata: OAuthMetadata | None,
    ) -> OAuthToken:
        self._kept.client = client
        self._kept.tokens = OAuthToken(
            access_token=old.access_token, refresh_token=old.refresh_token, scope=old.scope
        )
        provider = of_person(grant, self._resource, self._kept, None)
        context = provider.context
        context.token_expiry_time = PAST
        context.oauth_metadata = metadata
        if old.resource is not None:
            context.protected_resource_metadata = ProtectedResourceMetadata(
                resource=AnyHttpUrl(old.resource), authorization_servers=[AnyHttpUrl(old.issuer)]
            )
        request = httpx2.Request("POST", self._resource)
        flow = provider.async_auth_flow(request)
        try:
            outgoing = await anext(flow)
            reply = await self._requests.post(outgoing)
            if reply.status != 200:
                raise self._refused(reply, old.issuer)
            await flow.asend(response(self._requests.usable(reply, outgoing), outgoing))
        finally:
            await flow.aclose()
        came = context.current_tokens
        if came is None:
            raise OAuthTrouble(f"{old.issuer} answered with something that is no token")
        return came

    async def _same_issuer(self, issuer: str, challenge: Challenge) -> None:
        """See that the server still wants tokens of that authorization server.

        What it names now gets nothing that belongs to another one (2026-07-28, Authorization Server
        Binding).
        """
        named = await named_by(self._requests, said_in(challenge).resource_metadata, self._resource)
        if named and not any(issuers_match(each, issuer) for each in named):
            text = f"it names the authorization server {named[0]} now, and its tokens are of"
            raise OAuthTrouble(f"{text} {issuer}: nothing of them was sent there", Need.PERSON)

    async def _metadata(self, issuer: str) -> OAuthMetadata | None:
        """Where that authorization server renews tokens; None for one that says nothing of it."""
        addresses = build_oauth_authorization_server_metadata_discovery_urls(issuer, issuer)
        for address in addresses:
            request = create_oauth_metadata_request(address)
            reply = await self._requests.get(request)
            more, metadata = await handle_auth_metadata_response(response(reply, request))
            if metadata is not None:
                if not issuers_match(str(metadata.issuer), issuer):
                    validate_metadata_issuer(metadata, issuer)
                return metadata
            if not more:
                break
        if issuer == self._origin and self._requests.need is not Need.TIME:
            return None  # as of 2025-03-26, where the server itself is one
        text = f"its authorization server {issuer} publishes no usable metadata"
        raise OAuthTrouble(text, self._requests.need)

    def _refused(self, reply: Reply, issuer: str) -> OAuthTrouble:
        code, description = error_in(reply.body)
        said = self._requests.told(": ".join(filter(None, (code, description))), LONGEST)
        told = said or f"HTTP {reply.status}"
        text = f"its authorization server {issuer} does not renew the tokens: {told}"
        if code in _OVER:
            return Revoked(text, client=_OVER[code])
        return OAuthTrouble(text, Need.PERSON)
