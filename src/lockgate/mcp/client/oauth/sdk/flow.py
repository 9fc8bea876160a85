"""One flow: from a refusal to tokens that are good for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull

from lockgate.mcp.client.oauth.guarded import Guarded
from lockgate.mcp.client.oauth.login import Login
from lockgate.mcp.client.oauth.plan import AuthorizationCode, ClientCredentials, OAuthPlan
from lockgate.mcp.client.oauth.sdk.discovery import Discovery, Respelled
from lockgate.mcp.client.oauth.sdk.identity import IdentityProvider
from lockgate.mcp.client.oauth.sdk.kept import (
    Kept,
    client_named,
    client_registered,
    registration_of,
    tokens_of,
)
from lockgate.mcp.client.oauth.sdk.person import Person
from lockgate.mcp.client.oauth.sdk.providers import (
    Provider,
    of_organisation,
    of_person,
    of_program,
)
from lockgate.mcp.client.oauth.sdk.requests import Requests, response
from lockgate.mcp.client.oauth.store import Credentials
from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble
from lockgate.mcp.client.oauth.wishes import (
    kept_beside,
    not_granted,
    resource_of,
    said_in,
    scope_for,
)
from lockgate.mcp.transport.tokens import Challenge
from lockgate.process.hidden import Learned
from lockgate.web.target import Target

NEWEST: Final = "2026-07-28"
"""The revision whose rules hold where a request named none."""


class Flow:
    """Gets tokens for one server, by one plan, once."""

    def __init__(
        self,
        target: Target,
        plan: OAuthPlan,
        guarded: Guarded,
        learned: Learned,
        *,
        now: Callable[[], float],
        login: Login | None = None,
    ) -> None:
        """`now` gives seconds since the epoch. `login` is a person, where the plan needs one."""
        self._origin = target.origin
        self._resource = resource_of(target)
        self._plan = plan
        self._guarded = guarded
        self._learned = learned
        self._now = now
        self._requests = Requests(guarded, learned)
        self._kept = Kept(learned)
        self._person: Person | None = None
        if login is not None and not plan.unattended:
            self._person = Person(login, guarded, learned)

    async def run(self, held: Credentials, challenge: Challenge) -> Credentials:
        """What is to be kept in place of `held`. Raises `OAuthTrouble`."""
        usual = () if held.tokens is None else (held.tokens.issuer,)
        try:
            return await self._run(held, challenge, usual)
        except Respelled as respelled:
            return await self._run(held, challenge, (respelled.issuer,))

    async def _run(
        self, held: Credentials, challenge: Challenge, usual: Sequence[str]
    ) -> Credentials:
        said = said_in(challenge)
        scope = scope_for(self._plan, held, challenge)
        discovery = Discovery(
            said.resource_metadata,
            self._resource,
            issuer=self._plan.issuer,
            usual=usual,
            scoped=scope is not None,
            beside=kept_beside(self._plan, held) if challenge.status == 403 else "",
        )
        revision = challenge.revision or NEWEST
        request = httpx2.Request("POST", self._resource, headers={"MCP-Protocol-Version": revision})
        with self._requests.translated():
            provider = self._provider(held, scope)
            flow = provider.async_auth_flow(request)
            try:
                outgoing, refused = await anext(flow), False
                while outgoing is not request or not refused:
                    if outgoing is request:
                        refused, answer = True, _refusal(said.resource_metadata, scope, request)
                    else:
                        answer = await self._answer(outgoing, provider, discovery, held)
                    outgoing = await flow.asend(answer)
            finally:
                await flow.aclose()
            return self._outcome(held, provider, revision)

    def _provider(self, held: Credentials, scope: str | None) -> Provider:
        plan, grant = self._plan, self._plan.grant
        if isinstance(grant, AuthorizationCode):
            if self._person is None:
                raise OAuthTrouble("somebody has to log in", Need.PERSON)
            self._kept.client = client_named(plan) or self._known(held, self._origin)
            return of_person(grant, self._resource, self._kept, self._person)
        if isinstance(grant, ClientCredentials):
            return of_program(grant, plan, self._resource, self._kept, scope)
        identity = IdentityProvider(grant, self._guarded, self._learned, scope)
        return of_organisation(grant, plan, self._resource, self._kept, identity, scope)

    async def _answer(
        self,
        outgoing: httpx2.Request,
        provider: Provider,
        discovery: Discovery,
        held: Credentials,
    ) -> httpx2.Response:
        """The answer to a request of the flow's own."""
        if not isinstance(provider, OAuthClientProvider):
            if outgoing.method == "GET":
                return response(await self._requests.get(outgoing), outgoing)
            reply = await self._requests.post(outgoing)
            return response(self._requests.usable(reply, outgoing), outgoing)
        if outgoing.method != "GET":
            self._check(provider, discovery)
            reply = await self._requests.post(outgoing)
            if reply.status in (404, 405) and provider.context.oauth_metadata is None:
                text = f"it names no authorization server, and there is none at {self._origin}"
                raise OAuthTrouble(text)
            return response(self._requests.usable(reply, outgoing), outgoing)
        own = not discovery.done
        reply = discovery.take(await self._requests.get(outgoing), str(outgoing.url))
        if own and discovery.issuer is not None and not self._is_named:
            # Who we are there is known before anything else is asked.
            known = self._known(held, discovery.issuer)
            provider.context.client_info = known or provider.context.client_info
        return response(reply, outgoing)

    @property
    def _is_named(self) -> bool:
        """Whether the operator says who the client is."""
        return self._plan.unattended or client_named(self._plan) is not None

    def _known(self, held: Credentials, issuer: str) -> OAuthClientInformationFull | None:
        """The client that was registered there before, if it can be used again."""
        grant, registered = self._plan.grant, held.registered_with(issuer)
        if isinstance(grant, AuthorizationCode) and grant.metadata_url is not None:
            return None
        if registered is None or self._person is None:
            return None
        if registered.redirect_uri != self._person.redirect_uri:
            return None
        return client_registered(registered, self._now())

    def _check(self, provider: OAuthClientProvider, discovery: Discovery) -> None:
        """Send nothing to where the package would guess that it may belong."""
        context = provider.context
        metadata = context.oauth_metadata
        if metadata is None:
            if discovery.issuer is not None:
                text = f"its authorization server {discovery.issuer} publishes no usable metadata"
                raise OAuthTrouble(text, self._requests.need)
            return
        if context.client_info is None and metadata.registration_endpoint is None:
            text = f"its authorization server {metadata.issuer} does not register clients by itself"
            raise OAuthTrouble(f"{text}: have one registered, and set auth.clientId")

    def _outcome(self, held: Credentials, provider: Provider, revision: str) -> Credentials:
        """What is to be kept."""
        came = self._kept.tokens
        if came is None:
            raise OAuthTrouble("the flow ended without a token")
        issuer, client_id, resource = self._plan.issuer or "", "", self._resource
        if isinstance(provider, OAuthClientProvider):
            context = provider.context
            metadata = context.oauth_metadata
            issuer = self._origin if metadata is None else str(metadata.issuer)
            client_id = "" if context.client_info is None else context.client_info.client_id
            asked = context.should_include_resource_param(revision)
            resource = context.get_resource_url() if asked else None
        elif not isinstance(self._plan.grant, AuthorizationCode):
            client_id = self._plan.grant.client_id
        tokens = tokens_of(
            came, issuer=issuer, client_id=client_id, resource=resource, now=self._now()
        )
        missing = not_granted(held, tokens)
        made = Credentials(tokens=tokens, registrations=held.registrations, wanted=missing)
        client = self._kept.client
        if self._kept.registered and client is not None and not self._is_document(client_id):
            redirect = None if self._person is None else self._person.redirect_uri
            made = made.registering(registration_of(client, issuer, redirect))
        return made

    def _is_document(self, client_id: str) -> bool:
        grant = self._plan.grant
        return isinstance(grant, AuthorizationCode) and grant.metadata_url == client_id


def _refusal(metadata: str, scope: str | None, request: httpx2.Request) -> httpx2.Response:
    """What the server said, in its simplest form and with the scopes that are wanted now."""
    said = {"resource_metadata": metadata, "scope": scope or ""}
    parts = ", ".join(f'{name}="{value}"' for name, value in said.items() if value)
    return httpx2.Response(
        401, headers={"WWW-Authenticate": f"Bearer {parts}".strip()}, request=request
    )
