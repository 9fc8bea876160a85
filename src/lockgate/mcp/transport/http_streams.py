"""Streams that are asked for: what a server says unasked, and answers whose own stream broke.

2025-11-25, basic/transports: Listening for Messages from the Server; Resumability and Redelivery.
A stream that ends is asked for again, from its last event on, after the pause that the server
wants, or one that grows; one that never brings anything is given up. However short a pause a server
wants, it is not asked without one: while nothing comes but ids, that is about once a second.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from lockgate.errors import PeerError
from lockgate.mcp.protocol.http_fate import Odd
from lockgate.mcp.protocol.jsonrpc import RequestId
from lockgate.mcp.protocol.sse import EventStream
from lockgate.mcp.transport.http_exchange import Elsewhere, Posting
from lockgate.mcp.transport.http_wire import EVENTS, HttpWire
from lockgate.mcp.transport.presence import Presence
from lockgate.web.answer import Answer
from lockgate.web.failure import HttpFailure

logger = logging.getLogger(__name__)

TRIES: Final = 5
"""Streams in a row that may end without an event."""
PAUSE: Final = 1.0
"""Seconds before the first further try; each time twice as long."""
SHORTEST: Final = 0.25
"""The share of `PAUSE` that is waited at least, whatever the server wants; twice as much for each
further stream in a row without a message, up to the whole."""
LONGEST_PAUSE: Final = 30.0
"""Seconds; a server that wants to be left alone for longer is asked after this."""


@dataclass(frozen=True, slots=True)
class Unheard:
    """Why nothing is heard any more that a server says unasked."""

    why: str
    """The end of a sentence; may be empty."""
    session: str | None
    """The session that was found to be over; None if none was."""


class Streams:
    """Asks for streams of one link."""

    def __init__(
        self,
        wire: HttpWire,
        posting: Posting,
        limit: int,
        presence: Presence,
        pause: float = PAUSE,
    ) -> None:
        self._wire = wire
        self._presence = presence
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

    async def listen(self, asked: asyncio.Event) -> Unheard:
        """Hand on what the server says unasked, until it ends that for good; returns why.

        `asked` is set once the first stream is there, or is not to be had.
        """
        try:
            await self._follow(None, None, None, asked)
        except _Refused as refused:
            logger.debug("%s: no stream of its own%s", self._wire.peer, refused)
            return Unheard(str(refused), refused.session)
        finally:
            asked.set()
        return Unheard("", None)

    async def _follow(
        self,
        last_id: str | None,
        retry: float | None,
        request: RequestId | None,
        asked: asyncio.Event | None = None,
    ) -> None:
        """Ask again and again; returns when `request` was answered, raises `_Refused`."""
        idle, barren, first = 0, 0, request is None
        had: str | None = None
        """The session in which a stream was had before."""
        while True:
            if not first:
                await asyncio.sleep(self._patience(retry, idle, barren))
            first = False
            stream = EventStream(self._limit)
            brought = False
            session, begun = self._wire.session, self._presence.now
            try:
                answer = await self._opened(last_id, had)
                if asked is not None:
                    asked.set()
                if answer is not None:
                    had = session
                    brought, found = await self._read(answer, stream, request)
                    if found:
                        return
            except HttpFailure as failure:
                self._presence.broken(failure, begun)
                if asked is not None:
                    asked.set()  # it counts as one that brought nothing
            last_id = stream.last_id or last_id
            retry = retry if stream.retry is None else stream.retry
            idle = 0 if brought else idle + 1
            barren = 0 if stream.brought else barren + 1
            if idle >= TRIES:
                raise _Refused(f": {TRIES} streams in a row ended without an event")

    async def _opened(self, last_id: str | None, had: str | None) -> Answer | None:
        """A stream; None if the server could not give one just now. Raises `_Refused`.

        `had` is a session that had a stream before: where it has none any more, it is over. A
        server that never has any may say 404 in the place of 405.
        """
        session = self._wire.session
        try:
            answer = await self._wire.get(last_id)
        except PeerError as error:  # a redirect that is not followed
            raise _Refused(f": {error}") from None
        self._presence.heard(answer.status)
        if answer.status == 200 and answer.media_type == EVENTS:
            return answer
        answer.close()
        over = session if answer.status == 404 and session == had else None
        if answer.status == 429 or answer.status >= 500:
            return None
        kind = f" ({answer.media_type})" if answer.status == 200 else ""
        raise _Refused(f": the answer to GET was {answer.status}{kind}", over)

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

    def _patience(self, retry: float | None, idle: int, barren: int) -> float:
        """Seconds until the next try, after so many streams in a row that brought nothing at all,
        and so many without a message: an event without one may be a server's way to say that it is
        still at work (2025-11-25), so those are not counted to give it up."""
        if retry is not None and idle < 2:
            floor = self._pause * min(SHORTEST * 2 ** min(barren, 9), 1.0)
            return min(max(retry, floor), LONGEST_PAUSE)
        least = self._pause * 2 ** max(idle - 1, 0)
        return min(max(least, retry or 0.0), LONGEST_PAUSE)


class _Refused(Exception):
    """There is no stream to be had. The text is the end of a sentence."""

    def __init__(self, text: str, session: str | None = None) -> None:
        super().__init__(text)
        self.session = session
        """What is over, as that tells."""
