"""The connections to one server over HTTP, as its endpoint wants them. Import it late."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.web.pool import CONNECT, Pool
from lockgate.web.proxies import proxy_for
from lockgate.web.target import LocationError
from lockgate.web.tls import TlsFiles, TlsFilesError

PART: Final = 0.8
"""Of the time that one request has, what a connection for it may take: so who is not there is known
to be that, before the request's own time is up and says nothing about why."""


def connecting(request_timeout: float) -> float:
    """Seconds that a connection may take where a request may take so many."""
    return min(CONNECT, PART * request_timeout)


def pool_for(
    endpoint: HttpEndpoint, peer: str, environ: Mapping[str, str], connect: float = CONNECT
) -> Pool:
    """Connections that are to be closed; `environ` names proxies, if the endpoint leaves it that;
    making one may take `connect` seconds.

    Raises `PeerError` (CONNECT) if a file for TLS, or the proxy, can not be used.
    """
    files = TlsFiles(endpoint.ca_file, endpoint.client_cert, endpoint.client_key)
    try:
        proxy = proxy_for(endpoint.target, environ, endpoint.proxy)
        secure = endpoint.target.scheme == "https" or (proxy and proxy.scheme == "https")
        tls = files.context() if secure else None
        return Pool(proxy=proxy, tls=tls, connect=connect)
    except (TlsFilesError, LocationError) as error:
        raise PeerError(
            f"{peer}: nothing was sent: {error}",
            peer=peer,
            phase=Phase.CONNECT,
            fault=Fault.NOT_CONNECTED,
            fate=Fate.NOT_SENT,
        ) from None
