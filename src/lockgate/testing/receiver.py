"""A receiver that keeps what arrives, for tests of transports."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from lockgate.errors import PeerError
from lockgate.mcp.protocol.jsonrpc import Failure, RequestId

PATIENCE = 20.0
"""Seconds that a test waits for what should come at once."""


class RecordingReceiver:
    """Keeps everything in order and lets a test wait for it."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.oversize: list[tuple[bytes, int]] = []
        """Beginning and size of each frame that was thrown away."""
        self.errors: list[PeerError] = []
        """What `closed` was told; more than one entry is a fault of the transport."""
        self.failures: dict[RequestId, PeerError] = {}
        """What `failed` was told of each request, the first time."""
        self.refusals: dict[RequestId, Failure] = {}
        """What `refused` was told of each request, the first time."""
        self.notices: list[PeerError] = []
        """What `noticed` was told."""
        self.late = 0
        """Calls that came after `closed`."""
        self._read = 0
        self._messages: list[dict[str, Any]] = []
        """The frames decoded, as far as anyone has looked."""
        self._news = asyncio.Event()

    def frame(self, data: bytes) -> None:
        """See `Receiver.frame`."""
        self.frames.append(data)
        self._tell()

    def oversized(self, head: bytes, size: int, limit: int) -> None:
        """See `Receiver.oversized`."""
        self.oversize.append((head, size))
        self._tell()

    def failed(self, request: RequestId, error: PeerError) -> None:
        """See `Receiver.failed`."""
        self.failures.setdefault(request, error)
        self._tell()

    def refused(self, request: RequestId, answer: Failure) -> None:
        """See `Receiver.refused`."""
        self.refusals.setdefault(request, answer)
        self._tell()

    def noticed(self, error: PeerError) -> None:
        """See `Receiver.noticed`."""
        self.notices.append(error)
        self._tell()

    def closed(self, error: PeerError) -> None:
        """See `Receiver.closed`."""
        self._tell()
        self.errors.append(error)

    async def next(self, *, timeout: float = PATIENCE) -> bytes:
        """The first frame that was not given out yet. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while len(self.frames) <= self._read:
                await self._wait()
        self._read += 1
        return self.frames[self._read - 1]

    async def answer(self, identity: int | str, *, timeout: float = PATIENCE) -> dict[str, Any]:
        """The answer to a request, whatever came before it; frames that are no JSON are passed
        over. Raises TimeoutError, and `PeerError` if it fails or the link is closed first."""
        async with asyncio.timeout(timeout):
            looked = 0
            while True:
                for message in self.messages[looked:]:
                    looked += 1
                    if message.get("id") == identity and "method" not in message:
                        return message
                if identity in self.failures:
                    raise self.failures[identity]
                if self.errors:
                    raise self.errors[0]
                await self._wait()

    async def lost(self, identity: int | str, *, timeout: float = PATIENCE) -> PeerError:
        """Why a request will not be answered, as soon as that is known: it failed, or the link is
        closed. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while identity not in self.failures and not self.errors:
                await self._wait()
        return self.failures.get(identity) or self.errors[0]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The frames, decoded; an empty object for each that is no JSON object."""
        for frame in self.frames[len(self._messages) :]:
            self._messages.append(_decoded(frame))
        return self._messages

    async def too_large(self, *, timeout: float = PATIENCE) -> tuple[bytes, int]:
        """The first frame that was thrown away. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while not self.oversize:
                await self._wait()
        return self.oversize[0]

    async def refusal(self, identity: int | str, *, timeout: float = PATIENCE) -> Failure:
        """The error that answered a request without naming it. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while identity not in self.refusals:
                await self._wait()
        return self.refusals[identity]

    async def end(self, *, timeout: float = PATIENCE) -> PeerError:
        """Why the link is closed, as soon as it is. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while not self.errors:
                await self._wait()
        return self.errors[0]

    async def notice(self, *, timeout: float = PATIENCE) -> PeerError:
        """What was noticed first, as soon as something is. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while not self.notices:
                await self._wait()
        return self.notices[0]

    async def _wait(self) -> None:
        self._news.clear()
        await self._news.wait()

    def _tell(self) -> None:
        if self.errors:
            self.late += 1
        self._news.set()


def _decoded(frame: bytes) -> dict[str, Any]:
    try:
        value: Any = json.loads(frame)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] - any object
