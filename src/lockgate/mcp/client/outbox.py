"""What is sent on nobody's behalf: answers to the server's requests, and cancel signals.

They are handed over without waiting and written by the connection's owner, in order, so that an
answer goes out promptly whatever the callers do (PB-048).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque

from lockgate.errors import PeerError
from lockgate.mcp.protocol.jsonrpc import Outgoing
from lockgate.mcp.transport.base import Link
from lockgate.showing import visible

logger = logging.getLogger(__name__)

CAPACITY = 1000
"""Frames that may wait. A server that asks without ever reading loses the answers beyond it."""
LAST_WORDS = 0.5
"""Seconds that what waits is still given once the connection is to end."""


class Outbox:
    """A bounded queue with one reader, which ends when it is told to."""

    def __init__(self, peer: str, patience: float) -> None:
        """`patience` is how many seconds one frame may take to be written."""
        self._peer = peer
        self._patience = patience
        self._waiting: deque[Outgoing] = deque()
        self._changed = asyncio.Event()
        self._writing: asyncio.Timeout | None = None
        self._ended = False

    def put(self, message: Outgoing) -> None:
        """Hand over a frame. Never waits; a frame too many, or too late, is dropped and logged."""
        if self._ended or len(self._waiting) >= CAPACITY:
            state = "is closing" if self._ended else f"has {CAPACITY} frames unsent"
            logger.debug("%s: the connection %s, a frame is dropped", self._peer, state)
            return
        self._waiting.append(message)
        self._changed.set()

    def end(self) -> None:
        """Let `deliver` return after what waits was written, at most LAST_WORDS later."""
        self._ended = True
        self._changed.set()
        if self._writing is not None and not self._writing.expired():
            self._writing.reschedule(asyncio.get_running_loop().time() + LAST_WORDS)

    async def deliver(self, link: Link) -> None:
        """Write whatever is put, until `end`. A frame that can not be written is logged."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            while self._waiting:
                if not await self._write(link, self._waiting.popleft()) and self._ended:
                    return
            if self._ended:
                return

    async def _write(self, link: Link, message: Outgoing) -> bool:
        try:
            async with asyncio.timeout(LAST_WORDS if self._ended else self._patience) as bound:
                self._writing = bound
                await link.send(message)
        except (PeerError, TimeoutError) as error:
            why = visible(str(error))[:400]  # it may end in what the server said, in many lines
            logger.debug("%s: a frame could not be written: %s", self._peer, why)
            return False
        finally:
            self._writing = None
        return True
