"""One message over HTTP and whatever comes of it: a POST, its answer, its stream."""

from __future__ import annotations

import asyncio
import re
from typing import Final

from lockgate.errors import Fate, PeerError
from lockgate.mcp.protocol.framing import Oversized, excerpt
from lockgate.mcp.protocol.http_fate import MAYBE_TOO_LARGE, TOO_LARGE, Odd, answers
from lockgate.mcp.protocol.jsonrpc import (
    METHOD_NOT_FOUND,
    Failure,
    Handling,
    Invalid,
    Outgoing,
    RequestId,
    addressee,
    decode,
)
from lockgate.mcp.protocol.sse import MESSAGE, EventStream
from lockgate.mcp.transport.base import Receiver, SessionEnded
from lockgate.mcp.transport.http_wire import EVENTS, JSON, HttpWire
from lockgate.mcp.transport.http_words import one_line, summary
from lockgate.mcp.transport.presence import Presence
from lockgate.web.answer import Answer
from lockgate.web.failure import HttpFailure
from lockgate.web.sent import Sent

ENDING: Final = 1.0
"""Seconds in which a stream that brought its answer may end, so that its connection is kept."""
LOOK: Final = 3.0
"""Seconds that finding out what else is at an address may take."""
_RESUMED: Final = frozenset({Handling.OPENS_SESSION, Handling.IN_SESSION})
_ANSWER: Final = re.compile(rb'\{"jsonrpc":"2\.0","id":(\d{1,18}),"(?:result|error)":')
"""How most answers begin."""


class Elsewhere(Exception):
    """The answer does not come on the stream of its request. Never leaves the transport."""

    def __init__(self, status: int, last_id: str | None = None, retry: float | None = None) -> None:
        super().__init__()
        self.status = status
        """What the request was answered with."""
        self.last_id = last_id
        """What a broken stream is taken up from; None if the message was accepted without one."""
        self.retry = retry
        """Seconds that the server wants to be left alone for before that."""


class Posting:
    """Sends messages, and hands on what comes back on their own streams."""

    def __init__(self, wire: HttpWire, receiver: Receiver, limit: int, presence: Presence) -> None:
        """`limit`: bytes that one frame may have."""
        self._wire = wire
        self._presence = presence
        self._receiver = receiver
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._beginning: set[asyncio.Timeout] = set()
        """Of those who wait for a connection, what cuts that short."""

    async def begin(self, message: Outgoing) -> tuple[Sent, str | None]:
        """Write a message; what was written, and the session that it belongs to.

        Waits for a connection, and no longer than until `leave`. Raises `PeerError` (NOT_SENT).
        """
        wire = self._wire
        session = None if message.handling is Handling.OPENS_SESSION else wire.session
        beginning, begun = asyncio.timeout(None), self._presence.now
        try:
            async with beginning:
                self._beginning.add(beginning)
                return await wire.send(message, session), session
        except TimeoutError:
            raise wire.closed(Fate.NOT_SENT, text="nothing was sent: ") from None
        except HttpFailure as failure:
            raise self._presence.broken(failure, begun) from None
        finally:
            self._beginning.discard(beginning)

    def leave(self) -> None:
        """Begin nothing any more."""
        self._wire.left = True
        for beginning in self._beginning:
            beginning.reschedule(self._loop.time() - 1)

    async def accepted(self, message: Outgoing, sent: Sent) -> None:
        """Returns when a message was accepted whose answer comes on another stream, or when that
        answer was a refusal. Raises `PeerError` with its fate."""
        wire, begun = self._wire, self._presence.now
        try:
            answer = await wire.answered(sent, message, None)
            self._presence.heard(answer.status)
            if 200 <= answer.status < 300:
                await wire.beginning(answer)  # whatever it is
            else:
                await self._refused(answer, message, None, begun, look=False)
        except HttpFailure as failure:
            raise self._presence.broken(failure, begun) from None

    async def finish(self, message: Outgoing, sent: Sent, session: str | None) -> None:
        """Returns when a request was answered, or anything else accepted.

        Raises `PeerError` with its fate, and `Elsewhere`.
        """
        wire, handling = self._wire, message.handling
        opens = handling is Handling.OPENS_SESSION
        begun = self._presence.now
        try:
            answer = await wire.answered(sent, message, session)
            self._presence.heard(answer.status)
            try:
                if not 200 <= answer.status < 300:
                    await self._refused(answer, message, session, begun)
                    return
                if message.id is None or message.method is None:
                    await wire.beginning(answer)  # whatever it is, it was accepted (PB-067)
                    return
                if opens:
                    wire.take_session(answer)
                await self._answered(answer, message.id, handling)
            finally:
                answer.close()
        except HttpFailure as failure:
            raise self._presence.broken(failure, begun) from None

    # -------------------------------------------------------------- answers

    async def _answered(self, answer: Answer, request: RequestId, handling: Handling) -> None:
        kind = answer.media_type
        if kind == JSON:
            await self._json(answer, request)
        elif kind == EVENTS:
            await self._stream(answer, request, handling)
        else:
            data = await self._wire.beginning(answer)
            if not data.strip():
                raise Elsewhere(answer.status)
            told = summary(kind, data)
            raise self._wire.odd(Odd.NO_MESSAGE, f"answered with {told} where a message has to be")

    async def _json(self, answer: Answer, request: RequestId) -> None:
        data = await answer.piece()
        if not answer.ended and (more := await answer.piece()):
            whole = await self._gathered(answer, [data, more])
            if isinstance(whole, Oversized):
                self._oversized(whole, request)
                return
            data = whole
        if len(data) > self._limit:
            cut = Oversized(excerpt(data, data, len(data)), len(data), self._limit)
            self._oversized(cut, request)
        elif not data.strip() and answer.status != 200:
            raise Elsewhere(answer.status)
        else:
            self._receiver.frame(data)
            if not is_answer(data, request):
                self._unnamed(data, request)

    async def _gathered(self, answer: Answer, pieces: list[bytes]) -> bytes | Oversized:
        """The whole of a body; of one over the limit its two ends and its length. Of one that is
        compressed nothing more is undone then: a few bytes may stand for as much as they like."""
        size = sum(map(len, pieces))
        announced = answer.length
        while size <= self._limit and (announced is None or announced <= self._limit):
            piece = await answer.piece()
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)
            size += len(piece)
        head = b"".join(pieces)
        tail = head[-512:]
        head = head[:4096]
        if announced is None and not answer.compressed:
            while piece := await answer.piece():
                size += len(piece)
                tail = (tail + piece)[-512:]
        elif announced is not None:
            size = announced
        return Oversized(excerpt(head, tail, size), size, self._limit)

    def _unnamed(self, data: bytes, request: RequestId) -> None:
        """What came is not the answer by its id; it was the body of the answer all the same."""
        what = decode(data)
        if isinstance(what, Failure) and what.id is None:
            self._receiver.refused(request, what)
            return
        odd = "a message that does not answer the request"
        if isinstance(what, Invalid):
            odd = f"something that is {what.reason}"
        # Passed over where a batch held the answer.
        error = self._wire.odd(Odd.NO_MESSAGE, f"answered with {odd} ({summary(JSON, data)})")
        self._receiver.failed(request, error)

    async def _stream(self, answer: Answer, request: RequestId, handling: Handling) -> None:
        stream = EventStream(self._limit)
        failure: HttpFailure | None = None
        try:
            while piece := await answer.piece():
                if self.take(stream, piece, request):
                    await self._end(answer, stream)
                    return
        except HttpFailure as broken:
            failure = broken
        if handling in _RESUMED and stream.last_id is not None:
            raise Elsewhere(answer.status, stream.last_id, stream.retry)
        if failure is not None:
            raise failure
        what = "ended its stream without the answer"
        if (cut := stream.oversized) is not None:
            limit = f"the limit of {cut.limit:,} for one frame"
            what += f", or it was a message of {cut.size:,} bytes, which is over {limit}"
            raise self._wire.error(MAYBE_TOO_LARGE, what)
        raise self._wire.odd(Odd.NO_ANSWER, what)

    def take(self, stream: EventStream, piece: bytes, request: RequestId | None) -> bool:
        """Hand on the frames that a piece of a stream completes; whether the answer was there."""
        receiver, found = self._receiver, False
        for event in stream.feed(piece):
            if isinstance(event, Oversized):
                receiver.oversized(event.head, event.size, event.limit)
                found = found or (request is not None and addressee(event.head)[0] == request)
            elif event.type == MESSAGE:
                receiver.frame(event.data)
                found = found or (request is not None and is_answer(event.data, request))
        return found

    async def _end(self, answer: Answer, stream: EventStream) -> None:
        """Let a stream end by itself, so that its connection can be used again."""
        if answer.ended:
            return
        try:
            async with asyncio.timeout(ENDING):
                while piece := await answer.piece():
                    self.take(stream, piece, None)
        except (TimeoutError, HttpFailure):
            pass  # the answer is here; only the connection is lost

    def _oversized(self, cut: Oversized, request: RequestId) -> None:
        self._receiver.oversized(cut.head, cut.size, cut.limit)
        what = f"answered with {cut.size:,} bytes, over the limit of {cut.limit:,} for one frame"
        self._receiver.failed(request, self._wire.error(TOO_LARGE, what))

    # -------------------------------------------------------------- refusals

    async def _refused(
        self,
        answer: Answer,
        message: Outgoing,
        session: str | None,
        begun: int,
        *,
        look: bool = True,
    ) -> None:
        """A status that is no success: whose answer it is, or what error it means; with a `look` at
        what else is there, where that may be the reason. `begun`: see `Presence`."""
        wire = self._wire
        data = await wire.beginning(answer)
        said = decode(data) if data.lstrip()[:1] == b"{" else None
        request = None if message.method is None else message.id
        failure = said if isinstance(said, Failure) else None
        unknown = failure is not None and failure.code == METHOD_NOT_FOUND
        if answer.status == 404 and session is not None and not unknown:
            text = f"{wire.peer}: {wire.target.shown} does not know the session any more (404)"
            raise SessionEnded(text, peer=wire.peer)
        if failure is not None and request is not None:
            own_id = failure.id == request and type(failure.id) is type(request)
            if answers(answer.status, own_id=own_id):
                self._receiver.refused(request, failure)
                return
        told = summary(answer.media_type, data)
        if failure is not None:
            told = f"an error: {one_line(failure.message)} ({failure.code})"
        opens = message.handling is Handling.OPENS_SESSION
        if look and opens and answer.status in (400, 404, 405):
            told += await self._what_else()
        if request is None and message.method is not None:
            told += f"; that was the answer to {message.method}"
        error = wire.refused(answer.status, told, answer)
        raise self._presence.refused(answer.status, error, begun)

    async def _what_else(self) -> str:
        """What is at an address that does not take the first message, where that can be told."""
        try:
            async with asyncio.timeout(LOOK):
                answer = await self._wire.get(None)
        except (TimeoutError, HttpFailure, PeerError):
            return ""
        kind, good = answer.media_type, answer.status == 200
        answer.close()
        if good and kind == EVENTS:
            return (
                "; it opens a stream to whoever asks, so it seems to speak the older transport, "
                "HTTP with SSE, and not Streamable HTTP: set the transport of this server to sse"
            )
        return ""


def is_answer(frame: bytes, request: RequestId) -> bool:
    """Whether a frame answers the request of this id, or of the twin of another type."""
    quick = _ANSWER.match(frame)
    if quick is not None:
        return str(request) == quick[1].decode()
    answered = addressee(frame)[0]
    return answered is not None and str(answered) == str(request)
