"""Connections to one peer that are kept and used again, for a client that asks it many things.

The road of `mcp` over HTTP. The peer is the operator's own choice, so no address is refused; all
else is as strict as in `client`: no cookies, no netrc, no proxy that was not given, certificates
always verified, heads bounded, redirects left to the caller. Import it late: it brings the HTTP
library along.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import Connection
from yarl import URL

from lockgate.errors import LocalError
from lockgate.web.answer import Answer
from lockgate.web.failure import HttpFailure, Stage, Trouble
from lockgate.web.lookup import Lookup, SystemLookup
from lockgate.web.sent import Sent
from lockgate.web.sockets import Sockets
from lockgate.web.target import Target

IDLE: Final = 2.0
"""Seconds after which a connection is not used again. A server that lets it go at that moment
leaves unknown whether a call was heard (docs/decisions/0027)."""
CONNECT: Final = 10.0
"""Seconds that one connection may take, TLS included."""
CONNECTIONS: Final = 256
"""Open at once; more requests wait, and are not begun."""
LARGE: Final = 64 * 1024
"""Bytes of a body that is not copied once more to be written in one piece with its head."""
USER_AGENT: Final = "lockgate"


class Head:
    """The beginning of every request to one address by one method: made once, written often."""

    __slots__ = ("_written", "target")

    def __init__(self, method: str, target: Target, fields: Iterable[tuple[str, str]]) -> None:
        """`fields` go along with each of them. Raises `LocalError` for what no header can hold."""
        self.target = target
        lines = _lines((("Host", target.origin.partition("://")[2]), *fields))
        named = target.path + ("" if target.query is None else f"?{target.query}")
        self._written = {
            False: f"{method} {named} HTTP/1.1\r\n".encode("ascii") + lines,
            True: f"{method} {target.address} HTTP/1.1\r\n".encode("ascii") + lines,
        }

    def written(self, *, through_proxy: bool) -> bytes:
        """As bytes, without the empty line at the end."""
        return self._written[through_proxy]


class Pool:
    """Made in a running event loop; `close` it.

    It takes connections from the HTTP library and leaves reading to it, and writes by itself: so
    that the moment is known before which nothing was written (docs/decisions/0027).
    """

    def __init__(
        self,
        *,
        proxy: Target | None = None,
        tls: ssl.SSLContext | None = None,
        lookup: Lookup | None = None,
        idle: float = IDLE,
        connect: float = CONNECT,
        connections: int = CONNECTIONS,
    ) -> None:
        """`proxy` carries every request. `tls` is None where no address is https; `lookup` the
        system's resolver by default. See the constants for the others."""
        self._sockets = Sockets()
        self._connector = aiohttp.TCPConnector(
            resolver=_Resolver(lookup or SystemLookup(), connect),
            socket_factory=self._sockets.make,
            ssl=True if tls is None else tls,
            keepalive_timeout=idle,
            limit=connections,
            ttl_dns_cache=60,
        )
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect)
        self._within = connect
        self._to_proxy: dict[str, str] = {}
        if proxy is not None and proxy.authorization is not None:
            self._to_proxy["Proxy-Authorization"] = proxy.authorization
        self._proxy = None if proxy is None else URL(proxy.origin, encoded=True)
        self._ways: dict[str, aiohttp.ClientRequest] = {}
        """How each origin is connected to, as the HTTP library takes it; never sent themselves."""
        self._last: tuple[object, bytes] = (None, b"")

    async def connect(self, head: Head) -> Connection:
        """A connection for one request; to be used or closed at once.

        Cancelled, there is none. Raises `HttpFailure`, always of the stage CONNECTING.
        """
        with _connecting(self._within, proxied=self._proxy is not None):
            origin = head.target.origin
            way = self._ways.get(origin) or self._way(origin)
            return await self._connector.connect(way, [], self._timeout)

    def write(
        self,
        connection: Connection,
        head: Head,
        headers: tuple[tuple[str, str], ...],
        body: bytes | None = None,
    ) -> Sent:
        """Write one request, whole; what the connection does not take at once is written on.

        Raises `HttpFailure` of the stage CONNECTING if the connection has ended meanwhile, and
        `LocalError` for what no header can hold; then nothing was written.
        """
        target = head.target
        through_proxy = self._proxy is not None and target.scheme == "http"
        try:
            last, lines = self._last
            if headers is not last:
                lines = _lines(headers)
                self._last = headers, lines
            parts = [head.written(through_proxy=through_proxy), lines]
            if through_proxy and self._to_proxy:
                parts.append(_lines(self._to_proxy.items()))
            if body is not None:
                parts.append(b"Content-Length: %d\r\n" % len(body))
            parts.append(b"\r\n")
            sent = Sent(connection, target.address)
        except BaseException:
            connection.close()
            raise
        if body is not None and len(body) < LARGE:
            parts.append(body)
        sent.write(b"".join(parts))
        if body is not None and len(body) >= LARGE:
            sent.write(body)
        return sent

    async def ask(
        self, head: Head, headers: tuple[tuple[str, str], ...], body: bytes | None = None
    ) -> Answer:
        """All of it: the answer, when its head is here. Raises the same, and of any stage."""
        return await self.write(await self.connect(head), head, headers, body).answer()

    def _way(self, origin: str) -> aiohttp.ClientRequest:
        way = aiohttp.ClientRequest(
            "GET",
            URL(origin, encoded=True),
            loop=asyncio.get_running_loop(),
            proxy=self._proxy,
            proxy_headers=dict(self._to_proxy) or None,
        )
        self._ways[origin] = way
        return way

    async def close(self) -> None:
        """End every connection, at once."""
        await self._connector.close()
        await self._sockets.close()


def _lines(fields: Iterable[tuple[str, str]]) -> bytes:
    """Header fields as they are written; each is one line and nothing else."""
    pairs = tuple(fields)
    try:
        lines = "".join([f"{name}: {value}\r\n" for name, value in pairs]).encode("latin-1")
    except UnicodeEncodeError:
        raise LocalError("a header holds a character that no header can hold") from None
    if lines.count(b"\n") != len(pairs) or lines.count(b"\r") != len(pairs) or b"\0" in lines:
        raise LocalError("a header holds a line end or a NUL")
    return lines


@contextmanager
def _connecting(within: float, *, proxied: bool) -> Generator[None, None, None]:
    """Turn what the HTTP library and the system raise about connecting into `HttpFailure`."""
    try:
        yield
    except TimeoutError:
        what = f"accepted no connection within {within:g} s"
        raise HttpFailure(Stage.CONNECTING, Trouble.TIMEOUT, what) from None
    except (aiohttp.ClientConnectorCertificateError, ssl.SSLCertVerificationError) as error:
        what = f"could not prove who it is: {_certificate_fault(error)}"
        raise HttpFailure(Stage.CONNECTING, Trouble.UNTRUSTED, what) from None
    except aiohttp.ClientSSLError:
        what = "could not agree on TLS"
        raise HttpFailure(Stage.CONNECTING, Trouble.UNTRUSTED, what) from None
    except aiohttp.ClientProxyConnectionError as error:
        what = f"can not be reached through the proxy: {_unreachable(error.os_error)}"
        raise HttpFailure(Stage.CONNECTING, Trouble.UNREACHABLE, what) from None
    except aiohttp.ClientConnectorDNSError as error:
        # Only the proxy's own name is looked up here where there is one.
        what = f"can not be reached{' through the proxy' if proxied else ''}: {_unnamed(error)}"
        raise HttpFailure(Stage.CONNECTING, Trouble.UNREACHABLE, what) from None
    except aiohttp.ClientConnectorError as error:
        what = f"can not be reached: {_unreachable(error.os_error)}"
        raise HttpFailure(Stage.CONNECTING, Trouble.UNREACHABLE, what) from None
    except aiohttp.ClientHttpProxyError as error:
        what = f"can not be reached: the proxy answered {error.status}"
        raise HttpFailure(Stage.CONNECTING, Trouble.UNREACHABLE, what) from None
    except (aiohttp.ClientError, OSError):
        what = "can not be reached: hung up before anything was sent"
        raise HttpFailure(Stage.CONNECTING, Trouble.CLOSED, what) from None


def _certificate_fault(error: Exception) -> str:
    inner = error
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        inner = error.certificate_error
    if isinstance(inner, ssl.SSLCertVerificationError):
        return inner.verify_message.rstrip(".") or "its certificate is not valid"
    return "its certificate is not valid"


def _unnamed(error: aiohttp.ClientConnectorDNSError) -> str:
    if error.os_error.errno == socket.EAI_AGAIN:
        return "its name could not be looked up, no name server has answered"
    return "no address is known for its name"


def _unreachable(error: OSError) -> str:
    # The number's own words: those of the error hold the address, and are asyncio's.
    return os.strerror(error.errno).lower() if error.errno else "nothing answers there"


class _Resolver(AbstractResolver):
    """The system's resolver in a thread that nothing waits for at the end."""

    def __init__(self, lookup: Lookup, within: float) -> None:
        self._lookup = lookup
        self._within = within

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        async with asyncio.timeout(self._within):
            found = await self._lookup(host)
        return [
            ResolveResult(
                hostname=host,
                host=each,
                port=port,
                family=socket.AF_INET6 if ":" in each else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for each in found
        ]

    async def close(self) -> None:
        """Nothing is held."""
