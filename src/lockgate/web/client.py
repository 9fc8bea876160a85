"""One guarded request over HTTP: every address examined, every redirect judged, all of it bounded.

Nothing is sent that was not given: no cookies, no credentials, no proxy or password that the
environment or a file in the home directory names. Import it late: it brings the HTTP library along.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final, TypeAlias
from urllib.parse import urljoin

import aiohttp

from lockgate.decision import Reason
from lockgate.errors import Fault
from lockgate.web.addresses import AddressRules
from lockgate.web.decoding import ACCEPTED, decoder_for
from lockgate.web.exchange import Exchange
from lockgate.web.limits import MAX_FIELDS, MAX_LINE, Limits
from lockgate.web.location import Location, LocationError, locate
from lockgate.web.lookup import Lookup, SystemLookup
from lockgate.web.pinned import Pinned
from lockgate.web.refusal import WebRefused
from lockgate.web.response import Response

Judge: TypeAlias = Callable[[Location], Reason | None]
"""Whether a redirect may be followed to an address: None, or why not."""

USER_AGENT: Final = "lockgate"
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class WebClient:
    """Makes requests under fixed rules and limits. Keeps no connection and nothing else."""

    def __init__(
        self,
        *,
        addresses: AddressRules | None = None,
        limits: Limits | None = None,
        lookup: Lookup | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`addresses` default to public ones alone, `lookup` to the system's resolver, `tls` to the
        system's certificates; a context that is given has to verify certificates and names."""
        if tls is not None and (tls.verify_mode is not ssl.CERT_REQUIRED or not tls.check_hostname):
            raise ValueError("the TLS context does not verify who it talks to")
        self._addresses = addresses or AddressRules()
        self._limits = limits or Limits()
        self._lookup = lookup or SystemLookup()
        self._tls = tls

    @asynccontextmanager
    async def get(
        self, at: Location, *, allowed: Judge, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[Response, None]:
        """Ask for `at` with GET and follow redirects; `headers` are sent along at each of them.

        The context holds the connection: leaving it, or being cancelled in it, ends it at once. The
        limit on the whole time counts what is done inside as well. `allowed` is asked about every
        redirect, after the address rules; `at` itself was judged by whoever calls.

        Raises `WebRefused` for what this side does not do, `PeerError` for what went wrong, with
        the fate of the last request that was made. Messages name scheme, host and port at most.
        """
        exchange = Exchange(self._limits)
        pinned = Pinned()
        try:
            async with exchange.bounded(), self._session(exchange, pinned) as session:
                with exchange.translated():
                    answer = await self._follow(
                        session, exchange, pinned, at, allowed, headers or {}
                    )
                try:
                    yield self._response(exchange, answer)
                finally:
                    answer.close()
        finally:
            await pinned.close()

    @asynccontextmanager
    async def post(
        self, at: Location, body: bytes, *, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[Response, None]:
        """Send `body` to `at` with POST; a redirect is an answer like any other, and not followed:
        what is sent there was meant for `at` alone.

        Context and errors are those of `get`.
        """
        exchange = Exchange(self._limits)
        pinned = Pinned()
        try:
            async with exchange.bounded(), self._session(exchange, pinned) as session:
                with exchange.translated():
                    exchange.turn_to(at)
                    await self._examine(exchange, pinned)
                    answer = await session.post(
                        at.url,
                        data=body,
                        headers={**(headers or {}), "Accept-Encoding": ACCEPTED},
                        allow_redirects=False,
                    )
                try:
                    yield self._response(exchange, answer)
                finally:
                    answer.close()
        finally:
            await pinned.close()

    async def _follow(
        self,
        session: aiohttp.ClientSession,
        exchange: Exchange,
        pinned: Pinned,
        at: Location,
        allowed: Judge,
        headers: Mapping[str, str],
    ) -> aiohttp.ClientResponse:
        for _ in range(self._limits.redirects + 1):
            exchange.turn_to(at)
            await self._examine(exchange, pinned)
            answer = await session.get(
                at.url, headers={**headers, "Accept-Encoding": ACCEPTED}, allow_redirects=False
            )
            target = answer.headers.get("Location", "")
            if answer.status not in _REDIRECTS or not target:
                return answer
            answer.close()
            at = self._next(exchange, target, allowed)
        raise exchange.refuse("redirect_limit", f"{self._limits.redirects} were followed already")

    async def _examine(self, exchange: Exchange, pinned: Pinned) -> None:
        """Look every address of the host up, once, and pin them if all of them may be reached."""
        at, rules = exchange.at, self._addresses
        objection = rules.objection_to(at)
        if objection is not None:
            raise exchange.refuse("address_refused", objection)
        if pinned.addresses_of(at.host) is not None:
            return
        if at.ip is not None:
            pinned.pin(at.host, (at.host,))
            return
        found = await self._found(exchange)
        objection = rules.objection_to_any(found)
        if objection is not None:
            raise exchange.refuse("address_refused", objection)
        pinned.pin(at.host, found)

    async def _found(self, exchange: Exchange) -> tuple[str, ...]:
        limit = self._limits.lookup
        try:
            async with asyncio.timeout(limit):
                found = await self._lookup(exchange.at.host)
        except TimeoutError:
            what = f"could not be looked up within {limit:g} s"
            raise exchange.fail(Fault.TIMEOUT, what) from None
        except OSError:
            raise exchange.fail(Fault.NOT_CONNECTED, "could not be looked up") from None
        if not found:
            raise exchange.fail(Fault.NOT_CONNECTED, "has no address")
        return found

    def _next(self, exchange: Exchange, target: str, allowed: Judge) -> Location:
        came_from = exchange.at
        try:
            # Blanks are what servers forget to escape most, and all programs read them alike.
            at = locate(urljoin(came_from.text, target.strip(" ").replace(" ", "%20")))
        except (LocationError, ValueError) as error:
            why = str(error) if isinstance(error, LocationError) else "it can not be read"
            raise exchange.refuse("redirect_unreadable", why) from None
        exchange.turn_to(at)
        if came_from.scheme == "https" and at.scheme == "http":
            raise exchange.refuse("redirect_downgrade", "it leads from https to http")
        objection = self._addresses.objection_to(at)
        if objection is not None:
            raise exchange.refuse("address_refused", objection)
        reason = allowed(at)
        if reason is not None:
            raise WebRefused(reason, at, redirected=True)
        return at

    def _response(self, exchange: Exchange, answer: aiohttp.ClientResponse) -> Response:
        encoding = answer.headers.get("Content-Encoding", "")
        decoder = decoder_for(encoding)
        if decoder is None:
            raise exchange.fail(Fault.MALFORMED, "sent a compression that was not asked for")
        return Response(
            exchange.at,
            answer.status,
            answer.headers,
            answer.content,
            decoder,
            exchange,
            self._limits.received,
        )

    def _session(self, exchange: Exchange, pinned: Pinned) -> aiohttp.ClientSession:
        times = aiohttp.ClientTimeout(
            total=None, sock_connect=self._limits.connect, sock_read=self._limits.idle
        )
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=pinned,
                socket_factory=pinned.socket,
                use_dns_cache=False,
                force_close=True,
                ssl=True if self._tls is None else self._tls,
            ),
            headers={"User-Agent": USER_AGENT},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            timeout=times,
            max_line_size=MAX_LINE,
            max_field_size=MAX_LINE,
            max_headers=MAX_FIELDS,
            trace_configs=[exchange.tracing()],
        )
