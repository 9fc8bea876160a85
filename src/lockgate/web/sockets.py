"""The sockets that a client of the HTTP library makes, and their end."""

from __future__ import annotations

import asyncio
import socket
import weakref
from typing import Any, Final

_TURNS: Final = 20
"""Turns of the loop that closing takes at most, once the sockets are shut down."""


class Sockets:
    """Knows every socket that is still somebody's."""

    def __init__(self) -> None:
        self._made: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    def make(self, info: tuple[Any, ...]) -> socket.socket:
        """A socket for one address, given as `getaddrinfo` does."""
        family, kind, protocol, *_ = info
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
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
