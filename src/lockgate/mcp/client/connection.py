"""One connection to one server: requests with their answers, for any number of tasks at once.

One plain task, the owner, opens the transport, writes what is nobody's request, and closes it;
callers talk to it by futures and events. So opening and closing may happen in different tasks, and
a cancelled caller never harms the connection (S3-24).

The fate of a failed request (B-03): NOT_SENT while it is proven that its frame was never begun to
be written, ANSWERED once an answer for it came, readable or not, UNKNOWN in between.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Raw

from lockgate.errors import LocalError, PeerError
from lockgate.mcp.client.failures import Failures
from lockgate.mcp.client.inbound import Inbound, Listener
from lockgate.mcp.client.journal import Journal
from lockgate.mcp.client.making import MakeRequest, made
from lockgate.mcp.client.outbox import Outbox
from lockgate.mcp.client.pending import Answer, PendingRequests, Waiting
from lockgate.mcp.client.progress import Tracked
from lockgate.mcp.client.receiver import FrameReceiver
from lockgate.mcp.client.renewal import Renewal
from lockgate.mcp.client.serverlog import MESSAGE, ServerLog
from lockgate.mcp.client.services import SERVES_NOTHING, Occasion, Services
from lockgate.mcp.client.serving import Serving
from lockgate.mcp.client.standing import Bound
from lockgate.mcp.client.tasknews import TaskNews
from lockgate.mcp.protocol import outgoing
from lockgate.mcp.protocol.elicitation import COMPLETE
from lockgate.mcp.protocol.jsonrpc import Failure, Outgoing
from lockgate.mcp.protocol.outgoing import Dialect
from lockgate.mcp.protocol.progress import PROGRESS
from lockgate.mcp.protocol.session import Event, Session
from lockgate.mcp.protocol.tasks import CHANGED
from lockgate.mcp.transport.base import Link, SessionEnded, Transport

logger = logging.getLogger(__name__)


class Connection:
    """Made unopened; `open` it once, `close` it as often as you like.

    Belongs to the event loop that opened it: use from another loop or thread is a `LocalError`.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        peer: str,
        request_timeout: float = 30.0,
        services: Services = SERVES_NOTHING,
        listeners: Sequence[Listener] = (),
        journal: Journal | None = None,
    ) -> None:
        """`peer` is the configured name of the server, for messages; `request_timeout` the seconds
        one request may take, queueing and writing included (S3-21); `services` is what the server
        may ask for in requests of its own; `journal` its log."""
        self.peer, journal = peer, journal or Journal(peer)
        self.request_timeout = request_timeout
        self.session = Session()
        """How far the conversation is, by the table in `protocol.session`."""
        self._transport = transport
        self.hidden = journal.hidden
        """What no error about this server may hold, though the server says it."""
        self._failures = Failures(peer, self.hidden)
        self._pending = PendingRequests(self._failures, journal)
        self._outbox = Outbox(peer, request_timeout)
        self.serving = Serving(peer, services, self._pending)
        self.tasks = TaskNews(self._outbox, self._pending, lambda: self._link)
        concerns = {
            PROGRESS: self._pending.progressed,
            MESSAGE: ServerLog(journal),
            COMPLETE: self.serving.completions.completed,
            CHANGED: self.tasks.changed,
        }
        handlers = self.serving.handlers()
        self._inbound = Inbound(peer, self._outbox, handlers, listeners, journal, concerns)
        told = (self._lost, self._noticed)
        self._receiver = FrameReceiver(journal, self._pending, self._inbound, *told)
        self._dialect: Dialect | None = None
        self._renewal: Renewal | None = None
        """For revisions that have sessions, which a server may forget."""
        self.renewed: list[Callable[[], None]] = []  # told of each new session, see there
        self._loop: asyncio.AbstractEventLoop | None = None
        self._owner: asyncio.Task[None] | None = None
        self._link: Link | None = None
        self._reason: PeerError | None = None
        self._opened = asyncio.Event()
        """Set when opening has succeeded or failed."""
        self._reached = False
        """Whether opening has succeeded, whatever came after."""
        self._gone = asyncio.Event()
        self._closing = False

    @property
    def usable(self) -> bool:
        """Whether a request made now would be sent."""
        return self._link is not None

    @property
    def reason(self) -> PeerError | None:
        """Why the connection can not be used any more; None before and while it can."""
        return self._reason

    @property
    def dialect(self) -> Dialect:
        """What was agreed upon. Raises `LocalError` before that."""
        if self._dialect is None:
            raise LocalError(f"no protocol revision is agreed upon with {self.peer} yet")
        return self._dialect

    @property
    def mirrors(self) -> bool:
        """Whether what goes beside a frame reaches the server; see `Link.mirrors`."""
        return self._link is not None and self._link.mirrors

    def agree(self, dialect: Dialect) -> None:
        """Speak this revision from now on."""
        self.session.advance(Event.AGREE, dialect.revision)
        self._dialect = dialect
        if not dialect.revision.modern:
            self._renewal = Renewal(self, dialect)
        self._receiver.batches = dialect.revision.batches
        self.serving.agree(dialect.revision)

    async def open(self) -> None:
        """Reach the server. Not bounded: the caller knows how long it may take.

        Raises `PeerError` (phase SPAWN or CONNECT); a link that breaks right after is told by the
        first request. Cancelled, it closes what it had opened.
        """
        if self._owner is not None or self._closing:
            raise LocalError(f"the connection to {self.peer} was used before: make a new one")
        self._loop = asyncio.get_running_loop()
        self._owner = self._loop.create_task(self._own(), name=f"lockgate mcp {self.peer}")
        try:
            await self._opened.wait()
        except BaseException:
            await self.close()
            raise
        if not self._reached and self._reason is not None:
            await self.close()
            raise self._reason

    async def close(self) -> None:
        """End the connection and wait until nothing of it is left. Idempotent; any task may.

        Open requests fail with fate UNKNOWN. Raises for a wrong loop only; other faults are logged.
        """
        self._closing = True
        owner = self._owner
        if owner is None:
            self._end(self._failures.closed())
            return
        self._check_loop()
        if self._opened.is_set():
            self._inbound.refuse_open()
            self._outbox.end()
        else:
            owner.cancel()
        await asyncio.wait((owner,))

    async def wait_gone(self) -> PeerError:
        """Wait until the connection can not be used any more; returns why."""
        await self._gone.wait()
        return self._reason or self._failures.closed()

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> Raw:
        """Send one request and return the JSON text of its result, not decoded.

        `timeout` in seconds; None is the connection's own. Raises `PeerError` (phase REQUEST):
        NOT_CONNECTED, TIMEOUT, CLOSED, REFUSED with the peer's code and words, MALFORMED,
        TOO_LARGE; and `Unwritable` for params that have no JSON form.
        """
        dialect = self.dialect
        return await self.ask(lambda id: dialect.request(id, method, params), timeout=timeout)

    async def ask(self, make: MakeRequest, *, timeout: float | None = None) -> Raw:
        """The same for a frame of the caller's making."""
        return self.result_of(await self.exchange(make, timeout=timeout))

    def result_of(self, answer: Answer) -> Raw:
        """The result in an answer. Raises `PeerError` (REFUSED) for the peer's error."""
        if isinstance(answer, Failure):
            raise self._failures.refused(answer)
        return answer

    async def exchange(
        self,
        make: MakeRequest,
        *,
        timeout: float | None = None,
        withdraw: bool = True,
        renew: bool = True,
        tracked: Tracked | None = None,
        about: Occasion | None = None,
        bound: Bound | None = None,
    ) -> Answer:
        """The same, but an error that the peer answered is returned.

        Given up or cancelled, the protocol's cancel signal is sent, unless `withdraw` is False:
        `initialize` must never be cancelled (2025-11-25, basic/utilities/cancellation), and a
        legacy server may break over anything that comes before it. A request of a session that has
        ended is made once more in a new one, unless `renew` is False. `tracked` is whom its
        progress concerns; the frame has to ask for it. `about` is what a server that asks
        something meanwhile can ask for, and `bound` the caller's own, which stands still then.
        """
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._check_loop()
        link, pending = self._link, self._pending
        if link is None:
            raise self._failures.unusable(self._reason)
        identity = pending.next_id()
        message = made(make, identity)
        limit = self.request_timeout if timeout is None else timeout
        waiting = Waiting(
            message.method or "",
            loop.create_future(),
            asyncio.current_task(loop),
            loop.time() + limit,
            tracked,
            about,
            bound,
        )
        generation = 0 if self._renewal is None else self._renewal.generation
        strays = pending.strays
        if tracked is not None:
            tracked.begin(waiting.due - limit, limit)
        pending.add(identity, waiting)
        try:
            await link.send(message)
            waiting.sender = None
            result = await waiting.answer
            if type(result) is Raw:
                return result  # as nearly always
        except asyncio.CancelledError:
            self._pending.drop(identity)
            if waiting.cut_off():
                raise self._timed_out(message, limit, link, sent=False) from None
            if waiting.sender is None:
                self._withdraw(link, identity, "the call was cancelled", tell=withdraw)
            raise
        except BaseException:
            self._pending.drop(identity)
            raise
        if isinstance(result, PeerError):
            if renew and isinstance(result, SessionEnded) and self._renewal is not None:
                due = loop.time() + waiting.left(loop.time())
                await self._renewed(self._renewal, generation, due)
                return await self.exchange(
                    make,
                    timeout=due - loop.time(),
                    withdraw=withdraw,
                    renew=False,
                    tracked=tracked,
                    about=about,
                    bound=bound,
                )
            raise result
        if result is None:
            limit = limit if tracked is None else tracked.allowed
            self._pending.drop(identity)
            self._withdraw(link, identity, f"no answer within {limit:g} s", tell=withdraw)
            raise self._timed_out(message, limit, link, self._pending.stray(strays), sent=True)
        return result

    async def initialize_again(self, dialect: Dialect) -> Answer:
        """Open a new session on this link; for `Renewal`."""
        client, revision, offered = dialect.client, dialect.revision, dialect.capabilities
        return await self.exchange(
            lambda id: outgoing.initialize(id, client, revision, offered),
            withdraw=False,
            renew=False,
        )

    async def tell(self, message: Outgoing) -> None:
        """Send a notification; returns when it can not be withdrawn any more.

        Bounded by the request timeout. Raises `PeerError`.
        """
        self._check_loop()
        link = self._link
        if link is None:
            raise self._failures.unusable(self._reason)
        limit = self.request_timeout
        try:
            async with asyncio.timeout(limit):
                await link.send(message)
        except TimeoutError:
            raise self._timed_out(message, limit, link, sent=False) from None

    async def _own(self) -> None:
        """The owner's life: open, write what is put, close."""
        reason: PeerError | None = None
        try:
            async with self._transport.open(self._receiver) as link:
                if self._reason is None:
                    self._link = link
                self._reached = True
                self._opened.set()
                await self._outbox.deliver(link)
                await self._inbound.ended()
                if self._renewal is not None:
                    await self._renewal.ended()
        except PeerError as error:
            reason = error
        except Exception as error:
            logger.exception("%s: the transport failed", self.peer)
            reason = self._failures.closed(f"the transport failed: {type(error).__name__}")
        finally:
            self._end(reason or self._failures.closed())

    @property
    def lingers(self) -> bool:
        """Whether its server is not there, and what is under way may be answered all the same."""
        return self._link is None and len(self._pending) > 0

    async def settled(self, within: float) -> None:
        """Wait until what is under way was answered or given up, at most so many seconds."""
        if answers := self._pending.answers:
            await asyncio.wait(answers, timeout=within)

    def _noticed(self, error: PeerError) -> None:
        """See `Receiver.noticed`. Of a server that is not there, nothing new is asked."""
        if isinstance(error, SessionEnded):
            if self._renewal is not None and self._link is not None:
                self._renewal.begin()
        elif self._dialect is not None and self._link is not None:
            self._link, self._reason = None, error
            self._gone.set()

    def _lost(self, error: PeerError) -> None:
        """The link is gone: tell everyone who waits, and let the owner clean up."""
        self._end(error)
        self._outbox.end()

    def _end(self, reason: PeerError) -> None:
        """Nothing is sent or answered from here on; the first reason counts."""
        self._link = None
        self.session.advance(Event.CLOSE)
        if self._reason is None:
            self._reason = reason
        self._pending.fail_all(self._reason)
        self._inbound.refuse_open()
        if self._renewal is not None:
            self._renewal.end()
        self._opened.set()
        self._gone.set()

    def _timed_out(
        self, message: Outgoing, limit: float, link: Link, stray: str | None = None, *, sent: bool
    ) -> PeerError:
        return self._failures.timed_out(message, limit, link.last_words(), stray, sent=sent)

    async def _renewed(self, renewal: Renewal, generation: int, due: float) -> None:
        """Wait for a session later than that of `generation`, no longer than until `due`."""
        try:
            async with asyncio.timeout_at(due):
                await renewal.after(generation)
        except TimeoutError:
            raise self._failures.unusable(
                self._failures.closed("the session has ended, and no new one was opened in time")
            ) from None

    def _withdraw(self, link: Link, identity: int, reason: str, *, tell: bool) -> None:
        """Wait for this answer no more, and `tell` the server if that takes a message."""
        if not link.abandon(identity) and tell and self._dialect is not None:
            self._outbox.put(self._dialect.cancelled(identity, reason))

    def _check_loop(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._loop is None:
                raise LocalError(f"the connection to {self.peer} was never opened")
            raise LocalError(
                f"the connection to {self.peer} belongs to another event loop: use it where it was "
                "opened, or open a gate of your own here (lockgate.open_sync has a loop of its own)"
            )
        return loop

    def __repr__(self) -> str:
        state = "usable" if self.usable else "closed" if self._gone.is_set() else "opening"
        return f"<Connection {self.peer} {state}, {len(self._pending)} waiting>"
