"""Tokens by OAuth for the requests to one server: the `TokenSource` over a plan and a store.

Calls take what there is. Whoever needs something else waits for the one task that gets it, which
goes on if they do not: a refresh token that was used up must not be lost with a call that was
cancelled. Nobody is asked to log in unless a `Login` was given. Decision: docs/decisions/0036.
"""

from __future__ import annotations

import asyncio
import logging
import shlex
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from lockgate.errors import ConfigError, Fate, Fault, LocalError, PeerError, Phase
from lockgate.mcp.client.journal import trace
from lockgate.mcp.client.oauth.getting import Getting, header
from lockgate.mcp.client.oauth.login import Login
from lockgate.mcp.client.oauth.plan import OAuthPlan
from lockgate.mcp.client.oauth.store import Credentials, CredentialStore, Tokens
from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble
from lockgate.mcp.client.oauth.wishes import scope_for
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.transport.tokens import Challenge
from lockgate.process.hidden import Hidden, Learned
from lockgate.web.lookup import Lookup

logger = logging.getLogger(__name__)

BOUND: Final = 60.0
"""Seconds that getting tokens may take where nobody is asked, the wait for others included."""
LOGIN: Final = 600.0
"""Seconds that a person has."""
SETTLING: Final = 5.0
"""Seconds in which what is under way may end when nobody needs it any more."""
QUICK: Final = 5.0
"""Seconds: tokens that are refused within them were never good; a failure is not repeated within
them."""
TOO_QUICK: Final = 2
"""How often in a row that may happen: a server may forget its tokens just when they were got. To
one message it does not happen twice: each time uses up what renews them."""
UNNAMED: Final = "a scope that it does not name"
AGAIN: Final = 60.0
"""Seconds within which a scope that was granted and did not do is not asked for again."""


class OAuthTokens:
    """The credentials of one server. Its `repr` holds none."""

    def __init__(
        self,
        endpoint: HttpEndpoint,
        plan: OAuthPlan,
        *,
        peer: str,
        store: CredentialStore,
        environ: Mapping[str, str],
        login: Login | None = None,
        now: Callable[[], float] = time.time,
        lookup: Lookup | None = None,
    ) -> None:
        """`peer` is the configured name of the server. `environ` names proxies, if the endpoint
        leaves that to it. `login` is a person who is there for as long as this is used; without
        one, what needs a person is an error that says so. `now`: seconds since the epoch."""
        self._peer = peer
        self._learned = Learned()
        self._learned.learn(*plan.secrets)
        # Those of the plan by themselves too: what is learned is forgotten in the end.
        self._hidden = Hidden((*endpoint.secrets(), *plan.secrets), self._learned)
        self._getting = Getting(
            endpoint,
            plan,
            peer=peer,
            store=store,
            environ=environ,
            learned=self._learned,
            now=now,
            lookup=lookup,
        )
        self._plan = plan
        self._login = login
        self._now = now
        self._held: Credentials | None = None
        """What is kept, as far as it was looked at."""
        self._value: str | None = None
        self._due: float | None = None
        """When it is to be renewed; None: not by the clock."""
        self._over: float | None = None
        """When it is good for nothing any more, by the clock."""
        self._got = 0.0
        """When it was got."""
        self._quick = 0
        """How often in a row tokens were refused as soon as they were got."""
        self._grown: dict[str, float] = {}
        """When which scopes were asked for after a refusal."""
        self._failed: tuple[float, OAuthTrouble] | None = None
        """What went wrong last, and until when it is not tried again."""
        self._flight: asyncio.Task[OAuthTrouble | None] | None = None

    # -------------------------------------------------------------- TokenSource

    @property
    def learned(self) -> Learned:
        """Everything secret that was got, and that is got later."""
        return self._learned

    @property
    def busy(self) -> bool:
        """Whether tokens are being got just now."""
        return self._flight is not None and not self._flight.done()

    async def authorization(self) -> str | None:
        """See `TokenSource.authorization`."""
        now = self._now()
        if self._held is not None and (self._due is None or now < self._due):
            return self._value
        good = self._value is not None and self._over is not None and now < self._over
        if good and self._held is not None:
            if self._failed is None or now >= self._failed[0]:
                self._begin(None)  # beside the calls: they go on with what is good yet
            return self._value
        try:
            await self._wait(None)
        except PeerError:
            if not good:
                raise
        return self._value

    async def challenged(self, challenge: Challenge) -> bool:
        """See `TokenSource.challenged`."""
        for _ in range(2):  # what is under way may have begun before this refusal
            if self._value is not None and self._value != challenge.used:
                return True
            await self._wait(challenge)
        return self._value is not None and self._value != challenge.used

    async def settle(self) -> None:
        """See `TokenSource.settle`."""
        flight = self._flight
        if flight is None or flight.done():
            return
        await asyncio.wait((flight,), timeout=SETTLING)
        if not flight.done():
            flight.cancel()
            await asyncio.wait((flight,), timeout=SETTLING)

    # -------------------------------------------------------------- for a person

    async def log_in(self) -> Tokens:
        """Let the person log in now, whatever is kept; returns what that gave.

        Raises `PeerError`, and `LocalError` without a `Login`.
        """
        if self._login is None:
            raise LocalError("nobody is there to log in")
        await self.settle()
        self._failed = None
        self._flight = asyncio.get_running_loop().create_task(
            self._told(self._logging_in(self._login, None, anew=True), LOGIN)
        )
        await self._landed(self._flight, cancel=True)
        if self._held is None or self._held.tokens is None:
            raise self._error(OAuthTrouble("the log-in gave nothing"))
        return self._held.tokens

    # -------------------------------------------------------------- one at a time

    async def _wait(self, challenge: Challenge | None) -> None:
        """Wait for what is being got, or get it."""
        await self._landed(self._begin(challenge))

    def _begin(self, challenge: Challenge | None) -> asyncio.Task[OAuthTrouble | None]:
        """The task that gets tokens: the one that is at it, or a new one."""
        flight = self._flight
        if flight is None or flight.done():
            attended = self._login is not None and challenge is not None
            work = self._get(challenge)
            bound = LOGIN if attended and not self._plan.unattended else BOUND
            flight = asyncio.get_running_loop().create_task(
                self._told(work, bound), name=f"lockgate {self._peer} gets tokens"
            )
            self._flight = flight
        return flight

    async def _landed(
        self, flight: asyncio.Task[OAuthTrouble | None], *, cancel: bool = False
    ) -> None:
        try:
            await asyncio.wait((flight,))
        except BaseException:
            if cancel:
                flight.cancel()
            raise
        if flight.cancelled():
            raise self._error(OAuthTrouble("getting tokens was stopped", Need.TIME))
        trouble = flight.result()
        if trouble is not None:
            raise self._error(trouble)

    async def _told(self, work: Coroutine[Any, Any, None], bound: float) -> OAuthTrouble | None:
        """Do it, within the bound; what stood in the way, for everybody who waits."""
        clock = asyncio.timeout(bound)
        try:
            async with clock:
                await work
        except TimeoutError:
            if not clock.expired():
                raise
            text = f"no tokens were got within {bound:g} s; another program may be at it"
            return self._noted(OAuthTrouble(text, Need.TIME))
        except OAuthTrouble as trouble:
            return self._noted(trouble)
        except ConfigError as error:
            return self._noted(OAuthTrouble(str(error)))
        except Exception as error:  # noqa: BLE001 - told by type and place: its text may hold a token
            logger.error(
                "%s: getting tokens failed in lockgate itself: %s", self._peer, trace(error)
            )
            text = f"its tokens could not be got ({type(error).__name__}): that is a fault of ours"
            return self._noted(OAuthTrouble(text))
        self._failed = None
        return None

    def _noted(self, trouble: OAuthTrouble) -> OAuthTrouble:
        again = self._failed is not None and trouble is self._failed[1]
        if trouble.need is not Need.PERSON and not again:  # said again, it does not last longer
            self._failed = self._now() + QUICK, trouble
        return trouble

    # -------------------------------------------------------------- getting

    async def _get(self, challenge: Challenge | None) -> None:
        """Whatever there is to be had now. Raises `OAuthTrouble`, `ConfigError`."""
        if self._failed is not None and self._now() < self._failed[0]:
            raise self._failed[1].with_traceback(None)  # else it grows with everyone who is told
        if self._held is None:
            self._take(await self._getting.kept(), got=0.0)
            value = self._value
            fresh = self._due is None or self._now() < self._due
            if challenge is None and fresh:
                return
            if challenge is not None and value is not None and value != challenge.used and fresh:
                return
        if challenge is None and not self._renewable:
            self._due = None  # the server will say
            return
        scope = "" if challenge is None else self._bounded(challenge)
        try:
            if challenge is not None and self._login is not None and not self._plan.unattended:
                await self._logging_in(self._login, challenge)
            else:
                self._take(await self._getting.unattended(challenge))
        except OAuthTrouble:
            self._held = None  # it may be another one by the next time
            raise
        if scope:
            self._grown[scope] = self._now()

    async def _logging_in(
        self, login: Login, challenge: Challenge | None, *, anew: bool = False
    ) -> None:
        self._take(await self._getting.with_person(login, challenge, anew=anew))

    @property
    def _renewable(self) -> bool:
        """Whether tokens that have run out can be got anew without anybody."""
        tokens = None if self._held is None else self._held.tokens
        return self._plan.unattended or (tokens is not None and tokens.refresh_token is not None)

    def _take(self, held: Credentials, got: float | None = None) -> None:
        """Use what is kept now; `got` is when it came, by default at this moment."""
        self._held = held
        tokens = held.tokens
        value = None if tokens is None else header(tokens)
        if value != self._value and value is not None:
            self._got = self._now() if got is None else got
        self._value = value
        self._due = None if tokens is None else self._getting.due(tokens)
        self._over = None if tokens is None else tokens.expires_at

    def _bounded(self, challenge: Challenge) -> str:
        """See that getting more and more comes to an end; the scopes that are missing now.

        Raises `OAuthTrouble`.
        """
        now = self._now()
        if challenge.status == 403:
            scope = scope_for(self._plan, self._held or Credentials(), challenge) or UNNAMED
            self._grown = {each: at for each, at in self._grown.items() if now - at < AGAIN}
            if scope in self._grown:
                wants = scope if scope == UNNAMED else f"the scope {scope}"
                text = f"it wants {wants}, and what was got for that does not do"
                raise OAuthTrouble(text)
            return scope
        if self._value is None or now - self._got >= QUICK:
            self._quick = 0
            return ""
        self._quick += 1
        if challenge.again or self._quick > TOO_QUICK:
            issuer = self._held.tokens.issuer if self._held and self._held.tokens else "there"
            raise OAuthTrouble(f"it does not accept the token that was just got from {issuer}")
        return ""

    def _error(self, trouble: OAuthTrouble) -> PeerError:
        """The same for the caller: nothing was sent, or what was sent was not acted on."""
        text = f"{self._peer}: {trouble}"
        if trouble.need is Need.PERSON:
            text += f"; log in with: lockgate mcp login {shlex.quote(self._peer)}"
        fault = Fault.NOT_CONNECTED if trouble.need is Need.TIME else Fault.UNAUTHORIZED
        return PeerError(
            self._hidden.hide(text),
            peer=self._peer,
            phase=Phase.CONNECT,
            fault=fault,
            fate=Fate.NOT_SENT,
        )

    def __repr__(self) -> str:
        return f"<OAuthTokens of {self._peer}>"
