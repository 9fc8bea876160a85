"""MCP over Streamable HTTP: every message is a POST of its own, its answer a body or a stream.

Sources: 2026-07-28, basic/transports/streamable-http; 2025-11-25, basic/transports. What differs
between revisions arrives in each `Outgoing`. One exchange fails alone (`Receiver.failed`); the link
itself ends only when it is left. Import this late: it brings the HTTP library along.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol.framing import LIMIT
from lockgate.mcp.protocol.http_fate import Odd
from lockgate.mcp.protocol.jsonrpc import Handling, Outgoing, RequestId
from lockgate.mcp.transport.base import Link, Receiver, SessionEnded
from lockgate.mcp.transport.http_exchange import Elsewhere, Posting
from lockgate.mcp.transport.http_pool import pool_for
from lockgate.mcp.transport.http_streams import PAUSE, Streams
from lockgate.mcp.transport.http_wire import HttpWire
from lockgate.mcp.transport.presence import Presence
from lockgate.mcp.transport.tokens import TokenSource
from lockgate.process.hidden import Hidden
from lockgate.process.outlast import outlast
from lockgate.showing import visible
from lockgate.web.failure import HttpFailure
from lockgate.web.pool import CONNECT, Pool
from lockgate.web.sent import Sent

logger = logging.getLogger(__name__)

TAKEN_IN: Final = (Fault.CLOSED, Fate.UNKNOWN)
"""Of an exchange that failed on this side."""
ELSEWHERE: Final = 1000
"""Requests that are known to be answered on another stream, at most; nothing tells when one was."""
SELDOM: Final = 30.0
"""Seconds between two sessions that are found to be over without a request."""
FAREWELL: Final = 1.0
"""Seconds that telling the server about the end may take."""
AN_EAR: Final = 0.5
"""Seconds that a session waits for the stream of what its server says unasked. Many servers drop
what they say, their own requests too, while nobody listens; some keep its beginning to themselves
until there is something to say."""


class StreamableHttpTransport:
    """A server at an address."""

    def __init__(
        self,
        endpoint: HttpEndpoint,
        *,
        peer: str,
        environ: Mapping[str, str],
        frame_limit: int = LIMIT,
        pause: float = PAUSE,
        farewell: float = FAREWELL,
        connect: float = CONNECT,
        hidden: Iterable[str] = (),
        tokens: TokenSource | None = None,
    ) -> None:
        """`peer` is the configured name of the server, for messages.

        `environ` names proxies, if the endpoint leaves that to it; nothing else of it counts.
        `frame_limit` bytes are the most that one arriving frame may have. `pause` seconds are
        waited before a stream that ended is asked for again, `connect` seconds may be spent on
        one connection; what takes longer is not there. `hidden` is what no error may hold,
        beside the endpoint's own secrets. `tokens` gives the credentials of every request; None:
        those in the endpoint's headers, or none.
        """
        self._endpoint = endpoint
        self._peer = peer
        self._environ = environ
        self._frame_limit = frame_limit
        self._pause = pause
        self._farewell = farewell
        self._connect = connect
        self._tokens = tokens
        learned = None if tokens is None else tokens.learned
        self._hidden = Hidden((*endpoint.secrets(), *hidden), learned)

    def open(self, receiver: Receiver) -> AbstractAsyncContextManager[Link]:
        """Get ready; the server is reached with the first message. See `Transport.open`.

        Raises `PeerError` (CONNECT) if a file for TLS, or the proxy, can not be used.
        """
        return self._open(receiver)

    @property
    def authorizing(self) -> bool:
        """Whether credentials are being got just now, and requests may wait for that."""
        return bool(getattr(self._tokens, "busy", False))  # of those sources that ask others

    def describe(self) -> str:
        """The origin of the address."""
        return self._endpoint.target.origin

    @asynccontextmanager
    async def _open(self, receiver: Receiver) -> AsyncGenerator[Link, None]:
        pool = pool_for(self._endpoint, self._peer, self._environ, self._connect)
        wire = HttpWire(self._endpoint, self._peer, pool, self._hidden, self._tokens)
        link = _HttpLink(wire, receiver, self._frame_limit, self._pause)
        try:
            yield link
        finally:
            link.leave()
            closing = self._close(link, wire, pool)
            await outlast(asyncio.get_running_loop().create_task(closing))

    async def _close(self, link: _HttpLink, wire: HttpWire, pool: Pool) -> None:
        try:
            await link.ended()
            if self._tokens is not None:
                await self._tokens.settle()
            if wire.session is not None:
                async with asyncio.timeout(self._farewell):
                    await wire.delete(wire.session)
        except (TimeoutError, HttpFailure, PeerError):
            pass  # it was told, or can not be
        finally:
            await pool.close()


class _HttpLink:
    """The link: owns a task for each exchange, and one that listens."""

    def __init__(self, wire: HttpWire, receiver: Receiver, limit: int, pause: float) -> None:
        self._wire = wire
        self._receiver = receiver
        self._loop = asyncio.get_running_loop()
        presence = Presence(wire, receiver)
        self._posting = Posting(wire, receiver, limit, presence)
        self._streams = Streams(wire, self._posting, limit, presence, pause)
        self._tasks: set[asyncio.Task[None]] = set()
        self._exchanges: dict[RequestId, asyncio.Task[None]] = {}
        """The requests under way."""
        self._elsewhere: dict[RequestId, int] = {}
        """Those that were accepted without a stream, with the status: their answers come where we
        listen."""
        self._listening: asyncio.Task[None] | None = None
        self._has_sessions = False
        self._look_again = 0.0
        """The time of the loop before which no session is found to be over once more."""
        self._left = False

    # -------------------------------------------------------------- Link

    @property
    def mirrors(self) -> bool:
        """True: the headers of every message reach the server."""
        return True

    async def send(self, message: Outgoing) -> None:
        """See `Link.send`. Waits for a connection, and no longer unless nothing may overtake."""
        if self._left:
            raise self._wire.closed(Fate.NOT_SENT, text="nothing was sent: ")
        if message.handling is Handling.OPENS_SESSION:
            self._has_sessions = True
        sent, session = await self._posting.begin(message)
        task = self._loop.create_task(self._exchange(message, sent, session))
        self._tasks.add(task)

        def done(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            sent.drop()  # cancelled, it may not even have begun to wait for the answer

        task.add_done_callback(done)
        if message.method is not None and message.id is not None:
            self._exchanges[message.id] = task
        if message.handling is Handling.BEGINS_SESSION:
            await self._begun(message, task)

    def abandon(self, request: RequestId) -> bool:
        """Close the stream of a request; True where that is all that withdraws it."""
        self._elsewhere.pop(request, None)
        task = self._exchanges.pop(request, None)
        if task is not None:
            task.cancel()
        return not self._has_sessions

    def last_words(self) -> str:
        """Nothing: a server over HTTP says nothing beside its answers."""
        return ""

    # -------------------------------------------------------------- exchanges

    async def _exchange(self, message: Outgoing, sent: Sent, session: str | None) -> None:
        """What comes of a message that was sent, to its end."""
        request = None if message.method is None else message.id
        error: PeerError | None = None
        try:
            await self._posting.finish(message, sent, session)
        except Elsewhere as elsewhere:
            if request is not None:
                error = await self._await_elsewhere(request, elsewhere)
        except PeerError as failed:
            error = failed
        except Exception as failed:
            logger.exception("%s: an exchange failed in lockgate itself", self._wire.peer)
            what = f"was asked, and the answer could not be taken in ({type(failed).__name__})"
            error = self._wire.error(TAKEN_IN, what)
        finally:
            if request is not None:
                self._exchanges.pop(request, None)
        if error is None:
            return
        if message.handling is Handling.BEGINS_SESSION:
            raise error
        if request is not None:
            self._receiver.failed(request, error)
        else:
            logger.debug("a message was not accepted: %s", visible(str(error)))

    async def _await_elsewhere(self, request: RequestId, elsewhere: Elsewhere) -> PeerError | None:
        """An answer that does not come on the stream of its request."""
        if elsewhere.last_id is not None:
            try:
                await self._streams.resume(request, elsewhere)
            except PeerError as error:
                return error
            return None
        if self._listening is not None and not self._listening.done():
            if len(self._elsewhere) >= ELSEWHERE:
                del self._elsewhere[next(iter(self._elsewhere))]  # it was answered long ago
            self._elsewhere[request] = elsewhere.status
            return None
        return self._no_stream(elsewhere.status, "")

    async def _begun(self, message: Outgoing, task: asyncio.Task[None]) -> None:
        """Wait until what begins a session was accepted; then listen, and have that begun."""
        try:
            await asyncio.wait((task,))
        except BaseException:
            task.cancel()
            raise
        if task.cancelled():
            raise self._wire.closed(Fate.UNKNOWN)
        task.result()
        self._wire.usual = message.headers
        if self._left:
            return
        if self._listening is not None:
            self._listening.cancel()
        asked = asyncio.Event()
        self._listening = self._loop.create_task(self._listen(asked))
        self._tasks.add(self._listening)
        self._listening.add_done_callback(self._tasks.discard)
        try:
            async with asyncio.timeout(AN_EAR):
                await asked.wait()
        except TimeoutError:
            pass

    async def _listen(self, asked: asyncio.Event) -> None:
        unheard = await self._streams.listen(asked)
        waiting, self._elsewhere = self._elsewhere, {}
        for request, status in waiting.items():
            self._receiver.failed(request, self._no_stream(status, unheard.why))
        if unheard.session is not None:
            self._over(unheard.session)

    def _over(self, session: str) -> None:
        """A session was found to be over by who listens; a server that ends one after the other is
        left to the next request to find out."""
        now, wire = self._loop.time(), self._wire
        if self._left or wire.session != session or now < self._look_again:
            return
        self._look_again = now + SELDOM
        text = f"{wire.peer}: {wire.target.shown} gives no stream to the session any more (404)"
        self._receiver.noticed(SessionEnded(text, peer=wire.peer))

    def _no_stream(self, status: int, why: str) -> PeerError:
        what = f"accepted the request ({status}) without a stream for the answer, and has no other"
        what += why
        return self._wire.odd(Odd.NO_ANSWER, what)

    # -------------------------------------------------------------- ending

    def leave(self) -> None:
        """Begin nothing any more, and end what is under way."""
        self._left = True
        self._receiver.closed(self._wire.closed(Fate.UNKNOWN, Phase.CLOSE))
        self._posting.leave()
        for task in tuple(self._tasks):
            task.cancel()

    async def ended(self) -> None:
        """Wait for the tasks, which were cancelled."""
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=FAREWELL)
