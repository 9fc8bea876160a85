"""How far one exchange has come, and what its failures are called.

Everything the HTTP library raises is translated here; nothing of its text gets out, since it may
hold the whole address.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import aiohttp

from lockgate.decision import Reason
from lockgate.errors import Fate, Fault, LocalError, PeerError, Phase
from lockgate.web.limits import Limits
from lockgate.web.location import Location
from lockgate.web.refusal import WebRefused


class Exchange:
    """One request and the redirects it leads to. Where it is, and what is known of it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._at: Location | None = None
        self._connected = False
        self._hops = 0

    @property
    def at(self) -> Location:
        """The address that is asked, or was the last one."""
        if self._at is None:
            raise LocalError("the exchange has not begun")
        return self._at

    def turn_to(self, at: Location) -> None:
        """The next request goes to `at`; turning to where it is changes nothing."""
        if at is self._at:
            return
        self._at = at
        self._hops += 1
        self._connected = False

    def refuse(self, code: str, why: str) -> WebRefused:
        """The error for what this side does not do."""
        return WebRefused(Reason(code, why), self.at, redirected=self._hops > 1)

    def fail(self, fault: Fault, what: str) -> PeerError:
        """The error for what the peer did, or did not do: `what` follows its name."""
        return PeerError(
            f"{self.at.shown} {what}",
            peer=self.at.host,
            phase=Phase.REQUEST if self._connected else Phase.CONNECT,
            fault=fault,
            fate=self._fate(),
        )

    def _fate(self) -> Fate:
        if self._connected:
            return Fate.UNKNOWN
        # An earlier request of the same exchange was made, and answered with a redirect.
        return Fate.ANSWERED if self._hops > 1 else Fate.NOT_SENT

    @asynccontextmanager
    async def bounded(self) -> AsyncGenerator[None, None]:
        """Bound the whole exchange."""
        limit = self._limits.total
        clock = asyncio.timeout(limit)
        try:
            async with clock:
                yield
        except TimeoutError:
            if not clock.expired():
                raise  # of whoever uses the answer
            raise self.fail(Fault.TIMEOUT, f"was not done within {limit:g} s") from None

    @contextmanager
    def translated(self) -> Generator[None, None, None]:
        """Turn what the HTTP library and the system raise into `PeerError`."""
        try:
            yield
        except aiohttp.ConnectionTimeoutError:
            what = f"accepted no connection within {self._limits.connect:g} s"
            raise self.fail(Fault.TIMEOUT, what) from None
        except aiohttp.ServerTimeoutError:
            what = f"sent nothing for {self._limits.idle:g} s"
            raise self.fail(Fault.TIMEOUT, what) from None
        except (aiohttp.ClientConnectorCertificateError, ssl.SSLCertVerificationError) as error:
            what = f"could not prove who it is: {_certificate_fault(error)}"
            raise self.fail(Fault.NOT_CONNECTED, what) from None
        except (aiohttp.ClientSSLError, ssl.SSLError):
            raise self.fail(Fault.NOT_CONNECTED, "could not agree on TLS") from None
        except aiohttp.ClientConnectorError as error:
            raise self.fail(Fault.NOT_CONNECTED, _unreachable(error.os_error)) from None
        except aiohttp.ClientResponseError:
            what = "sent headers that are too large, or no valid HTTP"
            raise self.fail(Fault.MALFORMED, what) from None
        except aiohttp.ClientPayloadError:
            raise self.fail(Fault.CLOSED, "broke off in the middle of the body") from None
        except (aiohttp.ClientError, ConnectionError):
            what = "hung up" if self._connected else "accepted no connection"
            raise self.fail(Fault.CLOSED, what) from None

    def tracing(self) -> aiohttp.TraceConfig:
        """What tells this exchange that a connection stands: from then on something may be sent."""

        async def connected(*_: object) -> None:
            self._connected = True

        trace = aiohttp.TraceConfig()
        trace.on_connection_create_end.append(connected)
        return trace


def _certificate_fault(error: Exception) -> str:
    inner = error
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        inner = error.certificate_error
    if isinstance(inner, ssl.SSLCertVerificationError):
        return inner.verify_message.rstrip(".") or "its certificate is not valid"
    return "its certificate is not valid"


def _unreachable(error: OSError) -> str:
    # The number's own words: those of the error hold the address, and are asyncio's.
    words = os.strerror(error.errno).lower() if error.errno else "nothing answers there"
    return f"can not be reached: {words}"
