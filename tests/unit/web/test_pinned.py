"""The last look before a connection is made: no address that was not examined gets a socket."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from lockgate.web.pinned import Pinned


async def test_only_pinned_names_lead_anywhere() -> None:
    """What was examined is answered, in its order and family; any other name is an error."""
    pinned = Pinned()
    pinned.pin("a.example.com", ("127.0.0.1", "::1"))
    found = await pinned.resolve("a.example.com", 80)
    assert [(one["host"], one["family"], one["port"]) for one in found] == [
        ("127.0.0.1", socket.AF_INET, 80),
        ("::1", socket.AF_INET6, 80),
    ]
    with pytest.raises(OSError, match="not examined"):
        await pinned.resolve("b.example.com", 80)


@pytest.mark.parametrize("address", ["127.0.0.2", "127.1", "::ffff:127.0.0.1", "a.example.com"])
async def test_only_pinned_addresses_get_a_socket(address: str) -> None:
    """Whatever the HTTP library makes of an address in between, this is what it connects to."""
    pinned = Pinned()
    pinned.pin("a.example.com", ("127.0.0.1",))
    with pytest.raises(OSError, match="not examined"):
        pinned.socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, 80)))


async def test_sockets_are_shut_down(descriptors: Callable[[], int]) -> None:
    """Closing ends what is still connected, and is bounded where nobody takes the socket back."""
    pinned = Pinned()
    pinned.pin("a", ("127.0.0.1",))
    at_rest = descriptors()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        mine = pinned.socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 80)))
        mine.setblocking(True)
        mine.connect(listening.getsockname())
        theirs, _ = listening.accept()
        await pinned.close()
        assert theirs.recv(1) == b""
        theirs.close()
        mine.close()
    assert descriptors() == at_rest
