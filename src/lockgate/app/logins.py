"""Logging in and out of servers, and what is known of it: the application behind `lockgate mcp`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from lockgate.app.finding import Finding
from lockgate.errors import ConfigError, Problem
from lockgate.mcp.client.bearer import BearerFile
from lockgate.mcp.client.oauth.plan import OAuthPlan
from lockgate.mcp.client.oauth.store import Credentials, Place
from lockgate.mcp.client.oauth.wishes import place_for
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.transport.tokens import Challenge
from lockgate.settings.config import Config
from lockgate.settings.findings import spelling_hint
from lockgate.showing import quoted
from lockgate.web.target import LocationError, read_target

if TYPE_CHECKING:  # they bring HTTP along, which lists do without
    from lockgate.mcp.client.oauth.login import Login as Person
    from lockgate.mcp.client.oauth.source import OAuthTokens
    from lockgate.mcp.client.oauth.store import Tokens
    from lockgate.stores.credentials import KeptCredentials
    from lockgate.stores.credentials_file import Login

LoginState: TypeAlias = Literal["none", "logged-in", "expired", "more-wanted", "not-needed"]
ALONE: Final = 90.0
"""Seconds to wait for a program that renews the login, and for the keyring."""
REVOKING: Final = 20.0
"""Seconds that taking tokens back may take."""


@dataclass(frozen=True, slots=True)
class KnownLogin:
    """What is known of the login of one server, without asking anybody. Holds no token."""

    state: LoginState
    """`more-wanted`: the server asked for scopes that were not granted. `not-needed`: tokens are
    got without a person."""
    issuer: str | None = None
    scope: str | None = None
    """Words with spaces between; None if it was not said."""
    expires_at: float | None = None
    """Seconds since 1970; None if it was not said."""
    renewable: bool = False
    """Whether it is renewed by itself: then it ends only when that is refused."""
    kept_in: str | None = None
    """`keyring` or `file`."""
    wanted: str | None = None
    """The scopes that were asked for and not granted."""


@dataclass(frozen=True, slots=True)
class LoggedOut:
    """What came of a logout."""

    server: str
    resource: str
    forgotten: bool
    """Whether there was anything."""
    revoked: bool = False
    """Whether the authorization server said that it took the tokens back."""
    problem: str | None = None
    """Why it did not; None if it was not to be asked either."""


class Logins:
    """The logins of a person, for the servers of one configuration or any that are kept."""

    def __init__(self, config: Config, environ: Mapping[str, str], store: KeptCredentials) -> None:
        self._config = config
        self._environ = environ
        self._store = store

    def server(self, name: str) -> ServerSettings:
        """The server of that name, if it has an `auth` of ours. Raises `ConfigError`."""
        for server in self._config.servers:
            if server.name == name:
                if isinstance(server.auth, OAuthPlan):
                    return server
                raise ConfigError(_no_login(server))
        names = [server.name for server in self._config.servers]
        hint = spelling_hint(name, names, what="configured") if names else "none is configured"
        raise ConfigError(Problem(f"no server called {quoted(name)} is configured", hint=hint))

    async def log_in(self, server: ServerSettings, person: Person) -> Tokens:
        """Let a person log in to it now. Raises `PeerError`."""
        source = self._source(server, person)
        try:
            return await source.log_in()
        finally:
            await source.settle()

    async def try_once(self, server: ServerSettings) -> None:
        """Get tokens for a server that needs no person, whatever is kept. Raises `PeerError`."""
        source = self._source(server, None)
        try:
            used = await source.authorization()
            await source.challenged(Challenge(401, "", used))
        finally:
            await source.settle()

    async def log_out(self, place: Place) -> LoggedOut:
        """Forget what is kept, and have the authorization server forget it, if it can be asked.

        It is forgotten here in any case. Raises `ConfigError` if that can not be.
        """
        from lockgate.mcp.client.oauth.trouble import OAuthTrouble

        known = self._store.login(place)
        if known is None:
            return LoggedOut(place.server, place.resource, False)
        problem: str | None = None
        kept = Credentials()
        try:
            async with asyncio.timeout(ALONE), self._store.exclusive(place):
                try:
                    kept = await self._store.load(place)
                except ConfigError as error:  # a keyring that is locked, say
                    problem = error.problems[0].message
                await self._store.save(place, Credentials())
        except TimeoutError:
            message = f"another program renews the login of {place.server} and does not end"
            raise ConfigError(Problem(message, hint="end it, or try again")) from None
        revoked = False
        if kept.tokens is not None:
            try:
                revoked = await self._revoke(place, kept)
                if not revoked:
                    problem = f"{kept.tokens.issuer} has no place to take tokens back"
            except OAuthTrouble as trouble:
                problem = str(trouble)
        return LoggedOut(place.server, place.resource, True, revoked, problem)

    async def _revoke(self, place: Place, kept: Credentials) -> bool:
        from lockgate.mcp.client.oauth.guarded import Guarded
        from lockgate.mcp.client.oauth.revoking import revoke
        from lockgate.mcp.client.oauth.trouble import OAuthTrouble

        server = next((s for s in self._config.servers if place_of(s) == place), None)
        plan = server.auth if server is not None and isinstance(server.auth, OAuthPlan) else None
        endpoint = HttpEndpoint(place.resource)
        if server is not None and isinstance(server.endpoint, HttpEndpoint):
            endpoint = server.endpoint
        named = [plan.issuer] if plan is not None and plan.issuer is not None else []
        try:
            async with asyncio.timeout(REVOKING):
                guarded = Guarded(endpoint, self._environ, named=named)
                return await revoke(kept, plan, guarded)
        except TimeoutError:
            text = f"its authorization server did not answer within {REVOKING:g} s"
            raise OAuthTrouble(text) from None

    def _source(self, server: ServerSettings, person: Person | None) -> OAuthTokens:
        from lockgate.mcp.client.oauth.source import OAuthTokens

        if not isinstance(server.endpoint, HttpEndpoint) or not isinstance(server.auth, OAuthPlan):
            raise ConfigError(_no_login(server))
        return OAuthTokens(
            server.endpoint,
            server.auth,
            peer=server.name,
            store=self._store,
            environ=self._environ,
            login=person,
        )


def place_of(server: ServerSettings) -> Place | None:
    """Where its login is kept; None for a program."""
    if not isinstance(server.endpoint, HttpEndpoint):
        return None
    return place_for(server.name, server.endpoint.target)


def place_at(name: str, url: str) -> Place | None:
    """The same of a server as it is written; None where that is no address."""
    try:
        return place_for(name, read_target(url))
    except LocationError:
        return None


def known_login(login: Login | None, now: float, *, unattended: bool = False) -> KnownLogin:
    """What an entry of the file of logins says; None: there is none."""
    if login is None or not login.has_tokens:
        if unattended:
            return KnownLogin("not-needed")
        return KnownLogin("expired" if login is not None and login.ended else "none")
    state: LoginState = "logged-in"
    if unattended:
        state = "not-needed"
    elif login.expires_at is not None and login.expires_at <= now and not login.renewable:
        state = "expired"
    elif login.wanted:
        state = "more-wanted"
    return KnownLogin(
        state,
        login.issuer,
        login.scope,
        login.expires_at,
        login.renewable,
        login.kept_in,
        login.wanted,
    )


def login_findings(config: Config, now: float) -> Iterator[Finding]:
    """What of the logins will keep a server from starting, as far as it is known here."""
    plans = [(each, each.auth) for each in config.servers if isinstance(each.auth, OAuthPlan)]
    if not plans:
        return
    if find_spec("mcp") is None:
        what = f"{plans[0][0].name} has auth: oauth, and what does that is not installed"
        yield Finding("mcp.servers", what, "pip install 'lockgate[oauth]'")
    path = config.credentials.file
    if path is None:
        return
    from lockgate.stores.credentials_file import CredentialsFile

    try:
        logins = CredentialsFile(path, new_id=str).read()
    except ConfigError as error:
        problem = error.problems[0]
        yield Finding(str(path), problem.message, problem.hint)
        return
    for server, plan in plans:
        login = next((each for each in logins if each.place == place_of(server)), None)
        known = known_login(login, now, unattended=plan.unattended)
        if known.state in ("none", "expired"):
            ended = known.state == "expired"
            what = "the login to it has ended" if ended else "nobody is logged in to it"
            hint = f"lockgate mcp login {server.name}"
            yield Finding(f"server {server.name}", what, hint, note=True)


def _no_login(server: ServerSettings) -> Problem:
    name = server.name
    if not isinstance(server.endpoint, HttpEndpoint):
        return Problem(
            f"{name} is started as a program, and nobody logs in to it",
            hint="secrets of a program stand in its env",
        )
    if isinstance(server.auth, BearerFile):
        hint = "it needs no login; put another token there if it does not work"
        return Problem(f"{name} uses the token in {server.auth.path}", hint=hint)
    if any(header.lower() == "authorization" for header in server.endpoint.headers):
        hint = "to log in instead: take the header or the token out, and add auth: oauth"
        return Problem(f"{name} has a header Authorization, or a token of its own", hint=hint)
    return Problem(f"{name} has no auth: nobody logs in to it", hint="add auth: oauth to its entry")


def login_data(known: KnownLogin) -> dict[str, Any]:
    """The same for programs."""
    return {
        "state": known.state,
        "issuer": known.issuer,
        "scope": known.scope,
        "expiresAt": known.expires_at,
        "renewable": known.renewable,
        "keptIn": known.kept_in,
        "wanted": known.wanted,
    }
