"""Where tokens and the registrations of clients are kept between runs.

Everything of one server is one value that is read and written whole, so that a store is nothing but
a place for it: a keyring, a file. Whoever reads in order to write holds `exclusive` meanwhile.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

import msgspec


@dataclass(frozen=True, slots=True)
class Place:
    """Whose credentials: two servers of one address may be two accounts, and a name that stands
    for another address now has none yet."""

    server: str
    """The configured name."""
    resource: str
    """The address of the server as tokens are bound to it (RFC 8707): `resource_of`."""
    query: str = ""
    """What tells apart addresses that differ in their query alone, which may choose a tenant: a
    digest, since it may be a secret. Empty for an address without one. Made by `place_for`."""


class Tokens(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an authorization server gave. Its `repr` holds no token."""

    issuer: str
    """Who gave them; sent to nobody else but the resource."""
    client_id: str
    """To whom."""
    access_token: str
    refresh_token: str | None = None
    resource: str | None = None
    """What they were asked for (RFC 8707); None if the server's own address was never named."""
    scope: str | None = None
    """What they are good for, as far as it is known; words with spaces between."""
    expires_at: float | None = None
    """Seconds since the epoch; None if it was not said."""
    obtained_at: float = 0.0
    """Seconds since the epoch."""

    def secrets(self) -> tuple[str, ...]:
        """What nothing that is said may hold."""
        return tuple(each for each in (self.access_token, self.refresh_token) if each)

    def __repr__(self) -> str:
        return f"<Tokens of {self.issuer}, scope {self.scope!r}>"


class Registration(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A client that an authorization server registered for us (RFC 7591)."""

    issuer: str
    client_id: str
    client_secret: str | None = None
    method: str | None = None
    """How the client proves itself at the token endpoint; None: it does not."""
    redirect_uri: str | None = None
    """What it was registered with; another one needs another registration."""
    expires_at: float | None = None
    """When the secret does; seconds since the epoch, None for never."""

    def secrets(self) -> tuple[str, ...]:
        """What nothing that is said may hold."""
        return () if not self.client_secret else (self.client_secret,)

    def __repr__(self) -> str:
        return f"<Registration with {self.issuer}>"


class Credentials(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that is kept of one server."""

    tokens: Tokens | None = None
    """Those that are used."""
    registrations: tuple[Registration, ...] = ()
    """At most one for each issuer."""
    wanted: str | None = None
    """Scopes that the server asked for and nobody granted."""
    ended: bool = False
    """Whether there were tokens, which are good for nothing any more."""

    def registered_with(self, issuer: str) -> Registration | None:
        """The registration with that authorization server; None if there is none."""
        return next((each for each in self.registrations if each.issuer == issuer), None)

    def registering(self, registration: Registration) -> Credentials:
        """The same with this one in the place of any other with the same issuer."""
        others = (each for each in self.registrations if each.issuer != registration.issuer)
        return msgspec.structs.replace(self, registrations=(*others, registration))


class CredentialStore(Protocol):
    """Keeps `Credentials`. Nothing of it ever reaches a log, an error or a `repr`.

    Every method raises `ConfigError` that says what to do when the place can not be used: a keyring
    that is locked, a file that others can read.
    """

    async def load(self, place: Place) -> Credentials:
        """What is kept; empty if nothing is. Not remembered: another process may have written."""
        ...

    async def save(self, place: Place, credentials: Credentials) -> None:
        """Keep this in place of what was kept; whole or not at all. Empty credentials are removed.

        Done when it returns, so that a token which replaced another is not lost.
        """
        ...

    def exclusive(self, place: Place, *, login: bool = False) -> AbstractAsyncContextManager[None]:
        """Nobody else is inside for this place, in this process or another one.

        Waits as long as it takes; the caller bounds that, and a cancelled wait holds nothing. With
        `login` it is another lock, which is held while a person logs in, the first one inside it.
        """
        ...
