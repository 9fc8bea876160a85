"""Frames that are made once their id is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from lockgate.errors import LocalError
from lockgate.mcp.protocol.jsonrpc import Outgoing

MakeRequest: TypeAlias = Callable[[int], Outgoing]
"""Makes the frame of a request from the id that the connection gives it."""


class Unwritable(LocalError):
    """The params of a request have no JSON form; nothing was sent."""


def made(make: MakeRequest, identity: int) -> Outgoing:
    """The frame with this id. Raises `Unwritable`."""
    try:
        return make(identity)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        kind = type(error).__name__
        raise Unwritable(f"the params of the request can not be written as JSON ({kind})") from None
