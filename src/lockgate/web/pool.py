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
from yarl import URL

from lockgate.web.answer import Answer
from lockgate.web.body import Body
from lockgate.web.failure import HttpFailure, Stage, Trouble
from lockgate.web.limits import MAX_FIELDS, MAX_LINE
from lockgate.web.lookup import Lookup, SystemLookup
from lockgate.web.sockets import Sockets
from lockgate.web.target import Target
from lockgate.web.tls import TlsFiles

IDLE: Final = 2.0
"""Seconds after which a connection is not used again. A server that lets it go at that moment
leaves unknown whether a call was heard (docs/decisions/0027)."""
CONNECT: Final = 10.0
"""Seconds that one connection may take, TLS included."""
CONNECTIONS: Final = 256
"""Open at once; more requests wait, and are not begun."""
BUFFER: Final = 128 * 1024
"""Bytes of one answer that wait to be read before the peer is held up."""
USER_AGENT: Final = "lockgate"


class Pool:
    """Made in a running event loop; `close` it."""

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
        self._proxy: URL | None = None
        self._proxy_headers: dict[str, str] | None = None
        if proxy is not None:
            self._proxy = URL(proxy.origin, encoded=True)
            if proxy.authorization is not None:
                self._proxy_headers = {"Proxy-Authorization": proxy.authorization}
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=_Resolver(lookup or SystemLookup()),
                socket_factory=self._sockets.make,
                ssl=True if tls is None else tls,
                keepalive_timeout=idle,
                limit=connections,
                ttl_dns_cache=60,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect),
            read_bufsize=BUFFER,
            max_line_size=MAX_LINE,
            max_field_size=MAX_LINE,
            max_headers=MAX_FIELDS,
        )

    async def ask(
        self,
        method: str,
        url: URL,
        headers: Iterable[tuple[str, str]],
        body: Body | None = None,
    ) -> Answer:
        """Make one request; returns when the head of its answer is here.

        Nothing is followed, nothing tried again. Cancelled, the connection is closed at once.
        Raises `HttpFailure`.
        """
        if self._proxy_headers is not None and url.scheme == "http":
            headers = [*headers, *self._proxy_headers.items()]
        with translated(body):
            answer = await self._session.request(
                method,
                url,
                data=body,
                headers=headers,
                allow_redirects=False,
                proxy=self._proxy,
                proxy_headers=self._proxy_headers,
            )
        return Answer(answer)

    async def close(self) -> None:
        """End every connection, at once."""
        await self._session.close()
        await self._sockets.close()


def address(target: Target) -> URL:
    """A target as the HTTP library takes it: as it stands."""
    return URL(target.address, encoded=True)


def tls_for(files: TlsFiles) -> ssl.SSLContext:
    """The context for these files. Raises `TlsFilesError`."""
    return files.context()


@contextmanager
def translated(body: Body | None) -> Generator[None, None, None]:
    """Turn what the HTTP library and the system raise into `HttpFailure`."""
    # What a request without a body does is asked for again without harm, whatever its stage.
    stage = Stage.WAITING
    try:
        yield
    except (aiohttp.ConnectionTimeoutError, aiohttp.SocketTimeoutError):
        what = f"accepted no connection within {CONNECT:g} s"
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
    except aiohttp.ClientConnectorError as error:
        what = f"can not be reached: {_unreachable(error.os_error)}"
        raise HttpFailure(Stage.CONNECTING, Trouble.UNREACHABLE, what) from None
    except aiohttp.ClientHttpProxyError as error:
        what = f"can not be reached: the proxy answered {error.status}"
        raise HttpFailure(Stage.CONNECTING, Trouble.UNREACHABLE, what) from None
    except aiohttp.ClientResponseError:
        what = "sent headers that are too large, or no valid HTTP"
        raise HttpFailure(Stage.READING_HEAD, Trouble.GARBAGE, what) from None
    except (aiohttp.ClientError, OSError):
        if body is not None:
            stage = body.stage
        what = _HUNG_UP if stage is not Stage.CONNECTING else "hung up before anything was sent"
        raise HttpFailure(stage, Trouble.CLOSED, what) from None


_HUNG_UP: Final = "hung up without an answer"


def _certificate_fault(error: Exception) -> str:
    inner = error
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        inner = error.certificate_error
    if isinstance(inner, ssl.SSLCertVerificationError):
        return inner.verify_message.rstrip(".") or "its certificate is not valid"
    return "its certificate is not valid"


def _unreachable(error: OSError) -> str:
    # The number's own words: those of the error hold the address, and are asyncio's.
    return os.strerror(error.errno).lower() if error.errno else "nothing answers there"


class _Resolver(AbstractResolver):
    """The system's resolver in a thread that nothing waits for at the end."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        async with asyncio.timeout(CONNECT):
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
