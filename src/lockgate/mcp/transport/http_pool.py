"""The connections to one server over HTTP, as its endpoint wants them. Import it late."""

from __future__ import annotations

from collections.abc import Mapping

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.web.pool import Pool
from lockgate.web.proxies import proxy_for
from lockgate.web.target import LocationError
from lockgate.web.tls import TlsFiles, TlsFilesError


def pool_for(endpoint: HttpEndpoint, peer: str, environ: Mapping[str, str]) -> Pool:
    """Connections that are to be closed; `environ` names proxies, if the endpoint leaves it that.

    Raises `PeerError` (CONNECT) if a file for TLS, or the proxy, can not be used.
    """
    files = TlsFiles(endpoint.ca_file, endpoint.client_cert, endpoint.client_key)
    try:
        proxy = proxy_for(endpoint.target, environ, endpoint.proxy)
        secure = endpoint.target.scheme == "https" or (proxy and proxy.scheme == "https")
        return Pool(proxy=proxy, tls=files.context() if secure else None)
    except (TlsFilesError, LocationError) as error:
        raise PeerError(
            f"{peer}: nothing was sent: {error}",
            peer=peer,
            phase=Phase.CONNECT,
            fault=Fault.NOT_CONNECTED,
            fate=Fate.NOT_SENT,
        ) from None
