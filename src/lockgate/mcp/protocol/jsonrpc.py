"""JSON-RPC 2.0 frames as MCP uses them: encode requests, decode whatever arrives. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

RequestId: TypeAlias = int | str
"""`1` and `"1"` are different ids."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One frame on its way out."""

    payload: bytes
    """The JSON text in UTF-8, without a delimiter; holds no raw newline."""
    id: RequestId | None = None
    """Of a request, or of the request that a response answers; None for a notification."""
    method: str | None = None
    """None for a response."""
    headers: tuple[tuple[str, str], ...] = ()
    """What the revision wants beside the body on transports that have headers."""
