"""Requests to authorization servers: addresses that strangers name, reached under rules.

Documents of the server say where to go next, so this is where a server could make this machine ask
its own network for something. Decision: docs/decisions/0036.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.web.addresses import AddressRules
from lockgate.web.failure import HttpFailure, Trouble
from lockgate.web.location import LocationError, ip_of, locate
from lockgate.web.lookup import Lookup, SystemLookup
from lockgate.web.pool import USER_AGENT, Head, Pool
from lockgate.web.proxies import proxy_for
from lockgate.web.target import Target, read_target
from lockgate.web.tls import TlsFiles, TlsFilesError

BOUND: Final = 30.0
"""Seconds that one request may take, its redirects included."""
LARGEST: Final = 256 * 1024
"""Bytes of an answer; what is asked for are documents of a few kilobytes."""
REDIRECTS: Final = 5
_ALWAYS: Final = (
    ("User-Agent", USER_AGENT),
    ("Accept", "application/json, text/event-stream"),
    ("Accept-Encoding", "identity"),
)
_REDIRECTED: Final = frozenset({301, 302, 303, 307, 308})
_KEPT: Final = frozenset({307, 308})
"""Those that keep the method of a POST."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    media_type: str
    body: bytes
    wants: str = ""
    """`WWW-Authenticate`; empty if it says nothing of that."""


class Guarded:
    """Makes requests for one flow, each on a connection of its own: one that is used again may be
    ended by the server at that moment, and with it a refresh token that was used up."""

    def __init__(
        self,
        endpoint: HttpEndpoint,
        environ: Mapping[str, str],
        *,
        named: Iterable[str] = (),
        lookup: Lookup | None = None,
        bound: float = BOUND,
    ) -> None:
        """`endpoint` is the server whose credentials they are for: its proxy and its certificates
        count here too, and only where it lives on a private address may others of its own host.
        `environ`: see `proxy_for`. `named` are addresses that the operator wrote: their origins are
        not examined, nor is the server's own. `lookup` is the system's by default."""
        self._endpoint = endpoint
        self._environ = environ
        self._server = endpoint.target
        self._named = {self._server.origin, *(read_target(each).origin for each in named)}
        self._lookup = lookup or SystemLookup()
        self._bound = bound
        self._rules: AddressRules | None = None
        self._contexts: dict[TlsFiles, ssl.SSLContext] = {}

    async def ask(
        self,
        method: str,
        address: str,
        headers: tuple[tuple[str, str], ...] = (),
        body: bytes | None = None,
    ) -> Reply:
        """One request; a redirect is followed within its origin, any other one is the answer.

        Raises `OAuthTrouble` for what this side does not ask for, and what did not work.
        """
        target = await self.examined(address)
        clock = asyncio.timeout(self._bound)
        try:
            async with clock:
                return await self._ask(method, target, headers, body)
        except TimeoutError:
            if not clock.expired():
                raise
            text = f"{target.origin} did not answer within {self._bound:g} s"
            raise OAuthTrouble(text, Need.TIME) from None

    async def examined(self, address: str) -> Target:
        """The address, read, if it may be asked, or be opened by a person.

        Raises `OAuthTrouble`. A name's addresses are examined when it is connected to.
        """
        try:
            target = read_target(address)
            at = locate(address)
        except LocationError as error:
            raise OAuthTrouble(f"it names an address that can not be used: {error}") from None
        if target.userinfo is not None:
            raise OAuthTrouble("it names an address with a user name in it")
        if target.origin in self._named:
            return target
        if target.scheme == "http" and self._server.scheme != "http":
            raise OAuthTrouble(f"it leads from https to {target.origin}, which is not followed")
        if target.scheme == "http" and not self._is_beside(target):
            raise _not_asked(target, "it is not https, and not on the host of the server")
        objection = (await self._address_rules(target)).objection_to(at)
        if objection is not None:
            raise _not_asked(target, objection)
        return target

    def _is_beside(self, target: Target) -> bool:
        """Whether it is on the host of the server itself, which the operator wrote."""
        hosts = (target.host, self._server.host)
        return hosts[0] == hosts[1] or all(map(_is_loopback, hosts))

    async def _address_rules(self, target: Target) -> AddressRules:
        """Private addresses are for servers that live on one, at their own host."""
        if not self._is_beside(target):
            return AddressRules()
        if self._rules is None:
            self._rules = AddressRules(private=await self._is_private())
        return self._rules

    async def _is_private(self) -> bool:
        public, within = AddressRules(), AddressRules(private=True)

        def inside(address: str) -> bool:
            alone = (address,)
            return bool(public.objection_to_any(alone)) and not within.objection_to_any(alone)

        try:
            at = locate(self._server.address)
        except LocationError:
            return False
        if at.ip is not None:
            return inside(str(at.ip))
        if public.objection_to(at) is not None:
            return True  # a name of the local network
        if self._proxy(self._server) is not None:
            return False
        try:
            async with asyncio.timeout(self._bound):
                found = await self._lookup(at.host)
        except (OSError, TimeoutError):
            return False
        # Every one: else whoever owns a public name could add the address they are after.
        return bool(found) and all(map(inside, found))

    def _proxy(self, target: Target) -> Target | None:
        try:
            return proxy_for(target, self._environ, self._endpoint.proxy)
        except LocationError as error:
            raise OAuthTrouble(str(error)) from None

    async def _pool(self, target: Target) -> tuple[Pool, _Examined | None]:
        proxy = self._proxy(target)
        examined = None
        if proxy is None and target.origin not in self._named:
            examined = _Examined(self._lookup, await self._address_rules(target))
        secure = target.scheme == "https" or (proxy is not None and proxy.scheme == "https")
        tls = self._context(target) if secure else None
        return Pool(proxy=proxy, tls=tls, lookup=examined or self._lookup), examined

    def _context(self, target: Target) -> ssl.SSLContext:
        files = self._files(target)
        try:
            return self._contexts.setdefault(files, files.context())
        except TlsFilesError as error:
            raise OAuthTrouble(str(error)) from None

    def _files(self, target: Target) -> TlsFiles:
        """What the server is known by holds for others too; what proves us is for it alone."""
        server = self._endpoint
        if target.origin == self._server.origin:
            return TlsFiles(server.ca_file, server.client_cert, server.client_key)
        return TlsFiles(server.ca_file)

    async def _ask(
        self, method: str, target: Target, headers: tuple[tuple[str, str], ...], body: bytes | None
    ) -> Reply:
        for _ in range(REDIRECTS + 1):
            reply, where = await self._once(method, target, headers, body)
            follows = reply.status in _REDIRECTED and (method == "GET" or reply.status in _KEPT)
            if not follows or not where:
                return reply
            try:
                following = target.joined(where)
            except LocationError:
                return reply
            if following.origin != target.origin or following.userinfo is not None:
                return reply
            target = following
        raise OAuthTrouble(f"{target.origin} leads in a circle")

    async def _once(
        self, method: str, target: Target, headers: tuple[tuple[str, str], ...], body: bytes | None
    ) -> tuple[Reply, str]:
        pool, examined = await self._pool(target)
        head = Head(method, target, _ALWAYS)
        try:
            answer = await pool.ask(head, headers, body)
            try:
                data = bytearray()
                while piece := await answer.piece():
                    data += piece
                    if len(data) > LARGEST:
                        text = f"{target.origin} answered with more than {LARGEST:,} bytes"
                        raise OAuthTrouble(text)
            finally:
                answer.close()
        except HttpFailure as failure:
            if examined is not None and examined.objection is not None:
                raise _not_asked(target, examined.objection) from None
            need = Need.OPERATOR if failure.trouble is Trouble.UNTRUSTED else Need.TIME
            raise OAuthTrouble(f"{target.origin} {failure}", need) from None
        finally:
            await pool.close()
        reply = Reply(
            answer.status, answer.media_type, bytes(data), answer.every("WWW-Authenticate")
        )
        return reply, answer.header("Location")


def _not_asked(target: Target, objection: str) -> OAuthTrouble:
    text = f"it leads to {target.origin}, which is not asked: {objection}"
    return OAuthTrouble(f"{text}; if that is right, name it in auth.issuer of this server")


def _is_loopback(host: str) -> bool:
    address = ip_of(host)
    return host == "localhost" if address is None else address.is_loopback


class _Examined:
    """Finds the addresses of a name if all of them may be connected to."""

    def __init__(self, lookup: Lookup, rules: AddressRules) -> None:
        self._lookup = lookup
        self._rules = rules
        self.objection: str | None = None
        """Why the last one that was refused was."""

    async def __call__(self, host: str) -> tuple[str, ...]:
        found = await self._lookup(host)
        self.objection = self._rules.objection_to_any(found)
        if self.objection is not None:
            raise OSError("refused")
        return found
