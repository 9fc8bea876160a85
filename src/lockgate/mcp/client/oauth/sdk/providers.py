"""The flow of the `mcp` package for each grant of a plan."""

from __future__ import annotations

from typing import TypeAlias

from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.shared.auth import OAuthClientMetadata
from pydantic import AnyUrl

from lockgate.mcp.client.oauth.plan import (
    AuthorizationCode,
    ClientCredentials,
    EnterpriseManaged,
    OAuthPlan,
)
from lockgate.mcp.client.oauth.sdk.identity import IdentityProvider
from lockgate.mcp.client.oauth.sdk.kept import Kept
from lockgate.mcp.client.oauth.sdk.person import Person

Provider: TypeAlias = OAuthClientProvider | IdentityAssertionOAuthProvider


def of_person(
    grant: AuthorizationCode, resource: str, kept: Kept, person: Person | None
) -> OAuthClientProvider:
    """By a log-in; without a `person` it can renew, and nothing else."""
    if person is None:
        metadata = OAuthClientMetadata(redirect_uris=None, client_name="lockgate")
        return OAuthClientProvider(resource, metadata, kept)
    redirects = [AnyUrl(person.redirect_uri)]
    provider = OAuthClientProvider(
        resource,
        OAuthClientMetadata(redirect_uris=redirects, client_name="lockgate"),
        kept,
        person.show,
        person.answer,
        grant.metadata_url,
    )
    person.context = provider.context
    return provider


def of_program(
    grant: ClientCredentials, plan: OAuthPlan, resource: str, kept: Kept, scope: str | None
) -> OAuthClientProvider:
    """By a secret, or by a key that signs for its client."""
    issuer = plan.issuer  # a plan with a secret has one
    if grant.client_secret is not None:
        return ClientCredentialsOAuthProvider(
            resource, kept, grant.client_id, grant.client_secret, grant.method, scope, issuer
        )
    signed = SignedJWTParameters(
        issuer=grant.client_id,
        subject=grant.client_id,
        signing_key=grant.private_key or "",
        signing_algorithm=grant.algorithm,
    )
    assertion = signed.create_assertion_provider()
    return PrivateKeyJWTOAuthProvider(resource, kept, grant.client_id, assertion, scope, issuer)


def of_organisation(
    grant: EnterpriseManaged,
    plan: OAuthPlan,
    resource: str,
    kept: Kept,
    identity: IdentityProvider,
    scope: str | None,
) -> IdentityAssertionOAuthProvider:
    """By an assertion of the identity provider."""
    return IdentityAssertionOAuthProvider(
        resource,
        kept,
        grant.client_id,
        grant.client_secret,
        plan.issuer or "",
        identity.assertion,
        scope,
        grant.method,
    )
