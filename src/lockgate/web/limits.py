"""How long and how large one exchange may become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one exchange, its redirects included. Times in seconds, sizes in bytes."""

    total: float = 30.0
    """From the first look-up to the last byte of the body."""
    lookup: float = 5.0
    """For the addresses of one name."""
    connect: float = 10.0
    """For one connection, TLS included."""
    idle: float = 10.0
    """Between two pieces of an answer."""
    redirects: int = 5
    """How many are followed."""
    received: int = 10 * 1024 * 1024
    """Of one body as it comes over the wire; a body is cut there. What of it is kept in memory is
    up to whoever reads it."""


MAX_LINE: Final = 8190
"""Bytes of the status line, and of each header field."""
MAX_FIELDS: Final = 100
"""Header fields of one answer."""
