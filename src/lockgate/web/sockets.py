"""The sockets that a client of the HTTP library makes, and their end."""

from __future__ import annotations

import asyncio
import socket
import weakref
from typing import Any, Final

QUIET: Final = 30
"""Seconds without a byte after which the other side is asked whether it is still there. A stream
may rest for hours; a machine that is gone says nothing either, and nobody else would notice."""
ASKED_EVERY: Final = 10
"""Seconds between two such questions (TCP keepalive)."""
ASKED: Final = 3
"""Questions without an answer after which the connection is over: a minute after the last byte."""
_TURNS: Final = 20
"""Turns of the loop that closing takes at most, once the sockets are shut down."""
_KEEPALIVE: Final = (
    ("TCP_KEEPIDLE", QUIET),
    ("TCP_KEEPALIVE", QUIET),  # the same, as macOS names it
    ("TCP_KEEPINTVL", ASKED_EVERY),
    ("TCP_KEEPCNT", ASKED),
)


class Sockets:
    """Knows every socket that is still somebody's."""

    def __init__(self) -> None:
        self._made: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    def make(self, info: tuple[Any, ...]) -> socket.socket:
        """A socket for one address, given as `getaddrinfo` does."""
        family, kind, protocol, *_ = info
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
        if family in (socket.AF_INET, socket.AF_INET6):
            _keep_alive(made)
        self._made.add(made)
        return made

    async def close(self) -> None:
        """End every connection now, and see the descriptors go.

        Shut down and not closed: their transports hold them. Without this a peer that does not
        answer the end of TLS keeps its connection for half a minute.
        """
        for each in tuple(self._made):
            if each.fileno() != -1:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:  # it was not connected, or has ended by itself
                    pass
        for _ in range(_TURNS):
            if all(each.fileno() == -1 for each in tuple(self._made)):
                break
            await asyncio.sleep(0)


def _keep_alive(made: socket.socket) -> None:
    """Have the system find out that the other side is gone, as soon as it lets us say."""
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        option = getattr(socket, name, None)
        if option is not None:
            made.setsockopt(socket.IPPROTO_TCP, option, value)
