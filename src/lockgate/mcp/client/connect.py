"""Reaching a server and agreeing on a revision with it, by the table in `protocol.negotiation`.

The table says what to do, this says it on the wire and reports what came of it. A probe that is
not answered soon is left open while `initialize` goes out: a server that starts slowly answers it
late, and may turn out to be modern after all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import TypeAlias

from msgspec import Raw

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.connection import Connection
from lockgate.mcp.client.inbound import Listener
from lockgate.mcp.client.journal import Journal
from lockgate.mcp.client.making import MakeRequest
from lockgate.mcp.client.services import SERVES_NOTHING, Services
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol import negotiation, outgoing
from lockgate.mcp.protocol.eras import REVISIONS, Era, Revision
from lockgate.mcp.protocol.jsonrpc import Failure, Unreadable
from lockgate.mcp.protocol.negotiation import (
    Finding,
    Found,
    GiveUp,
    Initialize,
    Negotiation,
    Probe,
    Stage,
    Step,
    Use,
    Wait,
)
from lockgate.mcp.protocol.outgoing import ClientIdentity, Dialect
from lockgate.mcp.protocol.profile import ServerProfile, parse_discover, parse_initialize
from lockgate.mcp.protocol.session import Event
from lockgate.mcp.transport.base import OnlyHandshakes, Transport
from lockgate.process.hidden import NOTHING, Hidden
from lockgate.process.outlast import outlast

Learnt: TypeAlias = tuple[Finding, ServerProfile]
"""What an answer means to the table, and what it says of the server."""

PROBE_PATIENCE = 2.0
"""Seconds that a silent server is probed before it is taken for a legacy one, never 10 (PB-043)."""

_FAULTS: Mapping[Found, Fault] = {
    Found.SILENT: Fault.TIMEOUT,
    Found.EXITED: Fault.CLOSED,
    Found.MALFORMED: Fault.MALFORMED,
}
"""What giving up after that finding means; all else is UNSUPPORTED."""
_BARRED = frozenset({Fault.UNAUTHORIZED, Fault.RATE_LIMITED, Fault.NOT_CONNECTED})
"""What is found on the way to a server, whatever it speaks."""


async def connect(
    transport: Transport,
    *,
    peer: str,
    client: ClientIdentity,
    request_timeout: float = 30.0,
    probe_patience: float = PROBE_PATIENCE,
    eras: MutableMapping[str, Era] | None = None,
    revisions: Sequence[Revision] = REVISIONS,
    listeners: Sequence[Listener] = (),
    services: Services = SERVES_NOTHING,
    hidden: Hidden = NOTHING,
) -> ServerSession:
    """Open a connection and agree on a revision.

    `peer` is the configured name of the server. `initialize` may take `request_timeout` seconds;
    opening is not bounded here. `eras` remembers, by `peer`, which era a server was found to be of
    for as long as the caller keeps it: a legacy one is then not probed again, unless that fails.
    `revisions` are those that are spoken, the newest first, of each era at least one.
    `listeners` hear its notifications, those before the agreement too. `services` is what it may
    ask for; nothing else is declared, and nothing else answered. `hidden` is what no line of
    the log may hold.

    Raises `PeerError`: phase SPAWN or CONNECT if the server can not be reached, NEGOTIATE if it can
    not be agreed with. Nothing is left open then, or when cancelled.
    """

    journal = Journal(peer, hidden)

    def make() -> Connection:
        return Connection(
            transport,
            peer=peer,
            request_timeout=request_timeout,
            services=services,
            listeners=listeners,
            journal=journal,
        )

    def negotiator() -> _Negotiator:
        return _Negotiator(make, client, services, probe_patience, transport)

    if isinstance(transport, OnlyHandshakes):
        return await negotiator().run(*negotiation.begin(Era.LEGACY, revisions))
    if eras is not None and eras.get(peer) is Era.LEGACY:
        try:
            begun = negotiation.begin(Era.LEGACY, revisions)
            return await negotiator().run(*begun)
        except PeerError as error:
            if error.fault in _BARRED:
                raise
            eras.pop(peer, None)  # two at once may find it out
    session = await negotiator().run(*negotiation.begin(None, revisions))
    if eras is not None:
        eras[peer] = session.revision.era
    return session


class _Negotiator:
    """One negotiation, with the connection that it is held on."""

    def __init__(
        self,
        make: Callable[[], Connection],
        client: ClientIdentity,
        services: Services,
        patience: float,
        transport: Transport,
    ) -> None:
        self._make = make
        self._transport = transport
        self._client = client
        self._services = services
        self._offered = services.capabilities
        self._patience = patience
        self._connection = make()
        self._opened = False
        self._asked: asyncio.Task[Learnt] | None = None
        """The open request."""
        self._probe: asyncio.Task[Learnt] | None = None
        """A probe that was not answered in time, and still may be."""
        self._profiles: dict[Found, ServerProfile] = {}
        self._barred: tuple[Finding, PeerError] | None = None
        """What bars the way to the server."""
        self._refused: Finding | None = None
        """What was no answer of MCP at all: a status of HTTP, which says nothing of revisions."""

    async def run(self, now: Negotiation, step: Step) -> ServerSession:
        """Follow the table to its end. Closes the connection unless it returns."""
        finding: Finding | None = None
        try:
            while not isinstance(step, Use):
                if isinstance(step, GiveUp):
                    if self._barred is not None and finding == self._barred[0]:
                        raise self._barred[1]
                    raise self._failed(step.message, finding)
                if not isinstance(step, Wait):
                    await self._begin(step)
                finding, profile = await self._next(now.stage)
                self._profiles[finding.found] = profile
                now, step = negotiation.advance(now, finding)
            await self._forget()
            return await self._use(step.revision)
        except BaseException:
            # A second cancellation must not cut this short: the program would go on running.
            await outlast(asyncio.get_running_loop().create_task(self._undo()))
            raise

    async def _undo(self) -> None:
        """Leave nothing open. Bounded by what closing takes."""
        try:
            await self._forget()
        finally:
            await self._connection.close()

    async def _begin(self, step: Probe | Initialize) -> None:
        """Send the request that the table wants, on a new link where it wants one."""
        if isinstance(step, Initialize) and step.new_link:
            await self._forget()
            await self._connection.close()
            self._connection, self._opened = self._make(), False
        if not self._opened:
            await self._connection.open()
            self._opened = True
        loop = asyncio.get_running_loop()
        bound = self._connection.request_timeout
        if isinstance(step, Probe):
            await self._forget()  # one that was left open is asked again
            self._reached(Event.PROBE)
            # It stays open when initialize follows, so it may take as long as both.
            asking = self._ask(
                lambda id: outgoing.discover(id, self._client, step.revision, self._offered),
                _discovered,
                self._patience + bound,
            )
        else:
            self._reached(Event.INITIALIZE)
            asking = self._ask(
                lambda id: outgoing.initialize(id, self._client, step.revision, self._offered),
                _initialized,
                bound,
            )
        self._asked = loop.create_task(asking, name=f"lockgate {self._connection.peer} negotiates")

    async def _ask(
        self, make: MakeRequest, read: Callable[[Raw], Learnt], timeout: float
    ) -> Learnt:
        """Make one request of the negotiation; whatever comes of it is a finding."""
        nothing = ServerProfile()
        try:
            answer = await self._connection.exchange(make, timeout=timeout, withdraw=False)
        except PeerError as error:
            finding = Finding(_found(error.fault), detail=str(error))
            if error.fault is Fault.REFUSED:
                self._refused = finding
            if error.fault in _BARRED and self._connection.usable:
                finding = Finding(Found.BARRED, detail=str(error))
                self._barred = finding, error
            return finding, nothing
        if isinstance(answer, Failure):
            return Finding.refused(answer), nothing
        try:
            return read(answer)
        except Unreadable as problem:
            return Finding(Found.MALFORMED, detail=problem.reason), nothing

    async def _next(self, stage: Stage) -> Learnt:
        """The next finding that the table has a line for."""
        patience = self._patience if stage is Stage.PROBING else None
        while True:
            asked, late = self._asked, self._probe
            open_ = tuple(task for task in (asked, late) if task is not None)
            before = self._authorizing
            await asyncio.wait(open_, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            if late is not None and late.done():
                self._probe = None
                learnt = late.result()
                if learnt[0].found is Found.DISCOVERED:
                    return learnt
                continue  # any other late answer says nothing that initialize will not say
            if asked is not None and asked.done():
                self._asked = None
                return asked.result()
            if stage is Stage.PROBING:
                if before or self._authorizing:
                    continue  # it was not the server that was silent
                self._probe, self._asked = asked, None
                return Finding(Found.SILENT), ServerProfile()

    @property
    def _authorizing(self) -> bool:
        """Whether requests wait for credentials; only transports that may say that have it."""
        return bool(getattr(self._transport, "authorizing", False))

    async def _use(self, revision: Revision) -> ServerSession:
        """Speak the revision from now on."""
        connection = self._connection
        if not connection.usable:
            raise self._failed("agreed on a revision, and then ended", Finding(Found.EXITED))
        connection.agree(Dialect(revision, self._client, self._offered))
        found = Found.DISCOVERED
        if not revision.modern:
            found = Found.INITIALIZED
            try:
                await connection.tell(outgoing.initialized(revision))
            except PeerError as error:
                finding = Finding(_found(error.fault), detail=str(error))
                raise self._failed("agreed on a revision, and then failed", finding) from None
        mirrors = revision.modern and connection.mirrors
        profile = self._profiles[found]
        return ServerSession(connection, revision, profile, mirrors, self._services.of(revision))

    def _reached(self, event: Event) -> None:
        """Note how far the conversation is; one that is over is told by the request."""
        if self._connection.usable:
            self._connection.session.advance(event)

    async def _forget(self) -> None:
        """Stop waiting for whatever is still open."""
        tasks = [task for task in (self._asked, self._probe) if task is not None]
        self._asked = self._probe = None
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _failed(self, message: str, finding: Finding | None) -> PeerError:
        """The end of the negotiation; `message` is about the server, `finding` what led to it."""
        found = None if finding is None else finding.found
        text = f"{self._connection.peer} {message}"
        if finding is not None and found is Found.EXITED:
            # The link may have refused to send, and be about to say more.
            why = self._connection.reason or finding.detail
            text += f": {why}" if why else ""
        elif finding is not None and found is Found.SILENT:
            text = finding.detail or text
        elif finding is not None and found is Found.ERROR and finding.detail not in text:
            text += f": {finding.detail}"
        return PeerError(
            text,
            peer=self._connection.peer,
            phase=Phase.NEGOTIATE,
            fault=self._fault(finding),
            fate=Fate.NOT_SENT,
        )

    def _fault(self, finding: Finding | None) -> Fault:
        if finding is None:
            return Fault.UNSUPPORTED
        if finding == self._refused:
            return Fault.REFUSED
        return _FAULTS.get(finding.found, Fault.UNSUPPORTED)


def _discovered(raw: Raw) -> Learnt:
    answer = parse_discover(raw)
    return Finding.discovered(answer), answer.server


def _initialized(raw: Raw) -> Learnt:
    answer = parse_initialize(raw)
    return Finding.initialized(answer), answer.server


def _found(fault: Fault) -> Found:
    match fault:
        case Fault.TIMEOUT:
            return Found.SILENT
        case Fault.MALFORMED | Fault.TOO_LARGE:
            return Found.MALFORMED
        case Fault.REFUSED:
            return Found.ERROR
        case _:
            return Found.EXITED
