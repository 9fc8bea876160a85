"""The sockets that the HTTP library is given."""

from __future__ import annotations

import socket

import pytest

from lockgate.web.sockets import ASKED, ASKED_EVERY, QUIET, Sockets


async def test_a_connection_that_is_half_open_is_found_out() -> None:
    """A stream may rest for hours, and the machine behind it may be gone: the system asks for us,
    and ends the connection a minute after the last byte that came."""
    sockets = Sockets()
    made = sockets.make((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 0)))
    try:
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) != 0
        if not hasattr(socket, "TCP_KEEPIDLE"):
            pytest.skip("this system names no times for it")
        asked = [
            made.getsockopt(socket.IPPROTO_TCP, option)
            for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
        ]
        assert asked == [QUIET, ASKED_EVERY, ASKED]
        assert QUIET + ASKED * ASKED_EVERY == 60
    finally:
        made.close()
        await sockets.close()
