"""What an operator may say, and what is refused with its reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.client.oauth.plan import (
    AuthorizationCode,
    ClientCredentials,
    EnterpriseManaged,
    OAuthPlan,
)

ISSUER = "https://auth.example.com"
SECRET = "the-secret-of-client"  # noqa: S105 - nobody's


def managed(**more: Any) -> EnterpriseManaged:
    """A whole one."""
    whole: dict[str, Any] = {
        "client_id": "client",
        "client_secret": SECRET,
        "identity_provider": "https://idp.example.com/token",
        "identity_client_id": "us",
        "identity_token": "the-identity-token",
    }
    return EnterpriseManaged(**{**whole, **more})


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: AuthorizationCode(client_secret=SECRET), "without a client ID"),
        (lambda: AuthorizationCode("x", metadata_url="https://a.example/c"), "keep one"),
        (lambda: AuthorizationCode(metadata_url="http://a.example/c"), "https"),
        (lambda: AuthorizationCode(metadata_url="https://a.example/"), "with a path"),
        (lambda: AuthorizationCode(redirect_port=0), "port"),
        (lambda: ClientCredentials("x"), "a client secret or a private key"),
        (lambda: ClientCredentials("x", SECRET, private_key=SECRET), "and one"),
        (lambda: ClientCredentials("x", private_key=SECRET, algorithm="none"), "RS256"),
        (lambda: managed(identity_token=None), "say one"),
        (lambda: managed(identity_token_file=Path("x")), "say one"),
        (lambda: managed(identity_provider="idp"), "token endpoint"),
        (lambda: OAuthPlan(issuer="auth.example.com"), "the issuer"),
        (lambda: OAuthPlan(ClientCredentials("x", SECRET)), "which authorization server"),
        (lambda: OAuthPlan(managed()), "which authorization server"),
        (lambda: OAuthPlan(AuthorizationCode("x", SECRET)), "which authorization server"),
        (lambda: OAuthPlan(scopes=("a b",)), "a scope"),
        (lambda: OAuthPlan(scopes=("",)), "a scope"),
        (lambda: OAuthPlan(scopes=('"',)), "a scope"),
    ],
)
def test_what_can_not_be_meant_is_refused(make: Callable[[], object], why: str) -> None:
    """Each with what is wrong, and without a secret in it."""
    with pytest.raises(ValueError, match=why) as raised:
        make()
    assert SECRET not in str(raised.value)


def test_secrets_are_known_and_never_shown() -> None:
    """What has to be hidden is told; no `repr` holds it; who needs a person is known."""
    key = "-----BEGIN PRIVATE KEY-----"
    plans = [
        OAuthPlan(ClientCredentials("x", SECRET), issuer=ISSUER),
        OAuthPlan(ClientCredentials("x", private_key=key), issuer=ISSUER),
        OAuthPlan(managed(), issuer=ISSUER),
        OAuthPlan(AuthorizationCode("x", SECRET), issuer=ISSUER),
        OAuthPlan(),
    ]
    assert [plan.unattended for plan in plans] == [True, True, True, False, False]
    assert [len(plan.secrets) for plan in plans] == [1, 1, 2, 1, 0]
    for plan in plans:
        assert all(secret not in repr(plan) for secret in plan.secrets)
