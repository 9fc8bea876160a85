"""MCP over HTTP with SSE, for servers of before Streamable HTTP: one stream, and a POST a message.

Source: 2024-11-05, basic/transports: HTTP with SSE. The stream is the connection: its first event
names where messages are posted, every answer comes on it, and its end is the end of the link.
Import this late: it brings the HTTP library along.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.endpoint import SseEndpoint
from lockgate.mcp.protocol.framing import LIMIT, Oversized
from lockgate.mcp.protocol.jsonrpc import Handling, Outgoing, RequestId
from lockgate.mcp.protocol.sse import MESSAGE, Arrived, EventStream
from lockgate.mcp.transport.base import Link, OnlyHandshakes, Receiver
from lockgate.mcp.transport.http_exchange import Posting
from lockgate.mcp.transport.http_pool import pool_for
from lockgate.mcp.transport.http_wire import HttpWire
from lockgate.mcp.transport.presence import Presence
from lockgate.mcp.transport.sse_opening import Opened, open_stream
from lockgate.mcp.transport.tokens import TokenSource
from lockgate.process.hidden import Hidden
from lockgate.process.outlast import outlast
from lockgate.web.answer import Answer
from lockgate.web.failure import HttpFailure
from lockgate.web.pool import CONNECT, Pool
from lockgate.web.sent import Sent

logger = logging.getLogger(__name__)

OPENING: Final = 15.0
"""Seconds in which a stream has to say where messages are posted."""
UNANSWERED: Final = 30.0
"""Seconds that the POST of a message may take which no deadline watches."""
ENDING: Final = 1.0
"""Seconds that tasks which were cancelled may take to end."""


class LegacySseTransport(OnlyHandshakes):
    """A server at an address that streams."""

    def __init__(
        self,
        endpoint: SseEndpoint,
        *,
        peer: str,
        environ: Mapping[str, str],
        frame_limit: int = LIMIT,
        opening: float = OPENING,
        connect: float = CONNECT,
        hidden: Iterable[str] = (),
        tokens: TokenSource | None = None,
    ) -> None:
        """See `StreamableHttpTransport`. `opening`: seconds in which the stream has to begin."""
        self._endpoint = endpoint
        self._peer = peer
        self._environ = environ
        self._frame_limit = frame_limit
        self._opening = opening
        self._connect = connect
        self._tokens = tokens
        learned = None if tokens is None else tokens.learned
        self._hidden = Hidden((*endpoint.secrets(), *hidden), learned)

    def open(self, receiver: Receiver) -> AbstractAsyncContextManager[Link]:
        """Open the stream, and learn from it where messages go. See `Transport.open`.

        Raises `PeerError` (CONNECT) also for a place of another origin: nothing is sent there.
        """
        return self._open(receiver)

    def describe(self) -> str:
        """The origin of the address."""
        return self._endpoint.target.origin

    @asynccontextmanager
    async def _open(self, receiver: Receiver) -> AsyncGenerator[Link, None]:
        pool = pool_for(self._endpoint, self._peer, self._environ, self._connect)
        link: _SseLink | None = None
        opened: Opened | None = None
        try:
            wire = HttpWire(self._endpoint, self._peer, pool, self._hidden, self._tokens)
            stream = EventStream(self._frame_limit)
            opened = await open_stream(wire, stream, self._opening)
            endpoint = opened.endpoint_of(self._endpoint)
            posting = HttpWire(endpoint, self._peer, pool, self._hidden, self._tokens)
            link = _SseLink(posting, receiver, opened, stream, self._frame_limit)
            yield link
        finally:
            if link is not None:
                link.leave()
            closing = _close(link, opened, pool, self._tokens)
            await outlast(asyncio.get_running_loop().create_task(closing))


class _SseLink:
    """The link: a task that reads the stream, and one for each message on its way."""

    def __init__(
        self,
        wire: HttpWire,
        receiver: Receiver,
        opened: Opened,
        stream: EventStream,
        limit: int,
    ) -> None:
        self._wire = wire
        self._posting = Posting(wire, receiver, limit, Presence(wire, receiver))
        self._receiver = receiver
        self._place = opened.place
        self._stream = stream
        self._loop = asyncio.get_running_loop()
        self._posts: dict[RequestId, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: str | None = None
        """Why nothing is sent any more."""
        self._start(self._read(opened.answer, opened.rest))

    # -------------------------------------------------------------- Link

    @property
    def mirrors(self) -> bool:
        """False: what a revision wants in headers came after this transport."""
        return False

    async def send(self, message: Outgoing) -> None:
        """See `Link.send`. Waits for a connection, and no longer unless nothing may overtake."""
        if self._ended is not None:
            raise self._wire.closed(Fate.NOT_SENT, text=f"nothing was sent: {self._ended}: ")
        sent, _ = await self._posting.begin(message)
        task = self._start(self._accepted(message, sent))
        # Cancelled, it may not even have begun to wait for what the server says.
        task.add_done_callback(lambda _: sent.drop())
        if message.method is not None and message.id is not None:
            self._posts[message.id] = task
        if message.handling is Handling.BEGINS_SESSION:
            try:
                await asyncio.wait((task,))
            except BaseException:
                task.cancel()
                raise
            if task.cancelled():
                raise self._wire.closed(Fate.UNKNOWN)
            task.result()

    def abandon(self, request: RequestId) -> bool:
        """False: the stream is that of all requests; a POST that is still open is closed."""
        task = self._posts.pop(request, None)
        if task is not None:
            task.cancel()
        return False

    def last_words(self) -> str:
        """Nothing: a server over HTTP says nothing beside its answers."""
        return ""

    # -------------------------------------------------------------- posting

    async def _accepted(self, message: Outgoing, sent: Sent) -> None:
        """See a message accepted; its answer comes on the stream."""
        request = None if message.method is None else message.id
        error: PeerError | None = None
        try:
            async with asyncio.timeout(UNANSWERED if request is None else None):
                await self._posting.accepted(message, sent)
        except TimeoutError:
            error = self._wire.closed(Fate.UNKNOWN, text="the server accepts no message: ")
        except PeerError as failed:
            error = failed
        finally:
            if request is not None:
                self._posts.pop(request, None)
        if error is None:
            return
        if message.handling is Handling.BEGINS_SESSION:
            raise error
        if request is not None and self._ended is None:
            self._receiver.failed(request, error)
        else:
            logger.debug("%s: a message was not accepted: %s", self._wire.peer, error)

    # -------------------------------------------------------------- the stream

    async def _read(self, answer: Answer, rest: Iterable[Arrived]) -> None:
        """Hand on what the stream brings; its end is that of the link."""
        why = "the server ended its stream"
        try:
            events = rest
            while True:
                for event in events:
                    self._take(event)
                if self._ended is not None or not (piece := await answer.piece()):
                    break
                events = self._stream.feed(piece)
        except HttpFailure as failure:
            why = f"the stream of the server {failure}"
        except Exception as failed:
            logger.exception("%s: a frame could not be taken in", self._wire.peer)
            why = f"what it sent could not be taken in ({type(failed).__name__})"
        self._end(why)

    def _take(self, event: Arrived) -> None:
        if self._ended is not None:
            return
        if isinstance(event, Oversized):
            self._receiver.oversized(event.head, event.size, event.limit)
        elif event.type == MESSAGE:
            self._receiver.frame(event.data)
        elif event.type == "endpoint" and event.data != self._place:
            self._end("the server named a second place for messages", Fault.MALFORMED)

    # -------------------------------------------------------------- ending

    def leave(self) -> None:
        """Begin nothing any more, and end what is under way."""
        self._end("", phase=Phase.CLOSE)
        for task in tuple(self._tasks):
            task.cancel()

    async def ended(self) -> None:
        """Wait for the tasks, which were cancelled."""
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=ENDING)

    def _end(self, why: str, fault: Fault = Fault.CLOSED, *, phase: Phase = Phase.REQUEST) -> None:
        """The link is gone; the first reason counts."""
        if self._ended is not None:
            return
        self._ended = why or "it was closed by us"
        peer = self._wire.peer
        text = f"{peer}: {why}, and with it the connection" if why else "the connection was closed"
        self._receiver.closed(
            PeerError(text, peer=peer, phase=phase, fault=fault, fate=Fate.UNKNOWN)
        )
        self._posting.leave()
        for task in self._posts.values():
            task.cancel()

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _close(
    link: _SseLink | None, opened: Opened | None, pool: Pool, tokens: TokenSource | None
) -> None:
    try:
        if link is not None:
            await link.ended()
        if tokens is not None:
            await tokens.settle()
    finally:
        if opened is not None:
            opened.answer.close()
        await pool.close()
