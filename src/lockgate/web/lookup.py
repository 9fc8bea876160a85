"""The addresses of a name, as the system's own resolver gives them."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import Protocol


class Lookup(Protocol):
    """Finds the addresses of a name. Called once for each name of an exchange."""

    async def __call__(self, host: str) -> tuple[str, ...]:
        """IP addresses in the order of preference. Raises `OSError`; cancelled by its bound."""
        ...


class SystemLookup:
    """`getaddrinfo` in a thread of its own.

    Not in the loop's pool: a name server that does not answer would hold up the end of the program.
    A thread that is given up on ends when the system's resolver does, a matter of seconds.
    """

    async def __call__(self, host: str) -> tuple[str, ...]:
        """Ask the system: its hosts file, its name servers, in its order."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[str, ...] | OSError] = loop.create_future()

        def tell(found: tuple[str, ...] | OSError) -> None:
            if not future.done():
                future.set_result(found)

        def ask() -> None:
            found = _addresses(host)
            try:
                loop.call_soon_threadsafe(tell, found)
            except RuntimeError:  # the loop is closed: nobody waits any more
                pass

        threading.Thread(target=ask, name="lockgate-lookup", daemon=True).start()
        found = await future
        if isinstance(found, OSError):
            raise found
        return found


def _addresses(host: str) -> tuple[str, ...] | OSError:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except UnicodeError:
        return OSError("no name server takes this name")
    except OSError as error:
        return error
    # A set would lose the order, in which the system puts the address that works best first.
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
