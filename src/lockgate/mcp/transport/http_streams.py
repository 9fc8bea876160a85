"""Streams that are asked for: what a server says unasked, and answers whose own stream broke.

2025-11-25, basic/transports: Listening for Messages from the Server; Resumability and Redelivery.
A stream that ends is asked for again, from its last event on, after the pause that the server
wants, or one that grows; one that never brings anything is given up.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from lockgate.errors import PeerError
from lockgate.mcp.protocol.http_fate import Odd
from lockgate.mcp.protocol.jsonrpc import RequestId
from lockgate.mcp.protocol.sse import EventStream
from lockgate.mcp.transport.http_exchange import Elsewhere, Posting
from lockgate.mcp.transport.http_wire import EVENTS, HttpWire
from lockgate.web.answer import Answer
from lockgate.web.failure import HttpFailure

logger = logging.getLogger(__name__)

TRIES: Final = 5
"""Streams in a row that may end without an event."""
PAUSE: Final = 1.0
"""Seconds before the first further try; each time twice as long."""
LONGEST_PAUSE: Final = 30.0
"""Seconds; a server that wants to be left alone for longer is asked after this."""


class Streams:
    """Asks for streams of one link."""

    def __init__(self, wire: HttpWire, posting: Posting, limit: int, pause: float = PAUSE) -> None:
        self._wire = wire
        self._posting = posting
        self._limit = limit
        self._pause = pause

    async def resume(self, request: RequestId, broken: Elsewhere) -> None:
        """Get the rest of a broken stream; returns when the answer was there.

        Raises `PeerError`: UNKNOWN, since the request was heard.
        """
        last_id, retry = broken.last_id, broken.retry
        try:
            await self._follow(last_id, retry, request)
        except _Refused as refused:
            what = f"broke off in the middle of the answer, and does not take it up again{refused}"
            raise self._wire.odd(Odd.NO_ANSWER, what) from None

    async def listen(self, asked: asyncio.Event) -> str:
        """Hand on what the server says unasked, until it ends that for good; returns why.

        `asked` is set once the first stream is there, or is not to be had.
        """
        try:
            await self._follow(None, None, None, asked)
        except _Refused as refused:
            logger.debug("%s: no stream of its own%s", self._wire.peer, refused)
            return str(refused)
        finally:
            asked.set()
        return ""

    async def _follow(
        self,
        last_id: str | None,
        retry: float | None,
        request: RequestId | None,
        asked: asyncio.Event | None = None,
    ) -> None:
        """Ask again and again; returns when `request` was answered, raises `_Refused`."""
        idle, first = 0, request is None
        while True:
            if not first:
                await asyncio.sleep(self._patience(retry, idle))
            first = False
            stream = EventStream(self._limit)
            brought = False
            try:
                answer = await self._opened(last_id)
                if asked is not None:
                    asked.set()
                if answer is not None:
                    brought, found = await self._read(answer, stream, request)
                    if found:
                        return
            except HttpFailure:
                if asked is not None:
                    asked.set()  # it counts as one that brought nothing
            last_id = stream.last_id or last_id
            retry = retry if stream.retry is None else stream.retry
            idle = 0 if brought else idle + 1
            if idle >= TRIES:
                raise _Refused(f": {TRIES} streams in a row ended without an event")

    async def _opened(self, last_id: str | None) -> Answer | None:
        """A stream; None if the server could not give one just now. Raises `_Refused`."""
        try:
            answer = await self._wire.get(last_id)
        except PeerError as error:  # a redirect that is not followed
            raise _Refused(f": {error}") from None
        if answer.status == 200 and answer.media_type == EVENTS:
            return answer
        answer.close()
        if answer.status == 429 or answer.status >= 500:
            return None
        kind = f" ({answer.media_type})" if answer.status == 200 else ""
        raise _Refused(f": the answer to GET was {answer.status}{kind}")

    async def _read(
        self, answer: Answer, stream: EventStream, request: RequestId | None
    ) -> tuple[bool, bool]:
        """Whether a stream brought anything, and whether that was the answer to `request`."""
        brought = False
        try:
            while piece := await answer.piece():
                before = stream.last_id
                found = self._posting.take(stream, piece, request)
                brought = brought or found or stream.brought or stream.last_id != before
                if found:
                    return True, True
        except HttpFailure:
            pass  # it is asked for again
        finally:
            answer.close()
        return brought, False

    def _patience(self, retry: float | None, idle: int) -> float:
        """Seconds until the next try."""
        if retry is not None and idle < 2:
            return min(retry, LONGEST_PAUSE)
        least = self._pause * 2 ** max(idle - 1, 0)
        return min(max(least, retry or 0.0), LONGEST_PAUSE)


class _Refused(Exception):
    """There is no stream to be had. The text is the end of a sentence."""
