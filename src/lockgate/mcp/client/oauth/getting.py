"""Getting credentials, once: what is kept, what is renewed, who is asked, and what is kept then.

Whatever is written is read again first, behind the lock of the store: of several processes one
gets new tokens, and the others find them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from lockgate.errors import ConfigError
from lockgate.mcp.client.oauth.guarded import Guarded, Reply
from lockgate.mcp.client.oauth.login import Login
from lockgate.mcp.client.oauth.plan import EnterpriseManaged, OAuthPlan
from lockgate.mcp.client.oauth.store import Credentials, CredentialStore, Tokens
from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble, Revoked
from lockgate.mcp.client.oauth.wishes import joined, place_for, said_in
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.transport.tokens import Challenge
from lockgate.process.hidden import Learned
from lockgate.web.lookup import Lookup

if TYPE_CHECKING:  # it brings the package along that is loaded when it is needed
    from lockgate.mcp.client.oauth.sdk.flow import Flow
    from lockgate.mcp.client.oauth.sdk.renewal import Renewal

logger = logging.getLogger(__name__)

EARLY: Final = 30.0
"""Seconds before their end in which tokens are renewed; of short-lived ones a tenth of their
life."""
MOST_WANTED: Final = 4096
"""Characters of scopes that are kept for the next log-in: a server may name others each time."""
NOTHING: Final = Challenge(401, "", None)
"""A refusal that says nothing."""
_PING: Final = b'{"jsonrpc":"2.0","id":0,"method":"ping"}'
_JSON: Final = (("Content-Type", "application/json"),)


class Getting:
    """Gets the credentials of one server; see `OAuthTokens`."""

    def __init__(
        self,
        endpoint: HttpEndpoint,
        plan: OAuthPlan,
        *,
        peer: str,
        store: CredentialStore,
        environ: Mapping[str, str],
        learned: Learned,
        now: Callable[[], float],
        lookup: Lookup | None,
    ) -> None:
        self.plan = plan
        self._endpoint = endpoint
        self._target = endpoint.target
        self._place = place_for(peer, self._target)
        self._store = store
        self._environ = environ
        self._learned = learned
        self._now = now
        self._lookup = lookup
        self._unkept: Credentials | None = None
        """What was got and could not be saved."""

    def due(self, tokens: Tokens) -> float | None:
        """When tokens are to be renewed; None for never. Seconds since the epoch."""
        if tokens.expires_at is None:
            return None
        return tokens.expires_at - min(EARLY, (tokens.expires_at - tokens.obtained_at) / 10)

    def is_good(self, tokens: Tokens, refused: str | None) -> bool:
        """Whether tokens can be tried: they are not the ones that were refused, nor over."""
        due = self.due(tokens)
        return header(tokens) != refused and (due is None or self._now() < due)

    async def kept(self) -> Credentials:
        """What is kept now. Raises `ConfigError`."""
        held = await self._store.load(self._place)
        if self._unkept is not None and self._is_newer(self._unkept, held):
            held = self._unkept
        for each in (held.tokens, *held.registrations):
            self._learned.learn(*(() if each is None else each.secrets()))
        return held

    def _is_newer(self, one: Credentials, other: Credentials) -> bool:
        """Of what was got and what is kept; where nothing is kept, somebody took it away."""
        if one.tokens is None or other.tokens is None:
            return False
        return one.tokens.obtained_at >= other.tokens.obtained_at

    async def unattended(self, challenge: Challenge | None) -> Credentials:
        """Credentials without a person: those that somebody else got meanwhile, or new ones.

        `challenge` is the refusal of the last; None: they have run out. Raises `OAuthTrouble`.
        """
        async with self._store.exclusive(self._place):
            held = await self.kept()
            refused = None if challenge is None else challenge.used
            if held.tokens is not None and self.is_good(held.tokens, refused):
                return held
            if self.plan.unattended:
                made = await self._flow(None, held, challenge or NOTHING)
            else:
                made = await self._without_a_person(held, challenge)
            try:
                await self._store.save(self._place, made)
                self._unkept = None
            except ConfigError as error:
                self._unkept = made
                # They are good all the same, and the old refresh token may be good no more.
                logger.warning("%s: new tokens can not be kept: %s", self._place.server, error)
            return made

    async def _without_a_person(
        self, held: Credentials, challenge: Challenge | None
    ) -> Credentials:
        """What can be done for a grant that needs a person, while nobody is there."""
        tokens = held.tokens
        if challenge is not None and challenge.status == 403:
            raise await self._too_little(held, challenge)
        if tokens is None:
            text = "the log-in has run out" if held.ended else "nobody is logged in"
            raise OAuthTrouble(text, Need.PERSON)
        if tokens.refresh_token is None:
            raise OAuthTrouble("the log-in has run out", Need.PERSON)
        try:
            return await self._renewal(held, challenge)
        except Revoked as revoked:
            others = held.registrations
            if revoked.client:
                others = tuple(each for each in others if each.issuer != tokens.issuer)
            left = Credentials(registrations=others, wanted=held.wanted, ended=True)
            await self._store.save(self._place, left)
            raise

    async def _too_little(self, held: Credentials, challenge: Challenge) -> OAuthTrouble:
        """The error for a scope that a person has to grant; the next log-in asks for it."""
        said = said_in(challenge).scope
        granted = held.tokens.scope if held.tokens is not None else None
        if not said:
            text = "it wants a scope that it does not name: set auth.scopes of this server"
            return OAuthTrouble(text, Need.PERSON)
        wanted = joined(granted or "", held.wanted or "", *self.plan.scopes, said)
        if wanted != held.wanted and len(wanted) <= MOST_WANTED:
            await self._store.save(self._place, msgspec.structs.replace(held, wanted=wanted))
        return OAuthTrouble(f"it wants the scope {said}", Need.PERSON)

    async def with_person(
        self, login: Login, challenge: Challenge | None, *, anew: bool = False
    ) -> Credentials:
        """Credentials by a log-in; `challenge` None: what the server wants is found out first.

        Unless `anew`, what somebody else got meanwhile will do, and what can be renewed. Raises
        `OAuthTrouble`.
        """
        async with self._store.exclusive(self._place, login=True):
            held = await self.kept()
            if not anew and challenge is not None:
                if held.tokens is not None and self.is_good(held.tokens, challenge.used):
                    return held
                if challenge.status == 401 and held.tokens is not None:
                    try:
                        return await self.unattended(challenge)
                    except OAuthTrouble as trouble:
                        if trouble.need is not Need.PERSON:
                            raise
                    held = await self.kept()
            made = await self._flow(login, held, challenge or await self._refusal())
            if anew:
                await self._tried(made)
            async with self._store.exclusive(self._place):
                await self._store.save(self._place, made)
            return made

    async def _refusal(self) -> Challenge:
        """What the server says to whoever comes without credentials."""
        reply = await self._pinged()
        return Challenge(401, reply.wants, None) if reply.status in (401, 403) else NOTHING

    async def _tried(self, made: Credentials) -> None:
        """See that the server takes what a person got. Raises `OAuthTrouble` if it refuses that."""
        tokens = made.tokens
        if tokens is None:
            return
        try:
            reply = await self._pinged(("Authorization", header(tokens)))
        except OAuthTrouble:
            return  # nothing is known, then; a call will tell
        if reply.status == 401:
            text = f"it does not accept the token that was just got from {tokens.issuer}"
            raise OAuthTrouble(f"{text}: ask who runs it; this login is not kept")

    async def _pinged(self, *more: tuple[str, str]) -> Reply:
        others = tuple(
            (name, value)
            for name, value in self._endpoint.headers.items()
            if name.lower() != "authorization"
        )
        address = self._target.address
        return await self._guarded().ask("POST", address, (*_JSON, *others, *more), _PING)

    # -------------------------------------------------------------- the flow

    async def _flow(
        self, login: Login | None, held: Credentials, challenge: Challenge
    ) -> Credentials:
        flow, _ = await _package()
        guarded = self._guarded()
        made = flow(self._target, self.plan, guarded, self._learned, now=self._now, login=login)
        return await made.run(held, challenge)

    async def _renewal(self, held: Credentials, challenge: Challenge | None) -> Credentials:
        _, renewal = await _package()
        made = renewal(self._target, self.plan, self._guarded(), self._learned, now=self._now)
        return await made.run(held, challenge)

    def _guarded(self) -> Guarded:
        plan = self.plan
        named = [] if plan.issuer is None else [plan.issuer]
        if isinstance(plan.grant, EnterpriseManaged):
            named.append(plan.grant.identity_provider)
        return Guarded(self._endpoint, self._environ, named=named, lookup=self._lookup)


def header(tokens: Tokens) -> str:
    """The value of `Authorization` (RFC 6750, 2.1)."""
    return f"Bearer {tokens.access_token}"


async def _package() -> tuple[type[Flow], type[Renewal]]:
    """What drives the package; loaded beside the loop, since it takes a second."""
    try:
        return await asyncio.to_thread(_load)
    except ImportError:
        text = "OAuth needs what is not installed: pip install 'lockgate[oauth]'"
        raise OAuthTrouble(text) from None


def _load() -> tuple[type[Flow], type[Renewal]]:
    from lockgate.mcp.client.oauth.sdk.flow import Flow
    from lockgate.mcp.client.oauth.sdk.renewal import Renewal

    return Flow, Renewal
