"""What an operator says about how the credentials of a server are got. Pure values."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

SecretMethod: TypeAlias = Literal["client_secret_basic", "client_secret_post"]
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""What an assertion may be signed with (RFC 7518, 3.1; RFC 8037)."""


@dataclass(frozen=True, slots=True)
class AuthorizationCode:
    """A person logs in with a browser (RFC 6749, 4.1, with PKCE); refreshed without one.

    Without a `client_id` the client is known by `metadata_url` where the authorization server takes
    that, and else registers itself (RFC 7591).
    """

    client_id: str | None = None
    """Of a client that was registered by hand."""
    client_secret: str | None = field(default=None, repr=False)
    """Its secret, where it has one; then the issuer has to be named."""
    method: SecretMethod = "client_secret_basic"
    """How the secret is presented (RFC 6749, 2.3.1)."""
    metadata_url: str | None = None
    """The address of a client ID metadata document; https, and more than an origin."""
    redirect_port: int | None = None
    """Of the loopback address that the person is sent back to; None for any that is free."""

    def __post_init__(self) -> None:
        if self.client_secret is not None and self.client_id is None:
            raise ValueError("a client secret without a client ID is of no use")
        if self.client_id is not None and self.metadata_url is not None:
            raise ValueError("a client ID and the address of a metadata document: keep one")
        if self.metadata_url is not None and not _is_document(self.metadata_url):
            raise ValueError("a client ID metadata document has an https address with a path")
        if self.redirect_port is not None and not 0 < self.redirect_port < 65536:
            raise ValueError("the port of the redirect is not between 1 and 65535")

    @property
    def secrets(self) -> tuple[str, ...]:
        """What nothing that is said may hold."""
        return () if self.client_secret is None else (self.client_secret,)


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """The program itself is the client (RFC 6749, 4.4): by a secret, or by a key that signs.

    Source: extensions/auth/oauth-client-credentials.
    """

    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    method: SecretMethod = "client_secret_basic"
    private_key: str | None = field(default=None, repr=False)
    """PEM; signs an assertion in place of a secret (RFC 7523, private_key_jwt)."""
    algorithm: str = "RS256"
    """What the assertion is signed with: one of `ALGORITHMS`."""

    def __post_init__(self) -> None:
        if (self.client_secret is None) == (self.private_key is None):
            raise ValueError("client credentials need a client secret or a private key, and one")
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"an assertion is signed with one of {', '.join(ALGORITHMS)}")

    @property
    def secrets(self) -> tuple[str, ...]:
        """What nothing that is said may hold."""
        return tuple(each for each in (self.client_secret, self.private_key) if each is not None)


@dataclass(frozen=True, slots=True)
class EnterpriseManaged:
    """The organisation's identity provider says who may use the server (SEP-990).

    An identity token is exchanged there for an assertion (ID-JAG), and that for an access token at
    the server's own authorization server, which is the plan's issuer. Source:
    extensions/auth/enterprise-managed-authorization.
    """

    client_id: str
    """At the server's authorization server."""
    client_secret: str = field(repr=False)
    identity_provider: str
    """The address of the identity provider's token endpoint."""
    identity_client_id: str
    """At the identity provider."""
    identity_client_secret: str | None = field(default=None, repr=False)
    identity_token: str | None = field(default=None, repr=False)
    """What the person's log-in at the identity provider gave: an OpenID Connect ID token."""
    identity_token_file: Path | None = None
    """A file that holds it; read each time."""
    method: SecretMethod = "client_secret_post"

    def __post_init__(self) -> None:
        if (self.identity_token is None) == (self.identity_token_file is None):
            raise ValueError("the identity token stands in the configuration or in a file: say one")
        if not _is_web(self.identity_provider):
            raise ValueError("the identity provider is named by the address of its token endpoint")

    @property
    def secrets(self) -> tuple[str, ...]:
        """What nothing that is said may hold."""
        held = (self.client_secret, self.identity_client_secret, self.identity_token)
        return tuple(each for each in held if each is not None)


Grant: TypeAlias = AuthorizationCode | ClientCredentials | EnterpriseManaged


@dataclass(frozen=True, slots=True)
class OAuthPlan:
    """How the credentials of one server are got. Making one raises `ValueError` without a value."""

    grant: Grant = field(default_factory=AuthorizationCode)
    scopes: tuple[str, ...] = ()
    """Asked for in place of what the server says it needs; what it asks for later is added."""
    issuer: str | None = None
    """The authorization server to use, and no other; needed wherever a secret or a key is sent, so
    that the server does not decide who gets it. None: the one that the server names."""

    def __post_init__(self) -> None:
        if self.issuer is not None and not _is_web(self.issuer):
            raise ValueError("the issuer is the http(s) address of an authorization server")
        if self.issuer is None and self.grant.secrets:
            raise ValueError(
                "the issuer is missing: say which authorization server the secret is for"
            )
        for scope in self.scopes:
            if not scope or not all(_of_scope(each) for each in scope):
                raise ValueError("a scope is printable ASCII without spaces, quotes, backslashes")

    @property
    def unattended(self) -> bool:
        """Whether no person is ever needed."""
        return not isinstance(self.grant, AuthorizationCode)

    @property
    def extension(self) -> str | None:
        """The extension of MCP that the grant is, which a client declares; None for what is in the
        specification itself."""
        if isinstance(self.grant, ClientCredentials):
            return "io.modelcontextprotocol/oauth-client-credentials"
        if isinstance(self.grant, EnterpriseManaged):
            return "io.modelcontextprotocol/enterprise-managed-authorization"
        return None

    @property
    def secrets(self) -> tuple[str, ...]:
        """What nothing that is said may hold."""
        return self.grant.secrets


def _of_scope(character: str) -> bool:
    return "!" <= character <= "~" and character not in '"\\'


def _is_web(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.fragment


def _is_document(address: str) -> bool:
    return (
        _is_web(address)
        and address.startswith("https://")
        and urlsplit(address).path not in ("", "/")
    )
