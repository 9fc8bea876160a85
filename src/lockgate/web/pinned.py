"""Connections to examined addresses and to nothing else.

The HTTP library asks `resolve` where it would look a name up, and `socket` right before it
connects; neither knows an address that was not examined, so there is no second look-up and nothing
that a name server could answer differently the second time (DNS rebinding).
"""

from __future__ import annotations

import socket
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from lockgate.web.sockets import Sockets


class Pinned(AbstractResolver):
    """The examined addresses of one exchange, and every socket made for it."""

    def __init__(self) -> None:
        self._addresses: dict[str, tuple[str, ...]] = {}
        self._sockets = Sockets()

    def addresses_of(self, host: str) -> tuple[str, ...] | None:
        """The examined addresses of a name; None if it was not examined."""
        return self._addresses.get(host)

    def pin(self, host: str, addresses: tuple[str, ...]) -> None:
        """Let `host`, a name or an address itself, be connected to at these addresses."""
        self._addresses[host] = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """What was pinned. Raises `OSError` for any other name."""
        found = self._addresses.get(host)
        if not found:
            raise OSError(None, "the name was not examined")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in found
        ]

    def socket(self, info: tuple[Any, ...]) -> socket.socket:
        """A socket for one address, given as `getaddrinfo` does. Raises `OSError` for any other."""
        if not any(info[4][0] in pinned for pinned in self._addresses.values()):
            raise OSError(None, "the address was not examined")
        return self._sockets.make(info)

    async def close(self) -> None:
        """End every connection now, and see the descriptors go."""
        await self._sockets.close()
